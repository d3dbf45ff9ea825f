import { commandsAsTyped } from '../../src/kernel/text'
/** Ages, durations, sums and times as the screens show them. */

/** `38s`, `4m12s`, `3h`, `1d 2h`. */
export function spellAge(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1_000))
  if (s < 60) return `${s}s`
  const m = Math.floor(s / 60)
  if (m < 60) return `${m}m${String(s % 60).padStart(2, '0')}s`
  const h = Math.floor(m / 60)
  if (h < 24) return m % 60 ? `${h}h${String(m % 60).padStart(2, '0')}m` : `${h}h`
  const d = Math.floor(h / 24)
  return d < 30 && h % 24 ? `${d}d ${h % 24}h` : `${d}d`
}

/** `29:10`: remaining minutes and seconds. */
export function spellCountdown(ms: number): string {
  const s = Math.max(0, Math.ceil(ms / 1_000))
  return `${two(Math.floor(s / 60))}:${two(s % 60)}`
}

/** `6d 04:11`: uptime of a server. */
export function spellUptime(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000))
  const days = Math.floor(minutes / 1_440)
  const clock = `${two(Math.floor(minutes / 60) % 24)}:${two(minutes % 60)}`
  return days ? `${days}d ${clock}` : clock
}

/** `45ms`, `2.1s`, `2m05s`. A dash if nothing was measured. */
export function spellMs(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '–'
  if (ms < 1_000) return `${Math.round(ms)}ms`
  return ms < 60_000 ? `${(ms / 1_000).toFixed(1)}s` : spellAge(ms)
}

/** `0.02¢`, `$9.10`. */
export function spellMoney(cents: number | null | undefined): string {
  if (cents === null || cents === undefined) return '–'
  if (cents === 0) return '$0.00'
  if (Math.abs(cents) < 100) return `${cents < 0.1 ? cents.toFixed(3).replace(/0+$/, '') : cents.toFixed(1)}¢`
  return spellDollars(cents)
}

export const spellDollars = (cents: number): string => `$${(cents / 100).toFixed(2)}`

export const spellShare = (share: number): string => `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)}%`

export const spellCount = (count: number): string => count.toLocaleString('en-US')

const ORDINALS = new Intl.PluralRules('en', { type: 'ordinal' })
const ENDS: Readonly<Record<string, string>> = { one: 'st', two: 'nd', few: 'rd' }

/** `1st`, `12th`, `22nd`. */
export const ordinal = (place: number): string => `${place}${ENDS[ORDINALS.select(place)] ?? 'th'}`

/** `14:02:31` in the time zone of this machine. */
export const clockOf = (ms: number): string => new Date(ms).toTimeString().slice(0, 8)

/** `14:02` today, else the day. */
export function momentOf(iso: string, now: number): string {
  const at = Date.parse(iso)
  if (Number.isNaN(at)) return '–'
  return now - at < 86_400_000 ? clockOf(at) : iso.slice(5, 10)
}

const two = (number: number): string => String(number).padStart(2, '0')

/** A text whose commands can be pasted (docs/operating.md 2.4). */
export const asTyped = (text: string): string => commandsAsTyped(text, process.env)
