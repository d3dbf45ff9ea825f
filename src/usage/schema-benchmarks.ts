import { nullable, oneOf, type Static, t } from '../kernel/schema'

const BENCHMARK_WINDOWS = ['24h', '7d', '30d'] as const
export type BenchmarkWindow = (typeof BENCHMARK_WINDOWS)[number]

export const BenchmarkQuery = t.Object({ window: oneOf(BENCHMARK_WINDOWS, { default: '24h' }) })

const Count = t.Integer({ minimum: 0 })
const Ms = t.Number({ minimum: 0 })
const Latency = t.Object({ p50: Ms, p95: Ms, p99: Ms, count: Count }, { $id: 'BenchmarkLatency' })
const Speed = t.Object({ p50: Ms, p95: Ms, count: Count }, { $id: 'BenchmarkSpeed' })

/** `GET /benchmarks` (contract 21). Durations in milliseconds. */
export const Benchmarks = t.Object(
  {
    window: oneOf(BENCHMARK_WINDOWS),
    latency_by_mode: t.Record(t.String(), Latency, {
      description:
        'Milliseconds from the request to the end of its answer, by the mode that answered. Includes cached answers, not failed calls',
    }),
    ttft_by_mode: t.Record(t.String(), Speed, {
      description: 'Milliseconds from the request to the first text of a stream, by mode',
    }),
    /** How long it took to choose the mode of `auto` calls; null when none was chosen. */
    classification: nullable(Speed),
    counters: t.Object({
      total: Count,
      failover_count: t.Integer({
        minimum: 0,
        description: 'Calls answered by a fallback engine instead of the first choice',
      }),
      routing_accuracy: t.Number({
        minimum: 0,
        maximum: 1,
        description:
          'Share of answered `auto` calls whose mode was not corrected with a routing correction for their completion; 1 without such calls',
      }),
      total_tokens: Count,
      total_cost_cents: t.Number(),
      by_mode: t.Record(t.String(), Count),
    }),
    bucket: t.String({
      pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}$',
      description: 'The current hour in UTC, the newest of the window',
    }),
  },
  { $id: 'Benchmarks' },
)
export type Benchmarks = Static<typeof Benchmarks>
