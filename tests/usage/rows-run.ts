/**
 * What many rows cost: reads and calls over N calls of one owner against 1,000,000 of them, asked in turn, and how long
 * a write waits while old calls are archived and deleted. `bun run prove rows 5000000 [--postgres[=postgres://…]]`,
 * with an address in two databases that it makes there and drops; exits 1 when one is over its limit. A time does not
 * count the time in which another process had the core of this one.
 */
import { Database } from 'bun:sqlite'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { loadConfig } from '../../src/app/config'
import { type OpenApp, openApp } from '../../src/app/open'
import { trimCalls } from '../../src/billing/trim'
import { systemClock } from '../../src/kernel/clock'
import { createLog } from '../../src/kernel/log'
import { centsToMicro } from '../../src/kernel/money'
import { createRollup } from '../../src/usage'
import { type SeededCalls, seedCalls, seedPostgresCalls } from '../bench/usage-rows'
import { ownPostgres } from '../run/postgres'
import { callOf, operatorCaller } from '../support/callers'
import { ownTime } from '../support/effort'

const ROWS = Number(process.argv[2] ?? 5_000_000)
const option = process.argv.find((word) => word.startsWith('--postgres'))
const given = option?.split('=')[1]
const postgres = !option ? null : given ? { url: given, stop: async () => undefined } : await ownPostgres()
if (postgres && 'missing' in postgres) throw new Error(postgres.missing)
const serverUrl = postgres?.url ?? ''
const FEW = Math.min(ROWS, 1_000_000)
/** The newest of many, which the product itself adds to its sums. */
const FOLLOWED = 100_000
const DAY_MS = 86_400_000
const OLD_MS = 200 * DAY_MS
const ASKS = 300
const WARM = 30
const TIMES_AS_LONG = 1.5
const MAX_WAIT_MS = 50
const OLD_CALLS = 20_000

type Size = 'few' | 'many'
type Ask = (n: number) => Request
type Account = Pick<SeededCalls, 'owner' | 'keys'>

const print = (line: string) => process.stdout.write(`${line}\n`)
const log = createLog({ level: 'error', pretty: true, write: (line) => void process.stderr.write(line) })
const folder = mkdtempSync(join(tmpdir(), 'svc-rows-'))
const homeOf = (size: Size) => join(folder, size)
const fileOf = (size: Size) => join(homeOf(size), 'svc.db')
const urlOf = (size: Size) => Object.assign(new URL(serverUrl), { pathname: `/svc_rows_${size}` }).href
const configOf = (size: Size) =>
  loadConfig({
    dataDir: homeOf(size),
    ...(postgres && { databaseUrl: urlOf(size) }),
    tiers: { enterprise: { rpm: 1_000_000, tpm: 1_000_000_000 } },
  })
const now = Date.now()
const MONTH = { from: now - 30 * DAY_MS, to: now }
/** Events of the person's own come first in the chain. */
const FIRST_SEQ = 100
let failed = false

try {
  if (postgres) await onServer('DROP DATABASE IF EXISTS svc_rows_few', 'CREATE DATABASE svc_rows_few')
  const { key, ...account } = await person()
  await timed(`${FEW} calls`, () => seedFew(account))
  await timed('their sums', () => roll('few'))
  await timed(`${ROWS - FEW} more`, () => seedMany(account))
  const followed = await timed(`the sums of the last ${FOLLOWED}`, () => roll('many'))
  print(`following calls: ${((1_000 * followed) / FOLLOWED).toFixed(1)} us a call`)
  await compare(key, account.keys[0]!)
  const { alone, aloneLongest, deleted, longest, p99, writes } = await waitWhileTrimmed()
  print(`a write alone waits ${ms(alone)} at p99, ${ms(aloneLongest)} at most`)
  failed ||= longest > MAX_WAIT_MS || deleted !== OLD_CALLS
  print(
    `a write waits ${ms(p99)} at p99, ${ms(longest)} at most of ${writes}, while ${deleted} calls are deleted (limit ${MAX_WAIT_MS} ms)`,
  )
} finally {
  if (given) await onServer('DROP DATABASE IF EXISTS svc_rows_few', 'DROP DATABASE IF EXISTS svc_rows_many')
  await postgres?.stop()
  rmSync(folder, { recursive: true, force: true })
}
process.exit(failed ? 1 : 0)

function ms(value: number): string {
  return `${value.toFixed(1)} ms`
}

function rankOf(times: number[], share: number): number {
  return times.sort((a, b) => a - b)[Math.ceil(share * times.length) - 1]!
}

async function timed(what: string, work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  const took = performance.now() - began
  print(`${what}: ${(took / 1_000).toFixed(1)} s`)
  return took
}

async function onServer(...statements: string[]): Promise<void> {
  const client = new SQL(serverUrl, { max: 1 })
  for (const statement of statements) await client.unsafe(statement)
  await client.close()
}

async function onMany(...statements: string[]): Promise<void> {
  if (postgres) {
    const client = new SQL(urlOf('many'), { max: 1 })
    for (const statement of statements) await client.unsafe(statement)
    return client.close()
  }
  const database = new Database(fileOf('many'))
  for (const statement of statements) database.run(statement)
  database.close()
}

/** An account whose chain began long ago, so that it has a place up to which calls are old. */
async function person() {
  const clock = { ...systemClock, now: () => Date.now() - OLD_MS }
  const app = await openApp({ config: configOf('few'), log, clock })
  const { store, orgs, keys, billing } = app.container
  const made = await store.write(async (tx) => {
    const user = await orgs.createUser(tx, { email: 'many@localhost', name: 'Many' })
    const input = { name: 'many', userId: user.id, orgId: null, tier: 'enterprise' } as const
    const { key, id: keyId } = await keys.createIn(tx, callOf(operatorCaller()), input)
    const owner = `user:${user.id}` as const
    await billing.grant(tx, { owner, amount: centsToMicro(10_000), ref: owner, kind: 'grant', note: null })
    return { key, owner, keys: [keyId, 'other'] }
  })
  await app.close()
  return made
}

async function seed(size: Size, calls: SeededCalls): Promise<void> {
  if (postgres) await seedPostgresCalls({ url: urlOf(size), ...calls })
  else seedCalls({ path: fileOf(size), ...calls })
}

async function seedFew(account: Account): Promise<void> {
  await seed('few', { ...account, rows: OLD_CALLS, from: now - OLD_MS - 20 * DAY_MS, to: now - OLD_MS - DAY_MS })
  await seed('few', { ...account, rows: FEW, ...MONTH, seq: FIRST_SEQ })
}

/** The same, and more over the same period. Their sums have as many rows, in which each figure is larger. */
async function seedMany(account: Account): Promise<void> {
  cpSync(homeOf('few'), homeOf('many'), { recursive: true })
  if (postgres)
    await onServer('DROP DATABASE IF EXISTS svc_rows_many', 'CREATE DATABASE svc_rows_many TEMPLATE svc_rows_few')
  if (ROWS === FEW) return
  await seed('many', { ...account, rows: ROWS - FEW, ...MONTH, seq: FIRST_SEQ + FEW })
  const figures = ['requests', 'prompt_tokens', 'completion_tokens', 'cost_micro', 'cached', 'client_errors']
  await onMany(
    `UPDATE usage_rollups SET ${figures.map((name) => `${name} = ${name} * ${Math.round(ROWS / FEW)}`).join(', ')}`,
    `UPDATE usage_cursors SET position = (SELECT max(id) FROM usage_records) - ${FOLLOWED}`,
  )
}

async function roll(size: Size): Promise<void> {
  const app = await openApp({ config: configOf(size), log })
  // Its sums become those of many, which have slots of a key and minutes.
  const rollBatch = createRollup({ store: app.container.store, busyRequests: 1 })
  while (!(await rollBatch()).done);
  await app.close()
}

/** p50 and p99 of reads and of a plain call over both. */
async function compare(key: string, keyId: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const get = (path: string) => new Request(`http://localhost/api/v1/${path}`, { headers })
  const moment = (at: number) => new Date(at).toISOString()
  /** Begins and ends at some odd moment of the month, another one each time but the same over both. */
  const odd = (n: number) => {
    const [first, last] = [(n * 7_919_777) % (10 * DAY_MS), (n * 104_729_333) % (10 * DAY_MS)]
    return `from=${moment(now - 29 * DAY_MS + first)}&to=${moment(now - DAY_MS - last)}`
  }
  const asks: Record<string, Ask> = {
    report: () => get('usage'),
    'report, one mode': () => get('usage?mode=think'),
    'report, odd ends': (n) => get(`usage?${odd(n)}`),
    'report, odd ends, one key': (n) => get(`usage?${odd(n)}&key_id=${keyId}`),
    series: () => get('usage/series'),
    'series by model, odd ends': (n) => get(`usage/series?group_by=model&${odd(n)}`),
    benchmarks: () => get('benchmarks'),
    'requests, a page': () => get('requests?limit=50'),
    'requests, a page of a past moment': (n) => get(`requests?limit=50&${odd(n)}`),
    'audit, a page': () => get('audit?limit=50'),
    'audit, a page of a past moment': (n) => get(`audit?limit=50&${odd(n)}`),
    call: (n) => {
      const body = JSON.stringify({ prompt: `What is ${n + 1_000} times ${performance.now()}?` })
      return new Request('http://localhost/api/v1/completions', { method: 'POST', headers, body })
    },
  }
  const apps = {
    few: await openApp({ config: configOf('few'), log }),
    many: await openApp({ config: configOf('many'), log }),
  }
  const timeOf = async ({ api }: OpenApp, request: Request) => {
    const began = ownTime()
    const answer = await api.handle(request)
    await answer.text()
    if (!answer.ok) throw new Error(`${request.url} answered ${answer.status}`)
    return ownTime() - began
  }
  for (const [name, ask] of Object.entries(asks)) {
    const times: Record<Size, number[]> = { few: [], many: [] }
    for (let n = -WARM; n < ASKS; n++) {
      const inTurn: Size[] = n % 2 === 0 ? ['few', 'many'] : ['many', 'few']
      for (const size of inTurn) {
        const took = await timeOf(apps[size], ask(n + WARM))
        if (n >= 0) times[size].push(took)
      }
    }
    const [p50, p99] = [0.5, 0.99].map((share) => ({
      few: rankOf(times.few, share),
      many: rankOf(times.many, share),
    })) as [Record<Size, number>, Record<Size, number>]
    const isOver = p99.many > p99.few * TIMES_AS_LONG
    failed ||= isOver
    print(
      `${name}: p50 ${ms(p50.many)} with ${ROWS} calls, ${ms(p50.few)} with ${FEW}; ` +
        `p99 ${ms(p99.many)}, ${ms(p99.few)}, ${(p99.many / p99.few).toFixed(2)} times${isOver ? ', OVER' : ''}`,
    )
  }
  for (const app of Object.values(apps)) await app.close()
}

/** How long writes that come all the time wait for their commit. */
async function waitWhileTrimmed() {
  const app = await openApp({ config: configOf('many'), log })
  const { container, store } = app
  let isOver = false
  const times: number[] = []
  const writing = (async () => {
    while (!isOver) {
      const began = ownTime()
      await store.write((tx) =>
        container.audit.record(tx, callOf(operatorCaller()), {
          action: 'key.updated',
          entityType: 'api_key',
          entityId: null,
        }),
      )
      times.push(ownTime() - began)
      await Bun.sleep(2)
    }
  })()
  await Bun.sleep(1_000)
  const [alone, aloneLongest] = [rankOf(times, 0.99), Math.max(...times)]
  times.length = 0
  const deleted = await trimCalls({ ...container, keepDays: 90 }, new AbortController().signal)
  isOver = true
  await writing
  const longest = Math.max(...times)
  await app.close()
  return { alone, aloneLongest, deleted, longest, writes: times.length, p99: rankOf(times, 0.99) }
}
