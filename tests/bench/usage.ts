/**
 * How long a report of 30 days over many calls of one owner takes, whether it is exact, what following the
 * calls costs, and how much memory an export of 1,000,000 rows needs. `bun run bench:usage --rows=10000000`.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../src/app/config'
import { openApp } from '../../src/app/open'
import { start } from '../../src/app/start'
import { createLog } from '../../src/kernel/log'
import { createRollup } from '../../src/usage'
import { scanCalls, seedCalls } from './usage-rows'

const ROWS = Number(process.argv.find((word) => word.startsWith('--rows='))?.slice(7) ?? 10_000_000)
const EXPORT_ROWS = Math.min(ROWS, 1_000_000)
const ASKS = 300
const DAY_MS = 86_400_000

const print = (line: string) => process.stdout.write(`${line}\n`)
const mb = (bytes: number) => `${Math.round(bytes / 1_048_576)} MB`
const log = createLog({ level: 'error', pretty: true, write: (line) => void process.stderr.write(line) })
const folder = mkdtempSync(join(tmpdir(), 'svc-bench-usage-'))
const path = join(folder, 'svc.db')
const config = loadConfig({ dataDir: folder, port: 0, tiers: { enterprise: { rpm: 1_000_000, tpm: 1_000_000_000 } } })

try {
  const [big, other] = await people()
  const now = Date.now()
  const began = performance.now()
  const keys = [big.keyId, ...Array.from({ length: 4 }, () => crypto.randomUUID())]
  seedCalls({ path, owner: big.owner, keys, rows: ROWS, from: now - 30 * DAY_MS, to: now })
  seedCalls({ path, owner: other.owner, keys: [other.keyId], rows: EXPORT_ROWS, from: now - 80 * DAY_MS, to: now })
  print(`seeded ${ROWS + EXPORT_ROWS} calls in ${seconds(began)} s`)
  await roll()
  await reports(big, now)
  await exported(other)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exit(0)

type Person = { owner: `user:${string}`; key: string; keyId: string }

async function people(): Promise<[Person, Person]> {
  const app = await openApp({ config, log })
  const { store, orgs, keys } = app.container
  const call = {
    caller: { type: 'operator', role: 'admin', name: 'bench', transport: 'local', reason: null },
    ...{ requestId: 'req_bench', route: 'BENCH /usage', signal: new AbortController().signal },
  } as const
  const person = (email: string) =>
    store.write(async (tx) => {
      const user = await orgs.createUser(tx, { email, name: 'Bench' })
      const order = { name: 'bench', userId: user.id, orgId: null, tier: 'enterprise' } as const
      const made = await keys.operator.createIn(tx, call, order)
      return { owner: `user:${user.id}` as const, key: made.key, keyId: made.id as string }
    })
  const made: [Person, Person] = [await person('big@localhost'), await person('other@localhost')]
  await app.close()
  return made
}

/** All but the last thousand or so, as a running server would have it. */
async function roll(): Promise<void> {
  const app = await openApp({ config, log })
  const rollBatch = createRollup({ store: app.container.store })
  const began = performance.now()
  let [rolled, longest] = [0, 0]
  while (rolled < ROWS + EXPORT_ROWS - 2_000) {
    const at = performance.now()
    rolled += (await rollBatch()).records
    longest = Math.max(longest, performance.now() - at)
  }
  const took = performance.now() - began
  print(
    `rolled ${rolled} of them in ${seconds(began)} s: ${((took * 1_000) / rolled).toFixed(1)} us a call, ` +
      `longest batch ${longest.toFixed(0)} ms`,
  )
  await app.close()
}

async function reports({ owner, key, keyId }: Person, now: number): Promise<void> {
  const app = await openApp({ config, log })
  const ask = async (query: string) => {
    const headers = { authorization: `Bearer ${key}` }
    const response = await app.api.handle(new Request(`http://localhost/api/v1/usage?${query}`, { headers }))
    return (await response.json()) as { totals: Record<string, number>; cache: { hits: number }; errors: object }
  }
  const queries = { 'the last 30 days': '', 'one key of five': `key_id=${keyId}`, 'one mode': 'mode=think' }
  for (const [name, query] of Object.entries(queries)) {
    await ask(query)
    const times: number[] = []
    for (let n = 0; n < ASKS; n++) {
      const at = performance.now()
      await ask(query)
      times.push(performance.now() - at)
    }
    times.sort((a, b) => a - b)
    const rank = (share: number) => times[Math.ceil(share * ASKS) - 1]!.toFixed(1)
    print(`report, ${name}: p50 ${rank(0.5)} ms, p99 ${rank(0.99)} ms (budget 200 ms)`)
  }
  const [from, to] = [now - 29 * DAY_MS + 1_234_567, now - 654_321]
  const told = await ask(`from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}`)
  const { total, ms } = scanCalls(path, owner, from, to)
  const { prompt_tokens, completion_tokens, requests, cost_micro, hits, client_errors, server_errors } = total
  const same = Bun.deepEquals(
    { ...told.totals, hits: told.cache.hits, errors: told.errors },
    {
      ...{ requests, prompt_tokens, completion_tokens, total_tokens: prompt_tokens! + completion_tokens! },
      ...{ cost_cents: cost_micro! / 1_000_000, hits, errors: { '4xx': client_errors, '5xx': server_errors } },
    },
  )
  print(`against a scan of ${requests} calls, which takes ${ms.toFixed(0)} ms: ${same ? 'the same' : 'NOT THE SAME'}`)
  await app.close()
  if (!same) process.exit(1)
}

/** Over a socket, to a reader who throws away what comes, and to one who stops reading for a while. */
async function exported({ key }: Person): Promise<void> {
  const server = await start({ config, log })
  const days = new Date(Date.now() - 90 * DAY_MS).toISOString()
  const get = async (format: string) => {
    const response = await fetch(`${server.url}/api/v1/usage/export?format=${format}&from=${days}`, {
      headers: { authorization: `Bearer ${key}` },
    })
    return response.body!.getReader()
  }
  for (const format of ['csv', 'json']) {
    Bun.gc(true)
    const [before, began] = [process.memoryUsage.rss(), performance.now()]
    let [bytes, peak] = [0, before]
    const reader = await get(format)
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      bytes += part.value.byteLength
      peak = Math.max(peak, process.memoryUsage.rss())
    }
    print(
      `export of ${EXPORT_ROWS} rows as ${format}: ${mb(bytes)} in ${seconds(began)} s, ` +
        `memory of server and reader together ${mb(before)} before, ${mb(peak)} at most`,
    )
  }
  const reader = await get('csv')
  await reader.read()
  const before = process.memoryUsage.rss()
  await Bun.sleep(5_000)
  print(`a reader who stops after the first piece: ${mb(process.memoryUsage.rss() - before)} more after 5 s`)
  await reader.cancel()
  await server.stop()
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1_000).toFixed(1)
}
