import type { Config } from '../../src/app/config'
import { percentile } from '../support/percentile'
import { openQuietly, print } from './setup'
import { rankOf, watchTurns } from './turns'
import type { Person } from './usage'
import { scanCalls } from './usage-rows'

const ASKS = 300
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

type Input = { config: Config; path: string; person: Person; now: number }
type Report = { totals: Record<string, number>; cache: { hits: number }; errors: object }

/** p50 and p99 of reports of each kind, and one of them against a scan of the calls. Throws when they differ. */
export async function benchReports({ config, path, person, now }: Input): Promise<void> {
  const { owner, key, keyId } = person
  const app = await openQuietly(config)
  const ask = async (query: string): Promise<Report> => {
    const headers = { authorization: `Bearer ${key}` }
    const response = await app.api.handle(new Request(`http://localhost/api/v1/usage?${query}`, { headers }))
    return (await response.json()) as Report
  }
  const hour = Math.floor(now / HOUR_MS) * HOUR_MS
  // One millisecond more, or less, than whole hours: all calls of an hour have to be looked at, at both ends.
  const ragged = period(hour - 30 * DAY_MS + 1, hour - 1)
  const queries = {
    'the last 30 days': '',
    'one key of five': `key_id=${keyId}`,
    'one mode': 'mode=think',
    'odd ends': ragged,
    'odd ends, one key': `${ragged}&key_id=${keyId}`,
  }
  for (const [name, query] of Object.entries(queries)) {
    for (let warm = 0; warm < 5; warm++) await ask(query)
    print(`report, ${name}: ${await timed(() => ask(query))}`)
  }
  const [from, to] = [now - 29 * DAY_MS + 1_234_567, now - 654_321]
  const notice = await ask(period(from, to))
  const { total, ms } = scanCalls(path, owner, from, to)
  const same = Bun.deepEquals(figuresOf(notice), total)
  print(`against a scan of ${total.requests} calls, which takes ${ms.toFixed(0)} ms: ${same ? 'the same' : 'NOT SAME'}`)
  await app.close()
  if (!same) throw new Error(`a report says ${JSON.stringify(figuresOf(notice))}, a scan ${JSON.stringify(total)}`)
}

const period = (from: number, to: number) => `from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}`

async function timed(work: () => Promise<unknown>): Promise<string> {
  const times: number[] = []
  const [before, stop] = [process.cpuUsage(), watchTurns()]
  for (let n = 0; n < ASKS; n++) {
    // As requests come: each in a turn of its own.
    await new Promise((resolve) => setImmediate(resolve))
    const at = performance.now()
    await work()
    times.push(performance.now() - at)
  }
  const { ran } = stop()
  const { user, system } = process.cpuUsage(before)
  const rank = (share: number) => percentile(times, share).toFixed(1)
  const cpu = ((user + system) / 1_000 / ASKS).toFixed(1)
  return (
    `p50 ${rank(0.5)} ms, p99 ${rank(0.99)} ms (budget 200 ms), ${cpu} ms of processor each, ` +
    `${rankOf(ran, 1)} ms of it in one turn at most`
  )
}

const figuresOf = ({ totals, cache, errors }: Report): Record<string, unknown> => ({
  ...totals,
  hits: cache.hits,
  errors,
})
