import { type RangeQuery, readRange, reversed } from '../kernel/range'
import { DAY_MS } from './buckets'
import { tooLong } from './errors'
import type { Span } from './spans'

const DEFAULT_DAYS = 30

/**
 * The period of a query, by default the last 30 days (contract 18.1). Throws 400 `validation_error` for an invalid
 * date, a reversed period, and a period of more than `mostDays`.
 */
export function periodOf(query: RangeQuery, now: number, mostDays: number): Span {
  const range = readRange(query)
  // `to` is exclusive; + 1 includes a call of the current millisecond.
  const to = range.to ?? now + 1
  const from = range.from ?? to - DEFAULT_DAYS * DAY_MS
  if (from >= to) throw reversed(from, to)
  if (to - from > mostDays * DAY_MS) throw tooLong(Math.ceil((to - from) / DAY_MS), mostDays)
  return { from, to }
}
