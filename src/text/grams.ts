import { remember } from './runs'

/**
 * The n-grams (runs of one to three characters) of a text. The cell of an n-gram's hash contains the number of the last
 * part of the text in which it ends, counted from 1, or 0 for none. May report an n-gram that is absent, but never
 * misses one that is present.
 */
export type Grams = Uint8Array

/** The highest number of a part that fits in a cell. */
export const MAX_PARTS = 255

const CELLS = 1 << 15
const MASK = CELLS - 1

const one = (a: number): number => Math.imul(a, 0x9e3779b1) >>> 17
const two = (a: number, b: number): number => Math.imul(Math.imul(a, 0x85ebca6b) ^ b, 0x9e3779b1) >>> 17
const three = (a: number, b: number, c: number): number =>
  (Math.imul(Math.imul(Math.imul(a, 0x85ebca6b) ^ b, 0xc2b2ae35) ^ c, 0x9e3779b1) >>> 17) & MASK

const sharedFolded = new Uint8Array(CELLS)

/** Cells for {@link markGrams}, all empty. */
export const roomForGrams = (): Grams => new Uint8Array(CELLS)

/** The n-grams of a text, as one part. */
export function gramsOf(text: string): Grams {
  const cells = roomForGrams()
  markGrams(cells, text, 0, text.length, 1)
  return cells
}

/** Marks the n-grams that end between two offsets as belonging to part `part`. */
export function markGrams(cells: Grams, text: string, start: number, end: number, part: number): void {
  let beforeThat = start > 1 ? text.charCodeAt(start - 2) : 0
  let before = start > 0 ? text.charCodeAt(start - 1) : 0
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    mark(cells, beforeThat, before, code, part)
    beforeThat = before
    before = code
  }
}

/**
 * The n-grams of a text, in ASCII lower case. Cached for the last text, because many patterns read the same one in a
 * row. Valid until the next text is read.
 */
export const foldedGramsOf = remember((text: string): Grams => {
  const cells = sharedFolded.fill(0)
  let before = 0
  let beforeThat = 0
  for (let at = 0; at < text.length; at++) {
    const code = folded(text.charCodeAt(at))
    mark(cells, beforeThat, before, code, 1)
    beforeThat = before
    before = code
  }
  return cells
})

const folded = (code: number): number => {
  if (code < 0x80) return code >= 65 && code <= 90 ? code + 32 : code
  // The long s and the Kelvin sign match `s` and `k` in case-insensitive patterns.
  return code === 0x17f ? 115 : code === 0x212a ? 107 : code
}

function mark(cells: Grams, beforeThat: number, before: number, code: number, part: number): void {
  cells[one(code)] = part
  cells[two(before, code)] = part
  cells[three(beforeThat, before, code)] = part
}

/** N-grams that every text with this word contains. Only the longest, because these rule out most texts. */
export function gramsOfWord(word: string): number[] {
  const code = (at: number) => word.charCodeAt(at)
  if (word.length === 1) return [one(code(0))]
  if (word.length === 2) return [two(code(0), code(1))]
  return Array.from({ length: word.length - 2 }, (_, at) => three(code(at), code(at + 1), code(at + 2)))
}
