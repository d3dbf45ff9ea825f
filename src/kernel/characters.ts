/** A character has at most so many UTF-16 units (the longest emoji have 15); with more accents it counts as several. */
const MAX_UNITS = 16

/** The only code points that join others to one character, see the test. */
const JOINS =
  /[\r\p{Join_Control}\p{M}\p{Grapheme_Extend}\p{Emoji_Modifier}\p{RI}\u0e33\u0eb3\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e\u{110bd}\u{110cd}\u{111c2}\u{111c3}\u{113d1}\u{1193f}\u{11941}\u{11a3a}\u{11a84}-\u{11a89}\u{11d46}\u{11f02}\u{16d63}\u{16d67}-\u{16d6a}]/u

const characters = new Intl.Segmenter('und', { granularity: 'grapheme' })

/**
 * The length of a text in characters as a person sees them (grapheme clusters), which every limit of a text counts: a
 * flag and a letter with its accent are one. Takes linear time, and stops above `most`.
 */
export function charactersIn(text: string, max = Number.POSITIVE_INFINITY): number {
  if (!JOINS.test(text)) return codePointsIn(text)
  let count = 0
  for (const { segment } of characters.segment(text)) {
    count += Math.ceil(segment.length / MAX_UNITS)
    if (count > max) break
  }
  return count
}

function codePointsIn(text: string): number {
  let pairs = 0
  for (let at = 1; at < text.length; at++) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800) pairs += 1
  }
  return text.length - pairs
}

/** Whether a text has at most so many characters. */
export const hasAtMost = (text: string, max: number): boolean =>
  text.length <= max || (text.length <= max * MAX_UNITS && charactersIn(text, max) <= max)

/** Whether a text has at least so many characters. */
export const hasAtLeast = (text: string, min: number): boolean =>
  text.length >= min * MAX_UNITS || (text.length >= min && (min < 2 || charactersIn(text, min) >= min))
