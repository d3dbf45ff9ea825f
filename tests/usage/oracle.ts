import type { UsageEntry } from '../../src/usage'
import type { Breakdown } from '../../src/usage/schema'

export type Notice = UsageEntry & { at: number }
export type Request = { from: number; to: number; keyId?: string; mode?: string; skill?: string }

/** What a report must say, added up the slow way: from a list of calls, with none of the product's code. */
export function reportOf(calls: readonly Notice[], { from, to, keyId, mode, skill }: Request): Breakdown {
  const mine = calls.filter(
    (call) =>
      call.at >= from &&
      call.at < to &&
      (keyId === undefined || call.keyId === keyId) &&
      (mode === undefined || call.mode === mode || call.resolvedMode === mode) &&
      (skill === undefined || call.skills?.includes(skill)),
  )
  const sum = (of: (call: Notice) => number, some = mine) => some.reduce((total, call) => total + of(call), 0)
  const parts = (namesOf: (call: Notice) => readonly string[]) => {
    const names = [...new Set(mine.flatMap(namesOf))].sort()
    return Object.fromEntries(
      names.map((name) => {
        const some = mine.filter((call) => namesOf(call).includes(name))
        return [name, { requests: some.length, cost_cents: cents(some) }]
      }),
    )
  }
  const cents = (some: readonly Notice[]) => sum(({ costMicro }) => costMicro, [...some]) / 1_000_000
  const tokens = (call: Notice) => call.promptTokens + call.completionTokens
  const dayOf = ({ at }: Notice) => new Date(at).toISOString().slice(0, 10)
  const hits = mine.filter(({ cached }) => cached).length
  const failed = (low: number, high: number) => mine.filter(({ status }) => status >= low && status < high).length
  const misses = mine.length - hits - failed(400, 600)
  return {
    totals: {
      requests: mine.length,
      prompt_tokens: sum(({ promptTokens }) => promptTokens),
      completion_tokens: sum(({ completionTokens }) => completionTokens),
      total_tokens: sum(tokens),
      cost_cents: cents(mine),
    },
    by_mode: parts((call) => [call.resolvedMode ?? call.mode ?? 'none']),
    by_model: parts((call) => [call.model ?? 'none']),
    by_skill: parts((call) => (call.skills ?? []).filter((one) => skill === undefined || one === skill)),
    by_day: [...new Set(mine.map(dayOf))].sort().map((date) => {
      const some = mine.filter((call) => dayOf(call) === date)
      return { date, requests: some.length, total_tokens: sum(tokens, some), cost_cents: cents(some) }
    }),
    latency_ms: { p50: rank(mine, 0.5), p95: rank(mine, 0.95), p99: rank(mine, 0.99) },
    cache: { hits, misses, hit_rate: hits + misses ? hits / (hits + misses) : 0 },
    errors: { '4xx': failed(400, 500), '5xx': failed(500, 600) },
  }
}

/** The nearest-rank percentile itself; the report's may be off by less than 1 %. */
function rank(calls: readonly Notice[], share: number): number {
  const sorted = calls
    .filter(({ status }) => status < 400)
    .map(({ latencyMs }) => latencyMs)
    .sort((a, b) => a - b)
  return sorted[Math.ceil(share * sorted.length) - 1] ?? 0
}
