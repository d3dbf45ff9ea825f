import { HOUR_MS, startOf, WIDTHS } from './buckets'
import type { Grain } from './table'

/** Half-open range of time, epoch ms. */
export type Span = { from: number; to: number }
type Part = Span & { grain: Grain }
type Cut = { rolled: Part[]; calls: Span[] }
/** How to read a period: `rolled` from the rollups, `calls` (its ends) from single records. */
export type Plan = Cut & { whole: Span }

/**
 * Splits a period into whole buckets of the widest grain, then finer ones at both ends, until less than the finest
 * grain is left. `grains` from wide to fine. No call is later than `now`, so a period that reaches it is extended
 * to a whole hour.
 */
export function planOf({ from, to }: Span, now: number, grains: readonly Grain[]): Plan {
  const whole = { from, to: to > now ? startOf('hour', to + HOUR_MS - 1) : to }
  return { whole, ...cut(whole, grains) }
}

function cut({ from, to }: Span, [grain, ...finer]: readonly Grain[]): Cut {
  if (from >= to) return { rolled: [], calls: [] }
  if (!grain) return { rolled: [], calls: [{ from, to }] }
  const inner = { from: startOf(grain, from + WIDTHS[grain] - 1), to: startOf(grain, to) }
  if (inner.from >= inner.to) return cut({ from, to }, finer)
  const before = cut({ from, to: inner.from }, finer)
  const after = cut({ from: inner.to, to }, finer)
  return {
    rolled: [...before.rolled, { grain, ...inner }, ...after.rolled],
    calls: [...before.calls, ...after.calls],
  }
}
