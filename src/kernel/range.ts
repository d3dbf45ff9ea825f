import { iso } from './clock'
import { invalidInput, quoted } from './errors'
import { type Static, t } from './schema'

/** `from` and `to` of every dated list (docs/api.md 1.8). */
export const RangeQuery = t.Object({
  from: t.Optional(
    t.String({ maxLength: 40, description: 'ISO 8601, inclusive; a date without a time means its start (UTC)' }),
  ),
  to: t.Optional(
    t.String({
      maxLength: 40,
      description: 'ISO 8601, exclusive; a date without a time means the end of that day (UTC)',
    }),
  ),
})
export type RangeQuery = Static<typeof RangeQuery>

/** A half-open range in epoch milliseconds. Null if the caller set no bound. */
export type Range = { from: number | null; to: number | null }

const DAY_MS = 86_400_000
const BARE_DATE = /^\d{4}-\d{2}-\d{2}$/
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/

/** Parses a range. Throws 400 `validation_error` for a bound that is not a date, or a `from` not before `to`. */
export function readRange(query: RangeQuery): Range {
  const from = readMoment('from', query.from)
  const day = readMoment('to', query.to)
  const to = day !== null && query.to && BARE_DATE.test(query.to) ? day + DAY_MS : day
  if (from !== null && to !== null && from >= to) throw reversed(from, to)
  return { from, to }
}

/** Like `readRange`, with an end at `now` and a length for the bounds that the caller did not set. */
export function readPeriod(query: RangeQuery, now: number, length: number): { from: number; to: number } {
  const range = readRange(query)
  const to = range.to ?? now
  const from = range.from ?? to - length
  if (from >= to) throw reversed(from, to)
  return { from, to }
}

const reversed = (from: number, to: number) =>
  invalidInput(
    'from',
    `"from" is ${iso(from)}, which is not before "to", ${iso(to)}. Send an earlier "from" or a later "to".`,
  )

/** Parses one date of a query, in epoch milliseconds. Throws 400 `validation_error` that names its member. */
export function readMoment(name: string, text: string | undefined): number | null {
  if (text === undefined) return null
  // An unescaped "+02:00" in a query string arrives with a space.
  const written = text.replace(' ', '+')
  const ms = BARE_DATE.test(written) || MOMENT.test(written) ? Date.parse(written) : Number.NaN
  const day = written.slice(0, 10)
  // `Date.parse` reads 31 February and similar dates as days of March.
  if (Number.isNaN(ms) || !iso(Date.parse(`${day}T00:00:00Z`)).startsWith(day)) {
    throw invalidInput(
      name,
      `"${name}" is "${quoted(text)}"; use a date like 2026-01-31 or a time like 2026-01-31T12:00:00Z.`,
    )
  }
  return ms
}
