import { fence } from '../kernel/fence'
import { shorten } from '../kernel/text'

/** Longest text of one result, in characters: for the engine, and for the caller. */
export const MAX_TEXT_CHARS = 24_000
export const MAX_RESULT_CHARS = 64 * 1024

/** Shortens a text to `max` characters and notes how many are missing. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text
  return `${shorten(text, max)}\n[cut here: ${text.length - max + 1} more characters]`
}

type Presented = { text: string; result: unknown }

/**
 * Renders a tool's result twice: fenced as data for the engine, and as JSON for the caller. A result too large to
 * show becomes `{truncated: true, text, total_chars}`. `room` is how many characters this run may still show.
 */
export function present(name: string, found: unknown, room: number): Presented {
  const json = JSON.stringify(found) ?? 'null'
  const text = fence(name, cut(typeof found === 'string' ? found : json, MAX_TEXT_CHARS))
  const most = Math.min(MAX_RESULT_CHARS, room)
  if (json.length <= most) return { text, result: found === undefined ? null : found }
  const shown = shorten(typeof found === 'string' ? found : json, Math.max(most, 1))
  return { text, result: { truncated: true, text: shown, total_chars: json.length } }
}
