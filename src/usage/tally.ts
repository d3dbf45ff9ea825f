import { utcDay } from '../kernel/clock'
import { microToCents } from '../kernel/money'
import { addSums, emptySums, type Sums } from './buckets'
import type { CallSums } from './call-repository'
import { addEncoded, cellOf, noCalls, percentiles } from './latency'
import type { Rolled } from './report-repository'
import type { Breakdown } from './schema'

export type Tally = ReturnType<typeof createTally>

/** Adds up a report from buckets and calls; `only` is the skill the report is limited to, if any. */
export function createTally(only = '') {
  const total = emptySums()
  const latency = noCalls()
  const modes = new Map<string, Sums>()
  const models = new Map<string, Sums>()
  const skills = new Map<string, Sums>()
  const days = new Map<string, Sums>()

  const addSkill = (sums: Sums & { skill: string }) => addSums(sumsAt(skills, sums.skill), sums)

  function add(sums: CallSums): void {
    if (only !== '') addSums(sumsAt(skills, only), sums)
    addSums(total, sums)
    // A bucket of refused calls alone does not count towards any mode, model or day.
    if (sums.requests === 0) return
    addSums(sumsAt(modes, sums.resolved_mode || sums.mode || UNNAMED), sums)
    addSums(sumsAt(models, sums.model || UNNAMED), sums)
    addSums(sumsAt(days, utcDay(sums.at)), sums)
  }

  return {
    addSkill,
    addSums: add,

    /** Adds refused calls that are not in any bucket yet. */
    addRefused(calls: number): void {
      total.client_errors += calls
      total.refused += calls
    },

    addLatency(ms: number): void {
      latency[cellOf(ms)]! += 1
    },

    addBucket(bucket: Rolled): void {
      if (bucket.skill !== only) {
        addSkill(bucket)
        return
      }
      add(bucket)
      addEncoded(latency, bucket.latency)
    },

    /** Micro-cents by UTC day. */
    costByDay: () => new Map([...days].map(([day, { cost_micro }]) => [day, cost_micro])),
    requests: () => total.requests,

    result(): Breakdown {
      const [p50, p95, p99] = percentiles(latency, [0.5, 0.95, 0.99]) as [number, number, number]
      const { requests, cached, client_errors, server_errors, refused } = total
      const misses = requests - cached - (client_errors + server_errors - refused)
      return {
        totals: {
          requests,
          prompt_tokens: total.prompt_tokens,
          completion_tokens: total.completion_tokens,
          total_tokens: tokensOf(total),
          cost_cents: microToCents(total.cost_micro),
        },
        by_mode: toMap(modes),
        by_model: toMap(models),
        by_skill: toMap(skills),
        by_day: [...days].sort(byName).map(([date, sums]) => ({
          date,
          requests: sums.requests,
          total_tokens: tokensOf(sums),
          cost_cents: microToCents(sums.cost_micro),
        })),
        latency_ms: { p50, p95, p99 },
        cache: { hits: cached, misses, hit_rate: cached + misses > 0 ? cached / (cached + misses) : 0 },
        errors: { '4xx': client_errors, '5xx': server_errors },
      }
    },
  }
}

/** The name calls without a mode or model are listed under. */
const UNNAMED = 'none'

function sumsAt(map: Map<string, Sums>, name: string): Sums {
  let sums = map.get(name)
  if (!sums) {
    sums = emptySums()
    map.set(name, sums)
  }
  return sums
}

const tokensOf = (sums: Sums): number => sums.prompt_tokens + sums.completion_tokens
const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1)
const toMap = (map: Map<string, Sums>) =>
  Object.fromEntries(
    [...map]
      .sort(byName)
      .map(([name, { requests, cost_micro }]) => [name, { requests, cost_cents: microToCents(cost_micro) }]),
  )
