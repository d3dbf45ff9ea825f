/**
 * What many rows cost: reports and calls over N calls of one owner against 1,000,000 of them, and how long a write
 * waits while old calls are archived and deleted. `bun run prove rows 5000000 [--postgres]`; exits 1 when one is over
 * its limit. A wait does not count the time in which another process had the core of this one.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../src/app/config'
import { openApp } from '../../src/app/open'
import { trimCalls } from '../../src/billing/trim'
import { systemClock } from '../../src/kernel/clock'
import { createLog } from '../../src/kernel/log'
import { centsToMicro } from '../../src/kernel/money'
import { createRollup } from '../../src/usage'
import { seedCalls, seedPostgresCalls } from '../bench/usage-rows'
import { ownPostgres } from '../run/postgres'
import { callOf, operatorCaller } from '../support/callers'
import { ownTime } from '../support/effort'

const ROWS = Number(process.argv[2] ?? 5_000_000)
const postgres = process.argv.includes('--postgres') ? await ownPostgres() : null
if (postgres && 'missing' in postgres) throw new Error(postgres.missing)
const FEW = Math.min(ROWS, 1_000_000)
const DAY_MS = 86_400_000
const OLD_MS = 200 * DAY_MS
const ASKS = 200
const TIMES_AS_LONG = 1.5
const MAX_WAIT_MS = 50
const OLD_CALLS = 20_000

const print = (line: string) => process.stdout.write(`${line}\n`)
const log = createLog({ level: 'error', pretty: true, write: (line) => void process.stderr.write(line) })
const folder = mkdtempSync(join(tmpdir(), 'svc-rows-'))
const path = join(folder, 'svc.db')
const config = loadConfig({
  dataDir: folder,
  ...(postgres && { databaseUrl: postgres.url }),
  tiers: { enterprise: { rpm: 1_000_000, tpm: 1_000_000_000 } },
})
let failed = false

try {
  const { owner, key } = await person()
  const now = Date.now()
  const seed = async (rows: number, from: number, to: number) => {
    const calls = { owner, keys: ['one', 'two'], rows, from, to }
    if (postgres) await seedPostgresCalls({ url: postgres.url, ...calls })
    else seedCalls({ path, ...calls })
  }
  await seed(OLD_CALLS, now - OLD_MS - 20 * DAY_MS, now - OLD_MS - DAY_MS)
  await seed(FEW, now - 30 * DAY_MS, now)
  const few = await timesOf(key)
  if (ROWS > FEW) await seed(ROWS - FEW, now - 30 * DAY_MS, now)
  const many = ROWS > FEW ? await timesOf(key) : few
  for (const name of ['report', 'call'] as const) {
    const limit = few[name] * TIMES_AS_LONG
    failed ||= many[name] > limit
    print(`${name}: p99 ${ms(many[name])} with ${ROWS} calls, ${ms(few[name])} with ${FEW} (limit ${ms(limit)})`)
  }
  const { alone, aloneLongest, deleted, longest, p99, writes } = await waitWhileTrimmed()
  print(`a write alone waits ${ms(alone)} at p99, ${ms(aloneLongest)} at most`)
  failed ||= longest > MAX_WAIT_MS || deleted !== OLD_CALLS
  print(
    `a write waits ${ms(p99)} at p99, ${ms(longest)} at most of ${writes}, while ${deleted} calls are deleted (limit ${MAX_WAIT_MS} ms)`,
  )
} finally {
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

/** Somebody whose chain began long ago, so that it has a place up to which calls are old. */
async function person() {
  const app = await openApp({ config, log, clock: { ...systemClock, now: () => Date.now() - OLD_MS } })
  const { store, orgs, keys, billing } = app.container
  const made = await store.write(async (tx) => {
    const user = await orgs.createUser(tx, { email: 'many@localhost', name: 'Many' })
    const input = { name: 'many', userId: user.id, orgId: null, tier: 'enterprise' } as const
    const { key } = await keys.createIn(tx, callOf(operatorCaller()), input)
    const owner = `user:${user.id}` as const
    await billing.grant(tx, { owner, amount: centsToMicro(10_000), ref: owner, kind: 'grant', note: null })
    return { owner, key }
  })
  await app.close()
  return made
}

/** p99 of a report of 30 days, and of a plain call, once everything is in the rollups. */
async function timesOf(key: string) {
  const app = await openApp({ config, log })
  const rollBatch = createRollup({ store: app.container.store })
  while (!(await rollBatch()).done);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const timed = async (ask: (n: number) => Request) => {
    const times: number[] = []
    for (let n = -20; n < ASKS; n++) {
      const began = ownTime()
      const answer = await app.api.handle(ask(n))
      await answer.text()
      if (!answer.ok) throw new Error(`answered ${answer.status}`)
      if (n >= 0) times.push(ownTime() - began)
    }
    return rankOf(times, 0.99)
  }
  const report = await timed(() => new Request('http://localhost/api/v1/usage', { headers }))
  const call = await timed((n) => {
    const body = JSON.stringify({ prompt: `What is ${n + 1_000} times ${performance.now()}?` })
    return new Request('http://localhost/api/v1/completions', { method: 'POST', headers, body })
  })
  await app.close()
  return { report, call }
}

/** How long writes that come all the time wait for their commit. */
async function waitWhileTrimmed() {
  const app = await openApp({ config, log })
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
