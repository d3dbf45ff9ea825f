import { LOOKING_LATIN, toLatin } from './confusables'
import { isLetter, madeOf } from './units'

/** A text made readable. `at` contains the original offset of each of its UTF-16 units. */
export type View = {
  text: string
  at: Int32Array
  /** Whether invisible characters were dropped. Set only by `readable`, not in derived views. */
  hides?: boolean
}

/** A view in which some words were rewritten, with their positions. */
export type Rewritten = View & { changed: readonly Stretch[] }
/** Part of a readable text, in its offsets. */
export type Stretch = { start: number; end: number }

/** Longer runs of letters are not words. */
const MAX_LETTERS = 40
const OTHERS = /[\u00a0-\uffff]/g

/** Kinds of units, used to find words that mix scripts. */
const LATIN = 1
const LOOKS_LATIN = 2
const BOTH = LATIN | LOOKS_LATIN
const OTHER_PART = 4
const NO_PART = 8
/** Kind of each UTF-16 unit. 0 until the first lookup. */
const SCRIPTS = new Uint8Array(1 << 16)
function scriptOf(code: number): number {
  if (code >= 97 && code <= 122) SCRIPTS[code] = LATIN
  else if (code < 0xa0 || !isLetter(code)) SCRIPTS[code] = NO_PART
  else SCRIPTS[code] = toLatin(String.fromCharCode(code)) ? LOOKS_LATIN : OTHER_PART
  return SCRIPTS[code]!
}

/** The text with look-alike letters of other scripts made Latin, in words that mix scripts. Null if nothing changes. */
export function latinized({ text, at }: View): Rewritten | null {
  if (!LOOKING_LATIN.test(text)) return null
  const { out, changed } = rewritten(text, mixedWords(text), (word) =>
    word.replace(OTHERS, (letter) => toLatin(letter) ?? letter),
  )
  return changed.length === 0 || out.length !== text.length ? null : { text: out, at, changed }
}

/** Words with both Latin letters and letters of other scripts that look Latin. */
function mixedWords(text: string): Stretch[] {
  const words: Stretch[] = []
  let start = 0
  let held = 0
  // One step past the end, to close the last word.
  for (let at = 0; at <= text.length; at++) {
    const code = at < text.length ? text.charCodeAt(at) : 0
    const kind = SCRIPTS[code] || scriptOf(code)
    if (kind === NO_PART) {
      if ((held & BOTH) === BOTH) words.push({ start, end: at })
      start = at + 1
      held = 0
    } else held |= kind
  }
  return words
}

/** Rewrites the given words of a text. `changed` contains those that became different. */
function rewritten(
  text: string,
  words: readonly Stretch[],
  write: (word: string) => string,
): { out: string; changed: readonly Stretch[] } {
  const changed: Stretch[] = []
  let out = ''
  let done = 0
  for (const { start, end } of words) {
    if (end - start > MAX_LETTERS) continue
    const word = text.slice(start, end)
    const rewrittenWord = write(word)
    if (rewrittenWord === word) continue
    out += text.slice(done, start) + rewrittenWord
    changed.push({ start, end })
    done = end
  }
  return { out: done === 0 ? text : out + text.slice(done), changed }
}

/** Number of characters on either side of a stretch that a rule may need. */
const AROUND = 240

/** The parts of a view around ordered stretches. Merges parts that would overlap. */
export function allAround(view: View, stretches: readonly Stretch[]): View[] {
  const wide: Stretch[] = []
  for (const { start, end } of stretches) {
    const last = wide.at(-1)
    if (last && start - last.end <= 2 * AROUND) last.end = Math.max(last.end, end)
    else wide.push({ start, end })
  }
  return wide.map((stretch) => around(view, stretch))
}

/** The part of a view around one stretch. */
function around({ text, at }: View, { start, end }: Stretch): View {
  const from = Math.max(0, start - AROUND)
  const to = Math.min(text.length, end + AROUND)
  return { text: text.slice(from, to), at: at.subarray(from, to) }
}

/** The parts of a rewritten view around changed words that match `interest`. The view `before` contained the rest. */
export function changedParts(view: Rewritten, before: View, interest: RegExp): View[] {
  const parts: View[] = []
  let start = -1
  let end = -1
  for (const changed of view.changed) {
    for (let index = changed.start; index < changed.end; index++) {
      if (view.text.charCodeAt(index) === before.text.charCodeAt(index)) continue
      const word = wordAround(view.text, index)
      index = word.end
      if (!interest.test(word.text)) continue
      if (start >= 0 && word.start - AROUND > end) {
        parts.push(around(view, { start, end }))
        start = -1
      }
      if (start < 0) start = word.start
      end = word.end
    }
  }
  if (start >= 0) parts.push(around(view, { start, end }))
  return parts
}

const isLetterAt = (text: string, at: number): boolean => isLetter(text.charCodeAt(at))

function wordAround(text: string, index: number): { text: string; start: number; end: number } {
  let start = index
  let end = index + 1
  while (start > 0 && index - start < MAX_LETTERS && isLetterAt(text, start - 1)) start--
  while (end < text.length && end - index < MAX_LETTERS && isLetterAt(text, end)) end++
  return { text: text.slice(start, end), start, end }
}

/** By UTF-16 unit: the letter that a digit or sign represents. 0 for all others. */
const MEANT = new Uint8Array(1 << 16)
for (const [sign, letter] of '0o 1i 3e 4a 5s 7t 8b 9g @a $s !i |i +t €e £l'.split(' ')) {
  MEANT[sign!.charCodeAt(0)] = letter!.charCodeAt(0)
}
/** The usual digits and signs for letters. A text without any of them is not rewritten. */
const FIGURE = /[0134579@$!|]/
/** A letter next to a digit or sign. Every word that contains both has such a pair. */
const BESIDE = /[a-z][0-9@$!|+€£]|[0-9@$!|+€£][a-z]/g
const IN_WORD = new Uint8Array(1 << 16)
IN_WORD.fill(1, 97, 123)
for (const sign of '0123456789@$!|+€£') IN_WORD[sign.charCodeAt(0)] = 1

/** The text with digits and signs inside words read as letters (`1gn0r3` is `ignore`). Null if nothing changes. */
export function unleeted({ text, at }: View): Rewritten | null {
  if (!FIGURE.test(text)) return null
  const { out, changed } = rewritten(text, wordsInFigures(text), inLetters)
  return changed.length ? { text: out, at, changed } : null
}

function inLetters(word: string): string {
  let letters = ''
  for (let at = 0; at < word.length; at++) {
    const code = word.charCodeAt(at)
    letters += String.fromCharCode(MEANT[code] || code)
  }
  return letters
}

function wordsInFigures(text: string): Stretch[] {
  const words: Stretch[] = []
  BESIDE.lastIndex = 0
  while (BESIDE.test(text)) {
    let start = BESIDE.lastIndex - 2
    let end = BESIDE.lastIndex
    while (start > 0 && IN_WORD[text.charCodeAt(start - 1)]) start--
    while (end < text.length && IN_WORD[text.charCodeAt(end)]) end++
    words.push({ start, end })
    BESIDE.lastIndex = end
  }
  return words
}

/** Rot13 of words that attacks need, for rules, prompts or secrets. A text without any of them is not rotated. */
const ROTATED =
  /cebzcg|vafgehpgvba|ehyr|thvqryvar|qverpgvir|thneqenvy|erfgevpgvba|cnffjbeq|perqragvny|xrlf|frperg|pbafgenvag|svygre/

/** The text in rot13. Null if that cannot be an attack. */
export const rotated = ({ text, at }: View): View | null =>
  ROTATED.test(text)
    ? { text: text.replace(/[a-z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 84) % 26) + 97)), at }
    : null

/** Only the Latin letters of a view, without gaps. */
export function squeezed({ text, at }: View): View {
  const units = new Uint16Array(text.length)
  const offsets = new Int32Array(text.length)
  let length = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code < 97 || code > 122) continue
    units[length] = code
    offsets[length++] = at[index]!
  }
  return { text: madeOf(units, length), at: offsets.subarray(0, length) }
}
