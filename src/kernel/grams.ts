import { remember } from './remember'

/**
 * Which runs of up to three characters a text holds, hashed, and in which of its parts each stood last, counted from
 * 1; 0 where none stood. Says yes too often, and never no wrongly.
 */
export type Grams = Uint8Array

/** So many parts can be told apart. */
export const MOST_PARTS = 255

const CELLS = 1 << 15
const MOST = CELLS - 1

const one = (a: number): number => Math.imul(a, 0x9e3779b1) >>> 17
const two = (a: number, b: number): number => Math.imul(Math.imul(a, 0x85ebca6b) ^ b, 0x9e3779b1) >>> 17
const three = (a: number, b: number, c: number): number =>
  (Math.imul(Math.imul(Math.imul(a, 0x85ebca6b) ^ b, 0xc2b2ae35) ^ c, 0x9e3779b1) >>> 17) & MOST

const sharedFolded = new Uint8Array(CELLS)

export const roomForGrams = (): Grams => new Uint8Array(CELLS)

export function gramsOf(text: string): Grams {
  const cells = roomForGrams()
  markGrams(cells, text, 0, text.length, 1)
  return cells
}

/** Marks the grams that end in a part of a text. */
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
 * The same with letters of ASCII small, and the two that are only other forms of one. Whoever asks for one text after
 * another shares them.
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
  // The long s and the sign of Kelvin.
  return code === 0x17f ? 115 : code === 0x212a ? 107 : code
}

function mark(cells: Grams, beforeThat: number, before: number, code: number, part: number): void {
  cells[one(code)] = part
  cells[two(before, code)] = part
  cells[three(beforeThat, before, code)] = part
}

/** Of a word the runs that a text with it must have; the longest say the most. */
export function gramsOfWord(word: string): number[] {
  const code = (at: number) => word.charCodeAt(at)
  if (word.length === 1) return [one(code(0))]
  if (word.length === 2) return [two(code(0), code(1))]
  return Array.from({ length: word.length - 2 }, (_, at) => three(code(at), code(at + 1), code(at + 2)))
}
