import { useEffect, useState } from 'react'

const count = new Intl.NumberFormat('en')
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

/** A count: whole up to five digits, else shortened (`1.2M`). */
export const number = (value: number): string =>
  Math.abs(value) < 100_000 ? count.format(value) : compact.format(value)
export const whole = (value: number): string => count.format(value)

/** An amount of cents in dollars: two decimals, or four below a cent. */
export function money(cents: number): string {
  const dollars = cents / 100
  if (dollars !== 0 && Math.abs(dollars) < 0.01) {
    return Math.abs(dollars) < 0.0001 ? '<$0.0001' : `${dollars < 0 ? '−' : ''}$${Math.abs(dollars).toFixed(4)}`
  }
  const text = Math.abs(dollars).toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
  return `${dollars < 0 ? '−' : ''}$${text}`
}

const UNIT = 1_000
/** An amount of bytes with its unit. A dash if unknown. */
export function size(bytes: number | null): string {
  if (bytes === null) return '–'
  if (bytes < UNIT) return `${whole(bytes)} B`
  const [by, unit] = bytes < UNIT ** 2 ? [UNIT, 'kB'] : [UNIT ** 2, 'MB']
  return `${number(Math.round((bytes / by) * 10) / 10)} ${unit}`
}

/** A duration given in milliseconds. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`
  const seconds = Math.round(ms / 1_000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/** The name of a member of JSON in words: `api_key_id` is "Api key id". */
export const spelled = (name: string): string =>
  name.replaceAll(/[_-]/g, ' ').replace(/^./, (first) => first.toUpperCase())

/** An id without its middle. Put the whole id into a tooltip. */
export const short = (id: string): string => (id.length > 16 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id)

/** The key of the series that sums the rest, whose colour is always the same. */
export const OTHER = 'other'

/** The sum of the known values. */
export const sum = (values: readonly (number | null)[]): number =>
  values.reduce<number>((total, value) => total + (value ?? 0), 0)

export const percent = (share: number): string => `${(share * 100).toFixed(share !== 0 && share < 0.1 ? 1 : 0)} %`

export const plural = (many: number, one: string, more = `${one}s`): string =>
  `${whole(many)} ${many === 1 ? one : more}`

export const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const year = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })

/** A day, with its year unless it is the current one. */
export function dayOf(iso: string): string {
  const date = new Date(iso)
  return date.getFullYear() === new Date().getFullYear() ? day.format(date) : year.format(date)
}

const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone

/** A point in time: the clock time, and the day unless it is today. Its tooltip shows the exact time. */
export function Time({ at, only }: { at: string; only?: 'day' }) {
  const date = new Date(at)
  const isToday = date.toDateString() === new Date().toDateString()
  const spelled = clock.format(date)
  const text = only ? dayOf(at) : isToday ? spelled : `${dayOf(at)}, ${spelled}`
  return (
    <time dateTime={at} title={`${at} (${ZONE} ${spelled})`}>
      {text}
    </time>
  )
}

const TICK_MS = 1_000

/** A running duration, counting up: minutes and seconds, with hours from the first one on. */
export function Lasting({ since }: { since: string }) {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [])
  const seconds = Math.max(0, Math.floor((now - Date.parse(since)) / 1_000))
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60]
  const last = String(seconds % 60).padStart(2, '0')
  return (
    <time dateTime={since} title={since}>
      {hours ? `${hours} h ${minutes} min` : `${minutes}:${last}`}
    </time>
  )
}

const characters = new Intl.Segmenter('und', { granularity: 'grapheme' })
/** The first character of a name as readers see it, which can have several code points. */
export const initialOf = (name: string): string =>
  characters.segment(name.trim())[Symbol.iterator]().next().value?.segment.toUpperCase() ?? ''

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** How long ago, or in how long, in words. */
export function Ago({ at }: { at: string }) {
  const ms = new Date(at).getTime() - Date.now()
  const [unit, size] = UNITS.find(([, length]) => Math.abs(ms) >= length) ?? (['second', 1_000] as const)
  const text = unit === 'second' ? 'just now' : relative.format(Math.round(ms / size), unit)
  return (
    <time dateTime={at} title={at}>
      {text}
    </time>
  )
}
