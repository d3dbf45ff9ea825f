/** A quotable sentence of a text. Offsets are UTF-16 units of the text, as in `text.slice`. */
export type Passage = { start: number; end: number; text: string }

/** Maximum number of characters read. The rest of a page is seldom on its subject. */
export const MAX_CHARS = 60_000
const SHORTEST_CHARS = 30
const LONGEST_CHARS = 600
const MIN_WORDS = 5
/** Marks of lists, tables and quotations before the words of a line. */
const LEAD = /^(?:[-*•>|]\s*|\d{1,3}[.)]\s+|\[[ x]\]\s*)+/
const HEADING = /^#{1,6}\s/
const SPACELESS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u
const WORD = /[\p{L}\p{N}]+/gu
const ENDS = /[.!?。！？]["'”’»)\]]*$/
/** Abbreviations after which a full stop does not end the sentence. */
const SHORT_FORM =
  /(?:^|[\s(])(?:\p{Lu}|(?:[a-z]\.){1,3}[a-z]|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|Inc|Ltd|Co|Corp|No|Nos|Fig|vs|approx|ca|cf|et al|etc|e\.g|i\.e|U\.S|U\.K|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec)\.$/u
/** Words of a page about itself. */
const ABOUT_PAGE =
  /\b(?:cookies?|javascript|subscribe|newsletter|sign (?:in|up)|log ?in|privacy policy|terms of (?:use|service)|all rights reserved|©|share (?:this|on)|click here|read more|advertisement|skip to)\b/i

/** The quotable sentences of a text: complete, of a suitable length, and neither headings nor questions. */
export function passagesOf(whole: string): Passage[] {
  const text = whole.length > MAX_CHARS ? whole.slice(0, MAX_CHARS) : whole
  const found: Passage[] = []
  for (const line of linesOf(text)) {
    if (HEADING.test(line.text)) continue
    const lead = LEAD.exec(line.text)?.[0].length ?? 0
    for (const { start, end } of sentencesIn(line.text, lead)) {
      const sentence = line.text.slice(start, end)
      if (isQuotable(sentence)) found.push({ start: line.start + start, end: line.start + end, text: sentence })
    }
  }
  return found
}

function* linesOf(text: string): Generator<{ start: number; text: string }> {
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf('\n', start)
    const end = found < 0 ? text.length : found
    yield { start, text: text.slice(start, end) }
    start = end + 1
  }
}

function sentencesIn(line: string, from: number): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = []
  let start = from
  const close = (end: number): void => {
    const text = line.slice(start, end)
    const before = text.length - text.trimStart().length
    if (text.trim()) found.push({ start: start + before, end: start + text.trimEnd().length })
    start = end
  }
  for (const { 0: stop, index } of line.matchAll(/(?<![.!?])[.!?]+["'”’»)\]]*(?=\s)|[。！？]+["'”’»)\]]*/g)) {
    const end = index + stop.length
    if (end <= start || isShortForm(line, start, index, end)) continue
    close(end)
  }
  close(line.length)
  return found
}

/** A full stop does not end the sentence after an abbreviation, or before a lower-case word. */
function isShortForm(line: string, start: number, at: number, end: number): boolean {
  if (line[at] !== '.') return false
  if (/^\s+\p{Ll}/u.test(line.slice(end, end + 8))) return true
  return SHORT_FORM.test(line.slice(Math.max(start, at - 12), at + 1))
}

function isQuotable(sentence: string): boolean {
  if (sentence.length > LONGEST_CHARS || sentence.endsWith('?') || sentence.includes(' | ')) return false
  if (SPACELESS.test(sentence)) return sentence.length >= SHORTEST_CHARS / 3 && ENDS.test(sentence)
  if (sentence.length < SHORTEST_CHARS || ABOUT_PAGE.test(sentence)) return false
  const words = sentence.match(WORD)?.length ?? 0
  return words >= (ENDS.test(sentence) ? MIN_WORDS : 2 * MIN_WORDS)
}
