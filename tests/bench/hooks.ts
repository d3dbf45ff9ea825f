/**
 * `bun run bench hooks [--hooks=100000] [--seconds=10] [--postgres=postgres://…]`: what it costs to find whom an event
 * reaches, at 200 events a second, in percent of a core (budget 5). Once the hooks are of many owners, once all of one.
 * Only the matching is counted, as the process spends it: each event is a unit of its own, beside the same empty units.
 */
import { stemOf, subscribersOf } from '../../src/events/repository'
import { eventSubscriptions } from '../../src/events/table'
import type { OwnerScope } from '../../src/kernel/caller'
import type { Store } from '../../src/kernel/store'
import { count, openBench, print } from './setup'

const hooks = count('hooks', 100_000)
const seconds = count('seconds', 10)
const [A_SECOND, BATCH, EACH] = [200, 500, 100]

const { app, close } = await openBench('hooks')
const { store } = app.container
try {
  const many = (at: number) => `user:${String(at % (hooks / EACH)).padStart(8, '0')}` as OwnerScope
  await measure(store, `${hooks} hooks of ${hooks / EACH} owners`, many)
  await measure(store, `${hooks} hooks of one owner`, () => 'user:alone')
} finally {
  await close()
}
process.exit(0)

/** Names, families and words in the middle, as people write them; one in a hundred of an owner's is `*`. */
function patternAt(at: number): string {
  const [noun, verb] = [`noun${at % 997}`, `verb${at % 89}`]
  if (at % 10_000 === 99) return '*'
  return [`${noun}.${verb}`, `${noun}.${verb}.done`, `${noun}.*`, `${noun}.*.done`][at % 4]!
}

async function measure(store: Store, what: string, ownerAt: (at: number) => OwnerScope): Promise<void> {
  for (let from = 0; from < hooks; from += BATCH) {
    const some = Array.from({ length: Math.min(BATCH, hooks - from) }, (_, n) => {
      const pattern = patternAt(from + n)
      const [subscriber, target] = ['hook' as const, `hook${from + n}`]
      return { owner: ownerAt(from + n), stem: stemOf(pattern), subscriber, target, pattern }
    })
    await store.write(async (tx) => void (await tx.insert(tx.of(eventSubscriptions)).values(some)))
  }
  let reached = 0
  const matching = await spent(async (at) => {
    await store.write(async (tx) => {
      for (const targets of (await subscribersOf(tx, ownerAt(at), typeAt(at))).values()) reached += targets.length
    })
  })
  const nothing = await spent(() => store.write(async () => undefined))
  const share = (ms: number) => `${((ms / (seconds * 1_000)) * 100).toFixed(2)} %`
  const each = (reached / (A_SECOND * seconds)).toFixed(2)
  print(`${store.dialect}, ${what}: ${share(matching - nothing)} of a core to match, each event ${each} hooks`)
  print(`${store.dialect}, with its unit of work ${share(matching)}`)
}

/** No two events are alike, so nothing that was learnt of one helps the next. */
function typeAt(at: number): string {
  return `noun${at % 997}.verb${at % 89}.${at % 2 ? 'done' : `n${at}`}`
}

/** Processor time of as many events as come in the seconds, one after another. */
async function spent(one: (at: number) => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  for (let at = 0; at < A_SECOND * seconds; at++) await one(at)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}
