import { momentOf } from '../../tui/draw/spell'

export const TIME_STYLES = ['relative', 'iso', 'unix'] as const
/** `clock` is for rows of a stream, because `3 min ago` stays on the screen and becomes wrong. */
export type TimeStyle = (typeof TIME_STYLES)[number] | 'clock'

const STEPS: readonly [number, string][] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
]

/** An ISO 8601 time in the style of `--time`: `3 min ago`, the text itself, or epoch seconds. */
export function spellTime(iso: string, { time, now }: { time: TimeStyle; now: number }): string {
  const at = Date.parse(iso)
  if (Number.isNaN(at)) return '-'
  if (time === 'iso') return iso
  if (time === 'clock') return momentOf(iso, now)
  if (time === 'unix') return String(Math.floor(at / 1000))
  const distance = spellSpan(Math.abs(now - at))
  if (distance === 'now') return 'just now'
  return at > now ? `in ${distance}` : `${distance} ago`
}

/** The largest fitting unit, rounded down: `3 min`, `4 d`. Below a second, `now`. */
export function spellSpan(ms: number): string {
  for (const [size, unit] of STEPS) {
    if (ms >= size) return `${Math.floor(ms / size)} ${unit}`
  }
  return 'now'
}

/** A duration in milliseconds as `3 min ago`, or `just now`. */
export const spellAgo = (ms: number): string => (ms < 1_000 ? 'just now' : `${spellSpan(ms)} ago`)
