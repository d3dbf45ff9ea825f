/** Words before which a hyphen at a line end is kept: `pre- and post-war`. */
const SUSPENDED = /^(?:and|or|to|und|oder|bis|et|ou|y|o)\b/
/** A line that starts a new item, whatever precedes it: a list entry, a log time, a label. */
const OWN_LINE =
  /^(?: {4}|\t| {0,3}(?:[-*+•>|#]|\d{1,3}[.)] |```|~~~|\[?\d{4}-\d{2}-\d{2}[T ]|\[?\d{2}:\d{2}:\d{2}|\p{Lu}[\p{L}-]{1,20}: ))/u
/** A line shorter than this share of the longest line of its paragraph was ended deliberately. */
const FULL = 0.6
/** Narrower paragraphs are not wrapped text but addresses or verses. */
const NARROW = 40
/** Longest part of a word that is read. */
const MAX_WORD = 40
/** Scripts without spaces between words, and their punctuation. */
const SPACELESS_END = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\u3000-\u303f\uff00-\uff60]$/u
const SPACELESS_BEGIN = /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\u3000-\u303f\uff00-\uff60]/u

/** Joins the lines of a paragraph. Line ends become spaces, and hyphenated words are joined. */
export function joinLines(lines: readonly string[]): string {
  const pieces: string[] = []
  for (const line of lines) {
    const next = line.trim()
    const last = pieces.at(-1)
    if (last === undefined) pieces.push(next)
    else if (
      last.endsWith('\u00ad') ||
      (/\p{L}[-\u2010]$/u.test(last.slice(-4)) && /^\p{Ll}/u.test(next) && !SUSPENDED.test(next))
    )
      // A word that has another hyphen keeps it: `state-of-the-art`.
      pieces.splice(-1, 1, /\p{L}-\p{L}+-$/u.test(last.slice(-MAX_WORD)) ? last : last.slice(0, -1), next)
    else if (SPACELESS_END.test(last.slice(-2)) && SPACELESS_BEGIN.test(next)) pieces.push(next)
    else pieces.push(' ', next)
  }
  return pieces.join('')
}

/**
 * Joins each paragraph of a text that was wrapped at a width into one line. Lists, tables, code and deliberately short
 * lines keep their lines.
 */
export function unwrapped(text: string): string {
  const lines = text.replace(/\r\n?/g, '\n').split('\n')
  const found: string[] = []
  for (let at = 0; at < lines.length; ) {
    let end = at + 1
    while (end < lines.length && lines[at]!.trim() && lines[end]!.trim()) end++
    found.push(...partsOf(lines.slice(at, end)).map((part) => (part.length > 1 ? joinLines(part) : part[0]!)))
    at = end
  }
  return found.join('\n')
}

/** The lines of a paragraph, grouped by continuation. */
function partsOf(lines: readonly string[]): string[][] {
  if (isTable(lines)) return lines.map((line) => [line])
  const widest = lines.reduce((max, line) => Math.max(max, line.length), 0)
  const parts: string[][] = []
  for (const [at, line] of lines.entries()) {
    const before = lines[at - 1]
    const goesOn = before !== undefined && !OWN_LINE.test(line) && !/^ {0,3}(?:[#|]|```|~~~)/.test(before)
    const isFull = before !== undefined && before.length >= FULL * widest && widest >= NARROW
    if (goesOn && (isFull || (widest < NARROW && SPACELESS_BEGIN.test(line)) || /^\s*\p{Ll}/u.test(line)))
      parts.at(-1)!.push(line)
    else parts.push([line])
  }
  return parts
}

/** Table rows have as many separators as their header, and no space follows the separators of the header. */
const isTable = (lines: readonly string[]): boolean =>
  lines.length > 1 &&
  [',', ';', '\t'].some((sign) => {
    const count = lines[0]!.split(sign).length
    if (count <= (sign === ',' ? 2 : 1) || lines[0]!.includes(`${sign} `)) return false
    return lines.every((line) => line.split(sign).length >= count)
  })
