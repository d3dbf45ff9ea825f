import { fence } from '../kernel/fence'
import { shorten } from '../kernel/text'

/** What an engine reads of one result, and what a caller sees of it, in characters. */
export const MAX_TEXT_CHARS = 24_000
export const MAX_RESULT_CHARS = 64 * 1024

/** A long text, whole up to `max` characters and then with a word on how much is missing. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text
  return `${shorten(text, max)}\n[cut here: ${text.length - max + 1} more characters]`
}

type Presented = { text: string; result: unknown }

/**
 * What came of a tool, once for the engine, fenced as data, and once for the caller; a result too large to
 * show becomes `{truncated: true, text, total_chars}`. `room` is what is left for this run's callers to see.
 */
export function present(name: string, found: unknown, room: number): Presented {
  const json = JSON.stringify(found) ?? 'null'
  const text = fence(name, cut(typeof found === 'string' ? found : json, MAX_TEXT_CHARS))
  const most = Math.min(MAX_RESULT_CHARS, room)
  if (json.length <= most) return { text, result: found === undefined ? null : found }
  const shown = shorten(typeof found === 'string' ? found : json, Math.max(most, 1))
  return { text, result: { truncated: true, text: shown, total_chars: json.length } }
}
