import { and, eq, gte, lt, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import { type Call, type OwnerScope, ownerOf } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import type { KeyId } from '../kernel/ids'
import { nextTurn } from '../kernel/loop'
import { microToCents } from '../kernel/money'
import type { Reader, Store } from '../kernel/store'
import {
  addEncoded,
  cellOf,
  grainsOf,
  type Histogram,
  HOUR_MS,
  modeOf,
  noCalls,
  percentiles,
  startOf,
  type Timed,
} from './buckets'
import { type CallSums, sumsOf, whole } from './call-repository'
import { type Rolled, rolledIn, speedsIn, timedCalls } from './report-repository'
import type { Benchmarks, BenchmarkWindow } from './schema'
import { planOf, type Span, tailOf } from './spans'
import { type SpeedRow, usageRecords, usageRollups } from './table'

/** Maximum requests and maximum tokens of one key in one clock minute. */
type Peak = { requests: number; tokens: number }

/** Selects the calls of one key of an owner, or of the owner's busiest key. */
type KeySelector = { owner: OwnerScope; keyId: KeyId | null }

const DAYS = 7

/** Maximum number of hours read. If this many hours are equally busy, another one is hardly busier. */
const MAX_HOURS = 48

const callsOf = (histogram: Histogram): number => histogram.reduce((sum, calls) => sum + calls, 0)

const mapValues = <V, R>(map: Map<string, V>, toResult: (value: V) => R): Record<string, R> =>
  Object.fromEntries([...map].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => [name, toResult(value)]))

type Deps = {
  store: Store
  clock: Clock
  /** The number of an owner's completions in a span whose automatic mode was reported as wrong, each counted once. */
  wronglyChosenIn(reader: Reader, owner: OwnerScope, span: Span): Promise<number>
}

export type BenchmarkService = ReturnType<typeof createBenchmarks>

const HOURS: Record<BenchmarkWindow, number> = { '24h': 24, '7d': 7 * 24, '30d': 30 * 24 }
/** Results are cached this long, so that a dashboard polling every second causes few reads. */
const FRESH_MS = 5_000
const MAX_CACHED = 1_000

/** Speed and quality of the caller's own calls (docs/api.md 21). Never includes calls of other owners. */
export function createBenchmarks({ store, clock, wronglyChosenIn }: Deps) {
  const cache = new LRUCache<string, { readAt: number; found: Promise<Benchmarks> }>({ max: MAX_CACHED })

  return {
    /** Covers whole hours, including the current one. */
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
        routing_accuracy: autos > 0 ? Number(((autos - Math.min(corrected, autos)) / autos).toFixed(4)) : 1,
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

/** Each caller gets a separate object, because the request id is added to it. */
const copyOf = async (found: Promise<Benchmarks>): Promise<Benchmarks> => ({ ...(await found) })

/** Adds up benchmarks from rollups and from single calls. */
function createMeasure() {
  const latency = new Map<string, Histogram>()
  const ttft = new Map<string, Histogram>()
  const classified = noCalls()
  const byMode = new Map<string, number>()
  const sums = { total: 0, failover_count: 0, total_tokens: 0, cost_micro: 0 }
  let autos = 0

  /** Returns false for calls rejected before they began, because they have no measurements. */
  function count(part: Omit<CallSums, 'at'>): boolean {
    if (part.requests === 0) return false
    const mode = modeOf(part)
    sums.total += part.requests
    sums.total_tokens += part.prompt_tokens + part.completion_tokens
    sums.cost_micro += part.cost_micro
    byMode.set(mode, (byMode.get(mode) ?? 0) + part.requests)
    if (part.mode === 'auto') autos += part.requests - part.client_errors - part.server_errors
    return true
  }

  return {
    addBucket(bucket: Rolled): void {
      if (count(bucket)) addEncoded(histogramOf(latency, modeOf(bucket)), bucket.latency)
    },

    addSums(part: CallSums & { latencies: readonly number[] }): void {
      if (!count(part)) return
      const histogram = histogramOf(latency, modeOf(part))
      for (const ms of part.latencies) histogram[cellOf(ms)]! += 1
    },

    addSpeed(row: Pick<SpeedRow, 'mode' | 'ttft' | 'classified' | 'failovers'>): void {
      if (row.ttft !== '') addEncoded(histogramOf(ttft, row.mode), row.ttft)
      addEncoded(classified, row.classified)
      sums.failover_count += row.failovers
    },

    addTimed(call: Timed): void {
      if (call.ttft_ms !== null) histogramOf(ttft, modeOf(call))[cellOf(call.ttft_ms)]! += 1
      if (call.classified_us !== null) classified[cellOf(call.classified_us)]! += 1
      if (call.fallback_used) sums.failover_count += 1
    },

    /** `autos` counts the answered calls whose mode was chosen automatically. */
    result() {
      const [p50, p95] = percentiles(classified, [0.5, 0.95]) as [number, number]
      const count = callsOf(classified)
      // Leaves out modes without answered calls.
      return {
        latency_by_mode: mapValues(
          new Map([...latency].filter(([, histogram]) => callsOf(histogram) > 0)),
          (histogram) => {
            const [p50, p95, p99] = percentiles(histogram, [0.5, 0.95, 0.99]) as [number, number, number]
            return { p50, p95, p99, count: callsOf(histogram) }
          },
        ),
        ttft_by_mode: mapValues(ttft, (histogram) => {
          const [p50, p95] = percentiles(histogram, [0.5, 0.95]) as [number, number]
          return { p50, p95, count: callsOf(histogram) }
        }),
        classification: count > 0 ? { p50: p50 / 1_000, p95: p95 / 1_000, count } : null,
        counters: { ...sums, by_mode: mapValues(byMode, (calls) => calls) },
        autos,
      }
    },
  }
}

function histogramOf(histograms: Map<string, Histogram>, mode: string): Histogram {
  const known = histograms.get(mode) ?? noCalls()
  histograms.set(mode, known)
  return known
}

/**
 * The busiest minute of the last seven days. An hour with fewer calls and tokens than the peak so far cannot contain a
 * busier minute, so only few hours are read. The newest two hours are always read, because the rollups may not contain
 * them yet.
 */
export async function peakOf(reader: Reader, selector: KeySelector, now: number): Promise<Peak> {
  const newest = Math.floor(now / HOUR_MS) * HOUR_MS
  const rolled = await hoursOf(reader, selector, { from: newest - DAYS * 24 * HOUR_MS, to: newest - HOUR_MS })
  const fresh = [newest, newest - HOUR_MS].map((at) => ({ at, requests: Infinity, tokens: Infinity }))
  let peak: Peak = { requests: 0, tokens: 0 }
  let hoursRead = 0
  for (const hour of [...fresh, ...rolled.sort((a, b) => b.requests - a.requests)]) {
    if (hour.requests <= peak.requests && hour.tokens <= peak.tokens) continue
    if (hoursRead++ === MAX_HOURS) break
    await nextTurn()
    for (const minute of await minutesOf(reader, selector, hour.at)) {
      peak = {
        requests: Math.max(peak.requests, minute.requests),
        tokens: Math.max(peak.tokens, minute.tokens),
      }
    }
  }
  return peak
}

async function hoursOf(db: Reader, { owner, keyId }: KeySelector, { from, to }: { from: number; to: number }) {
  const r = db.of(usageRollups)
  return db
    .select({
      at: r.at,
      requests: whole(sql`sum(${r.requests})`),
      tokens: whole(sql`sum(${r.prompt_tokens} + ${r.completion_tokens})`),
    })
    .from(r)
    .where(
      and(
        eq(r.owner, owner),
        eq(r.grain, 'hour'),
        eq(r.api_key, keyId ?? ''),
        eq(r.skill, ''),
        gte(r.at, from),
        lt(r.at, to),
      ),
    )
    .groupBy(r.at)
}

async function minutesOf(db: Reader, { owner, keyId }: KeySelector, hour: number) {
  const t = db.of(usageRecords)
  return db
    .select({
      requests: whole(sql`count(*)`),
      tokens: whole(sql`sum(${t.prompt_tokens} + ${t.completion_tokens})`),
    })
    .from(t)
    .where(
      and(
        eq(t.owner, owner),
        gte(t.at, hour),
        lt(t.at, hour + HOUR_MS),
        keyId === null ? undefined : eq(t.api_key_id, keyId),
      ),
    )
    .groupBy(t.api_key_id, sql`${t.at} / 60000`)
}
