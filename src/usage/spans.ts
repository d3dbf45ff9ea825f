import { DAY_MS, HOUR_MS } from './buckets'
import type { Grain } from './table'

/** Half-open, epoch ms. */
export type Span = { from: number; to: number }
/** How a period is read: whole days and hours from the rollups, what is left at its ends call by call. */
export type Plan = { whole: Span; rolled: (Span & { grain: Grain })[]; calls: Span[] }

const up = (at: number, width: number) => Math.ceil(at / width) * width
const down = (at: number, width: number) => Math.floor(at / width) * width
const filled = <S extends Span>(spans: S[]): S[] => spans.filter(({ from, to }) => from < to)

/**
 * Cuts a period into as many whole days as fit, whole hours around them, and less than an hour at either
 * end. No call is later than `now`, so a period that reaches it ends with a whole hour.
 */
export function planOf({ from, to }: Span, now: number): Plan {
  const end = to > now ? up(to, HOUR_MS) : to
  const whole = { from, to: end }
  const hours = { from: up(from, HOUR_MS), to: down(end, HOUR_MS) }
  if (hours.from >= hours.to) return { whole, rolled: [], calls: filled([whole]) }
  const days = { from: up(hours.from, DAY_MS), to: down(hours.to, DAY_MS) }
  const calls = filled([
    { from, to: hours.from },
    { from: hours.to, to: end },
  ])
  if (days.from >= days.to) return { whole, rolled: [{ grain: 'hour', ...hours }], calls }
  return {
    whole,
    rolled: filled([
      { grain: 'hour' as const, from: hours.from, to: days.from },
      { grain: 'day' as const, ...days },
      { grain: 'hour' as const, from: days.to, to: hours.to },
    ]),
    calls,
  }
}
