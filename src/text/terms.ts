import { readable } from './injection/readable'
import { unitsOf } from './runs'

/** Compiled terms. `find` answers offsets in the text it was given. */
export type Terms = { find(text: string): { start: number; end: number; term: string }[] }

const isLetter = unitsOf(/[\p{L}\p{N}\p{M}_]/u)
/** Scripts without blanks between words, whose word boundaries cannot be seen. */
const SPACELESS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u

/**
 * Finds all terms in one pass over a text made readable. Terms are normalized in the same way, so case, accents and
 * width do not matter; with `asWords` a term must stand as a word of its own.
 */
export function compileTerms(terms: readonly string[], asWords: boolean): Terms {
  const known = [...new Set(terms.map((term) => readable(term).text.trim()).filter(Boolean))]
  // The longest first, so that of several terms at a place the longest is found.
  known.sort((a, b) => b.length - a.length)
  const byFirst = Map.groupBy(known, (term) => term.charCodeAt(0))
  const byCell = Map.groupBy(known, (term) => cellOf(term, 0))
  const { firsts, starts } = startsOf(known)
  return {
    find(text) {
      const found = []
      let code = 0
      for (let at = 0; at < text.length; at++) {
        const before = code
        code = text.charCodeAt(at)
        // Inside a word, as most of a text is, no term begins.
        if (asWords && before >= 97 && before <= 122 && code >= 97 && code <= 122) continue
        const first = firsts[code]!
        if (first === 0) continue
        const cell = cellOf(text, at)
        if (!(first & SHORT) && !starts[cell]) continue
        if (asWords && !isEdge(text, at, at)) continue
        const term = termAt(text, at, (first & SHORT ? byFirst.get(code) : byCell.get(cell))!, asWords)
        if (!term) continue
        found.push({ start: at, end: at + term.length, term })
        at += term.length - 1
        code = text.charCodeAt(at)
      }
      return found
    },
  }
}

const CELLS = 1 << 12
const STARTS_WITH = 3

/** Hash of the three units at a place; 0 where the text ends before. */
function cellOf(text: string, at: number): number {
  if (at + STARTS_WITH > text.length) return 0
  return ((text.charCodeAt(at) << 10) ^ (text.charCodeAt(at + 1) << 5) ^ text.charCodeAt(at + 2)) & (CELLS - 1)
}

/** What begins with a unit: a term of at least three units, or one that is too short for a cell. */
const BEGINS = 1
const SHORT = 2

/** Which units, and which hashes of three units, terms begin with: they rule out most of a text. */
function startsOf(terms: readonly string[]): { firsts: Uint8Array; starts: Uint8Array } {
  const firsts = new Uint8Array(1 << 16)
  const starts = new Uint8Array(CELLS)
  for (const term of terms) {
    firsts[term.charCodeAt(0)]! |= term.length < STARTS_WITH ? SHORT : BEGINS
    if (term.length >= STARTS_WITH) starts[cellOf(term, 0)] = 1
  }
  return { firsts, starts }
}

const termAt = (text: string, at: number, terms: readonly string[], asWords: boolean): string | undefined =>
  terms.find((term) => text.startsWith(term, at) && (!asWords || isEdge(text, at + term.length, at)))

/** Whether a word may begin or end at `at`; `inside` is an offset within the term. */
function isEdge(text: string, at: number, inside: number): boolean {
  if (at === 0 || at >= text.length || !isLetter(text.charCodeAt(at - 1)) || !isLetter(text.charCodeAt(at))) return true
  return text.charCodeAt(inside) > 0x7f && SPACELESS.test(text[inside]!)
}
