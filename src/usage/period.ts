import { type RangeQuery, readRange, reversed } from '../kernel/range'
import { DAY_MS } from './buckets'
import { tooLong } from './errors'
import type { Span } from './spans'

const DEFAULT_DAYS = 30

/**
 * The period a query means: the last 30 days unless it says otherwise (contract 18.1). Throws 400
 * `validation_error` for a bound that is no date, a reversed period, and one of more than `mostDays`.
 */
export function periodOf(query: RangeQuery, now: number, mostDays: number): Span {
  const range = readRange(query)
  // A call of this very millisecond belongs to it.
  const to = range.to ?? now + 1
  const from = range.from ?? to - DEFAULT_DAYS * DAY_MS
  if (from >= to) throw reversed(from, to)
  if (to - from > mostDays * DAY_MS) throw tooLong(Math.ceil((to - from) / DAY_MS), mostDays)
  return { from, to }
}
