import type { Reading } from '../reading'
import type { TextSpan } from '../span'
import { isForeignAround, isPlainUse } from './around'
import { ENGLISH, expanded } from './english'
import { fits, isOfWord, nextThree, type Spelling, spelledOut, spellingOf, THREES, threesOf } from './spelling'

/** How far a word is followed on either side of a stem. */
const MOST_LETTERS = 40
/** So many characters around a stem, with figures among them, are a key or data and no word. */
const LEAST_OF_DATA = 16
/** In words this short, figures make a name and no spelling: `A55`, `F4G`. */
const FEW_LETTERS = 3
/** Colours, digests and ids that read as words. */
const HEXADECIMAL = /^[a-f]*[0-9][0-9a-f]*$/

const PLAIN_WORDS = new Set(ENGLISH.PLAIN_WORDS.flatMap(expanded))
const PLAIN_ELSEWHERE = new Set(ENGLISH.PLAIN_ELSEWHERE)

/** Compiled with the first policy, and shared by all. */
let known: Starts | undefined

/** English profanity in all its spellings: figures for letters, letters repeated, replaced by signs or set apart. */
export function compileEnglish(): (view: Reading) => TextSpan[] {
  known ??= startsOf(spellings())
  const { starts, byThree } = known
  return (view) => {
    const { text } = view.letters ?? view
    const found: TextSpan[] = []
    let seen = 0
    for (const at of candidatesIn(text, starts)) {
      if (at < seen) continue
      const span = firstOf(byThree.get(threeAt(text, at))!, text, at, view)
      if (!span) continue
      found.push(span)
      seen = span.end
    }
    return found
  }
}

const spellings = (): Spelling[] => [
  ...ENGLISH.WORDS.flatMap(expanded).map((one) => spellingOf(one)),
  ...ENGLISH.FIGURES.flatMap(expanded).map((one) => spellingOf(one, true)),
  ...ENGLISH.SPELLED.map(spelledOut),
]

function firstOf(spellings: readonly Spelling[], text: string, at: number, view: Reading): TextSpan | null {
  for (const spelling of spellings) {
    const end = endOf(spelling, text, at, view)
    const span = end < 0 ? null : spanOf(spelling, { start: at, end }, view)
    if (span && isMeant(spelling, span, view)) return span
  }
  return null
}

/** Whether a word with these first three units counts inside other words too, or only at the start of one. */
const ANYWHERE = 1
const AT_WORDS = 2

/** The spellings by the three units they begin with, the longest first. */
type Starts = { starts: Uint8Array; byThree: ReadonlyMap<number, readonly Spelling[]> }

function startsOf(spellings: readonly Spelling[]): Starts {
  const starts = new Uint8Array(THREES)
  const byThree = new Map<number, Spelling[]>()
  for (const spelling of spellings.toSorted((a, b) => b.units.length - a.units.length)) {
    for (const three of threesOf(spelling)) {
      starts[three]! |= spelling.isWhole ? AT_WORDS : ANYWHERE
      const same = byThree.get(three)
      if (same) same.push(spelling)
      else byThree.set(three, [spelling])
    }
  }
  return { starts, byThree }
}

/** Where a word of the list may begin, by the first three units there; a repeated unit counts as one. */
function candidatesIn(text: string, starts: Uint8Array): number[] {
  const candidates: number[] = []
  let three = 0
  let code = -1
  let index = -1
  let before = -1
  // Goes one beyond the end, read as 0, so that a word of two letters may be the last.
  for (let at = 0; at <= text.length; at++) {
    // `charCodeAt` beyond the end makes the whole loop several times slower.
    const next = at < text.length ? text.charCodeAt(at) : 0
    if (next === code) continue
    code = next
    three = nextThree(three, code)
    const how = starts[three]!
    if (how !== 0 && before >= 0 && (how & ANYWHERE || !isOfWord(text.charCodeAt(before - 1)))) candidates.push(before)
    before = index
    index = at
  }
  return candidates
}

function threeAt(text: string, at: number): number {
  let three = 0
  for (let index = at, left = 3; left > 0; left--) {
    three = nextThree(three, text.charCodeAt(index) | 0)
    index = runEnd(text, index)
  }
  return three
}

/** Where a run of one unit ends. */
function runEnd(text: string, at: number): number {
  const code = text.charCodeAt(at)
  let end = at + 1
  while (end < text.length && text.charCodeAt(end) === code) end++
  return end
}

/** Where the spelling ends if it stands at `at`, with its doubled letters and word boundaries; else -1. */
function endOf(spelling: Spelling, text: string, at: number, view: Reading): number {
  let end = at
  for (let index = 0; index < spelling.units.length; index++) {
    if (!fits(spelling, index, text.charCodeAt(end) | 0)) return -1
    const next = runEnd(text, end)
    if (next - end < spelling.least[index]!) return -1
    end = next
  }
  return spelling.isWhole && (isOfWord(text.charCodeAt(at - 1)) || !endsWord(view.text, end)) ? -1 : end
}

const NO_MORE_LETTERS = /[0-9]*(?![a-z0-9\u00c0-\u024f])/y

/** Figures after a word are not part of it. */
function endsWord(text: string, at: number): boolean {
  NO_MORE_LETTERS.lastIndex = at
  return NO_MORE_LETTERS.test(text)
}

/** What a match covers: for a stem the whole word around it, or null in the middle of data. */
function spanOf({ isWhole }: Spelling, stem: TextSpan, { text }: Reading): TextSpan | null {
  if (isWhole) return stem
  const first = Math.max(0, stem.start - MOST_LETTERS)
  const last = Math.min(text.length, stem.end + MOST_LETTERS)
  let { start, end } = stem
  while (start > first && isOfWord(text.charCodeAt(start - 1))) start--
  while (end < last && isOfWord(text.charCodeAt(end))) end++
  const rest = text.slice(start, stem.start) + text.slice(stem.end, end)
  if (rest.length >= LEAST_OF_DATA && /[0-9]/.test(rest)) return null
  const isWord = (start > first || first === 0) && (end < last || last === text.length)
  return isWord ? { start, end } : stem
}

/** False for a plain word that is spelled the same, in English or in the language around it. */
function isMeant({ term, isFigured }: Spelling, span: TextSpan, view: Reading): boolean {
  const word = view.text.slice(span.start, span.end)
  if (PLAIN_WORDS.has(word)) return false
  if (isFigured && !/[^a-z]/.test(word)) return false
  if (HEXADECIMAL.test(word) || (term.length <= FEW_LETTERS && /[0-9]/.test(word))) return false
  if (isPlainUse(ENGLISH.PLAIN_USES, term, view.text, span)) return false
  return !((PLAIN_ELSEWHERE.has(term) || PLAIN_ELSEWHERE.has(word)) && isForeignAround(view.text, span, ['en']))
}
