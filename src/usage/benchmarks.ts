import { LRUCache } from 'lru-cache'
import { type Call, type OwnerScope, ownerOf } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { microToCents } from '../kernel/money'
import type { Reader, Store } from '../kernel/store'
import { grainsOf, HOUR_MS, startOf } from './buckets'
import { sumsOf } from './call-repository'
import { createMeasure } from './measure'
import { rolledIn } from './report-repository'
import type { Benchmarks, BenchmarkWindow } from './schema-benchmarks'
import { planOf, type Span } from './spans'
import { speedsIn, timedCalls } from './speed-repository'
import { tailOf } from './tail'

type Deps = {
  store: Store
  clock: Clock
  /** How many of the owner's completions in a span were reported as given a wrong automatic mode, each counted once. */
  wronglyChosenIn(reader: Reader, owner: OwnerScope, span: Span): Promise<number>
}

export type BenchmarkService = ReturnType<typeof createBenchmarks>

const HOURS: Record<BenchmarkWindow, number> = { '24h': 24, '7d': 7 * 24, '30d': 30 * 24 }
/** Results are cached this long, so that a dashboard polling every second costs few reads. */
const FRESH_MS = 5_000
const MAX_CACHED = 1_000

/** Speed and quality of the caller's own calls (contract 21); other owners' calls are never included. */
export function createBenchmarks({ store, clock, wronglyChosenIn }: Deps) {
  const cache = new LRUCache<string, { readAt: number; found: Promise<Benchmarks> }>({ max: MAX_CACHED })

  return {
    /** Over whole hours, the current one included. */
    async read({ caller }: Call, window: BenchmarkWindow): Promise<Benchmarks> {
      const owner = ownerOf(caller)
      const name = `${owner} ${window}`
      const cached = cache.get(name)
      if (cached && clock.monotonic() - cached.readAt < FRESH_MS) return copyOf(cached.found)
      const found = measure(owner, window)
      cache.set(name, { readAt: clock.monotonic(), found })
      // Failures are not cached.
      found.catch(() => cache.delete(name))
      return copyOf(found)
    },
  }

  async function measure(owner: OwnerScope, window: BenchmarkWindow): Promise<Benchmarks> {
    const now = clock.now()
    const hour = startOf('hour', now)
    const span = { from: hour - (HOURS[window] - 1) * HOUR_MS, to: hour + HOUR_MS }
    const measured = createMeasure()
    await addCalls(owner, span, now, measured)
    await addSpeeds(owner, span, now, measured)
    const { autos, counters, ...speeds } = measured.result()
    const corrected = autos > 0 ? await wronglyChosenIn(store.read, owner, span) : 0
    const { cost_micro, ...counts } = counters
    return {
      window,
      ...speeds,
      counters: {
        ...counts,
        total_cost_cents: microToCents(cost_micro),
        routing_accuracy: autos > 0 ? share(autos - Math.min(corrected, autos), autos) : 1,
      },
      bucket: iso(hour).slice(0, 13),
    }
  }

  async function addCalls(owner: OwnerScope, span: Span, now: number, measured: ReturnType<typeof createMeasure>) {
    const plan = planOf(span, now, grainsOf(''))
    const { position, buckets } = await rolledIn(store.read, { owner, skill: '' }, plan)
    for (const bucket of buckets) measured.addBucket(bucket)
    for await (const calls of tailOf(store.read, { owner }, plan.whole, position)) {
      for (const sums of await sumsOf(store.read, calls)) measured.addSums(sums)
    }
  }

  async function addSpeeds(owner: OwnerScope, span: Span, now: number, measured: ReturnType<typeof createMeasure>) {
    const plan = planOf(span, now, grainsOf(''))
    const { position, rows } = await speedsIn(store.read, owner, plan)
    for (const row of rows) measured.addSpeed(row)
    for await (const calls of tailOf(store.read, { owner }, plan.whole, position)) {
      for (const call of await timedCalls(store.read, calls)) measured.addTimed(call)
    }
  }
}

/** Each caller gets an object of their own, since the request id is added to it. */
const copyOf = async (found: Promise<Benchmarks>): Promise<Benchmarks> => ({ ...(await found) })

const share = (part: number, whole: number): number => Number((part / whole).toFixed(4))
