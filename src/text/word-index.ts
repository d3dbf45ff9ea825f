import { unitsOf } from './runs'

/** Which words a text has and how its words begin, without a string for each of them. */
export type WordIndex = {
  /** `size` is the number of different words, counted up to 32. */
  words: { readonly size: number; has(word: Hashed): boolean }
  /** Beginnings of `SHORTEST` to `LONGEST` letters. */
  beginnings: { has(stem: Hashed): boolean }
}

/** A word to look up and its hash, which is computed once for all texts. */
export type Hashed = { text: string; hash: number }

export const SHORTEST = 4
const LONGEST = 16
const MOST_COUNTED = 32

const BASIS = 0x811c9dc5
const PRIME = 0x01000193
const CELLS = 1 << 16

const isPart = unitsOf(/[\p{L}\p{M}\p{N}]/u)

const mix = (sum: number, code: number): number => Math.imul(sum ^ code, PRIME)
const hashOf = (word: string): number => {
  let sum = BASIS
  for (let at = 0; at < word.length; at++) sum = mix(sum, word.charCodeAt(at))
  return sum
}
const cellOf = (sum: number): number => (sum ^ (sum >>> 16)) & (CELLS - 1)

/** Bit set of hashes. Shared by all texts, so an index is valid until the next text is read. */
const cells = new Int32Array(CELLS / 32)

function mark(sum: number): void {
  const cell = cellOf(sum)
  cells[cell >>> 5]! |= 1 << (cell & 31)
}

function isMarked(sum: number): boolean {
  const cell = cellOf(sum)
  return ((cells[cell >>> 5]! >>> (cell & 31)) & 1) === 1
}

/** Indexes a text in lower case; words whose hash is in `general` count as absent. Linear. */
export function wordIndexOf(text: string, general: ReadonlySet<number>): WordIndex {
  cells.fill(0)
  const counted = new Set<number>()
  for (let at = 0; at < text.length; ) {
    if (!isPart(text.charCodeAt(at))) {
      at++
      continue
    }
    let sum = BASIS
    const start = at
    for (; at < text.length && isPart(text.charCodeAt(at)); at++) {
      sum = mix(sum, text.charCodeAt(at))
      const length = at + 1 - start
      if (length >= SHORTEST && length <= LONGEST) mark(sum)
    }
    mark(sum)
    if (counted.size < MOST_COUNTED && !general.has(sum)) counted.add(sum)
  }
  // Hashes can collide: a word that seems to be there is searched in the text itself.
  const stands = ({ text: stem, hash }: Hashed, isWhole: boolean): boolean => {
    if (!isMarked(hash)) return false
    for (let at = text.indexOf(stem); at >= 0; at = text.indexOf(stem, at + 1)) {
      if (at > 0 && isPart(text.charCodeAt(at - 1))) continue
      let end = at + stem.length
      while (end < text.length && isPart(text.charCodeAt(end))) end++
      if (isWhole ? end === at + stem.length : !general.has(hashOf(text.slice(at, end)))) return true
    }
    return false
  }
  return {
    words: { size: counted.size, has: (word) => !general.has(word.hash) && stands(word, true) },
    beginnings: { has: (stem) => stem.text.length >= SHORTEST && stem.text.length <= LONGEST && stands(stem, false) },
  }
}

export const hashed = (text: string): Hashed => ({ text, hash: hashOf(text) })
export const hashesOf = (words: Iterable<string>): ReadonlySet<number> => new Set([...words].map(hashOf))
