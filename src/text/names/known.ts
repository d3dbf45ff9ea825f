import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Which words are given or family names somewhere, words for streets, or places: a table of bits for each, that
 * `training/known-tables.ts` makes from the lists of the `@faker-js/faker` package. Any other word is taken for
 * one in two of a hundred cases.
 */
export const KNOWN_FILE = join(import.meta.dir, 'known.bin')

const BITS = 20
/** Bytes of one table. */
export const TABLE_BYTES = 2 ** BITS / 8
export const TABLES = ['given', 'family', 'street', 'place'] as const

let tables: Buffer | undefined

/** Reads the tables ahead of the first text. Throws Error when the installation is broken. */
export function knownNames(): Buffer {
  if (tables) return tables
  const bytes = readFileSync(KNOWN_FILE)
  if (bytes.length !== TABLES.length * TABLE_BYTES) throw new Error(`${KNOWN_FILE} is not whole: ${bytes.length} bytes`)
  tables = bytes
  return bytes
}

/** The place of a word's bit in a table, from its {@link hashOf}. */
export const bitOf = (hash: number): number => hash >>> (32 - BITS)

/** Whether a word, by its hash, is a given name (1), a family name (2), both (3) or neither (0). */
export const knownAs = (tables: Buffer, hash: number): number => bitsOf(tables, hash, 0)

/** Whether a word, by its hash, is one for streets (1), a place (2), both (3) or neither (0). */
export const placeAs = (tables: Buffer, hash: number): number => bitsOf(tables, hash, 2 * TABLE_BYTES)

/** The word's bits in the table at `from` and the one behind it. */
function bitsOf(tables: Buffer, hash: number, from: number): number {
  const bit = bitOf(hash)
  const mask = 1 << (bit & 7)
  const at = from + (bit >>> 3)
  return (tables[at]! & mask ? 1 : 0) | (tables[TABLE_BYTES + at]! & mask ? 2 : 0)
}

const ACCENTS = /[\u0300-\u036f]/g
/** Scripts that write no accents, from here on or in ASCII, are spared the search for them. */
const FIRST_EASTERN = 0x2e80
const ASCII = /^\p{ASCII}*$/u

/** A word in lower case without the accents of Latin, Greek and Cyrillic letters. */
export const folded = (word: string): string => {
  const lower = word.toLowerCase()
  return ASCII.test(lower) || lower.charCodeAt(0) >= FIRST_EASTERN
    ? lower
    : lower.normalize('NFD').replace(ACCENTS, '').normalize('NFC')
}

/** FNV-1a over the UTF-16 units of `text` from `from` to `to`, finished so that every bit depends on all units. */
export function hashOf(text: string, from = 0, to = text.length): number {
  let sum = 0x811c9dc5
  for (let at = from; at < to; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193)
  sum = Math.imul(sum ^ (sum >>> 15), 0x2c1b3c6d)
  return (sum ^ (sum >>> 13)) >>> 0
}
