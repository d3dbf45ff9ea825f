import type { CallSums } from './call-repository'
import { addEncoded, cellOf, type Histogram, noCalls, percentiles } from './latency'
import type { Rolled } from './report-repository'
import { modeOf, type Timed } from './speeds'
import type { SpeedRow } from './table'

type Latencies = { latencies: readonly number[] }

/** Adds up benchmarks from rollups and from single calls. */
export function createMeasure() {
  const latency = new Map<string, Histogram>()
  const ttft = new Map<string, Histogram>()
  const classified = noCalls()
  const byMode = new Map<string, number>()
  const sums = { total: 0, failover_count: 0, total_tokens: 0, cost_micro: 0 }
  let autos = 0

  /** Returns false for calls refused before they began: they have no measurements. */
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

    addSums(part: CallSums & Latencies): void {
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

    /** `autos`: the answered calls whose mode was chosen automatically. */
    result() {
      const [p50, p95] = percentiles(classified, [0.5, 0.95]) as [number, number]
      const count = callsOf(classified)
      return {
        latency_by_mode: mapValues(withCalls(latency), (histogram) => {
          const [p50, p95, p99] = percentiles(histogram, [0.5, 0.95, 0.99]) as [number, number, number]
          return { p50, p95, p99, count: callsOf(histogram) }
        }),
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

/** Leaves out modes without answered calls. */
const withCalls = (histograms: Map<string, Histogram>) =>
  new Map([...histograms].filter(([, histogram]) => callsOf(histogram) > 0))

const callsOf = (histogram: Histogram): number => histogram.reduce((sum, calls) => sum + calls, 0)

const mapValues = <V, R>(map: Map<string, V>, toResult: (value: V) => R): Record<string, R> =>
  Object.fromEntries([...map].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => [name, toResult(value)]))
