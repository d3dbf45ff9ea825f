import { Cron } from 'croner'

const MINUTE_MS = 60_000
/** The shortest time allowed between two scheduled runs (docs/api.md 10). */
const MIN_SPACING_MS = 5 * MINUTE_MS
/** Number of firings whose spacing is checked. Five minutes apart they span a day, after which times repeat. */
const LOOKED_AT = 300

/** The problem of a schedule `minute hour day month weekday`, as the end of a sentence. Null when it is valid. */
export function problemOfCron(text: string): string | null {
  let next: Date | null
  let last: Date | null = null
  try {
    next = Bun.cron.parse(text, EPOCH)
    // This library computes the runs, because it knows time zones. A schedule must be valid for both libraries.
    cronOf(text, 'UTC')
  } catch {
    return 'is not a schedule of five fields such as "0 9 * * 1-5": minute, hour, day, month, weekday'
  }
  if (next === null) return 'names a day that never occurs'
  for (let at = 0; next !== null && at < LOOKED_AT; at++) {
    if (last !== null && next.getTime() - last.getTime() < MIN_SPACING_MS) {
      return 'runs more often than every 5 minutes, which is the shortest allowed interval'
    }
    last = next
    next = Bun.cron.parse(text, next)
  }
  return null
}

const EPOCH = new Date(0)

/**
 * The time zone's name as the time zone database spells it. Null for an unknown name or an offset such as `+02:00`.
 * Only the case changes: an alias such as Asia/Calcutta stays as the user chose it.
 */
export function timeZoneNamed(name: string): string | null {
  if (!/^[A-Za-z]/.test(name)) return null
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/** Whether `name` is an IANA time zone that this machine knows, such as `Europe/Vienna`. */
export const isTimeZone = (name: string): boolean => timeZoneNamed(name) !== null

/** The first moment after `after` (epoch ms) at which a valid schedule runs in a time zone. Null when there is none. */
export function nextRunOf(text: string, timezone: string, after: number): number | null {
  return cronOf(text, timezone).nextRun(new Date(after))?.getTime() ?? null
}

/** With `sloppyRanges`, `5/10` means every tenth from 5 on, as in most crons. */
const cronOf = (text: string, timezone: string) =>
  new Cron(text, { timezone, paused: true, mode: '5-part', sloppyRanges: true })
