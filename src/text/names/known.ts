import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Words that are given or family names in some country, street words, or places, in one bit table each.
 * `training/known-tables.ts` generates the tables from the lists of the `@faker-js/faker` package. Any other word is
 * found in a table in two percent of cases.
 */
export const KNOWN_FILE = join(import.meta.dir, 'known.bin')

const BITS = 20
/** Bytes of one table. */
export const TABLE_BYTES = 2 ** BITS / 8
export const TABLES = ['given', 'family', 'street', 'place'] as const

let tables: Buffer | undefined

/** Reads the tables before the first text. Throws Error when the installation is broken. */
export function knownNames(): Buffer {
  if (tables) return tables
  const bytes = readFileSync(KNOWN_FILE)
  if (bytes.length !== TABLES.length * TABLE_BYTES) throw new Error(`${KNOWN_FILE} is not whole: ${bytes.length} bytes`)
  tables = bytes
  return bytes
}

/** The position of a word's bit in a table, from its {@link hashOf}. */
export const bitOf = (hash: number): number => hash >>> (32 - BITS)

/** Whether a word, by its hash, is a given name (1), a family name (2), both (3) or neither (0). */
export const knownAs = (tables: Buffer, hash: number): number => bitsOf(tables, hash, 0)

/** Whether a word, by its hash, is a street word (1), a place (2), both (3) or neither (0). */
export const placeAs = (tables: Buffer, hash: number): number => bitsOf(tables, hash, 2 * TABLE_BYTES)

/** The word's bits in the table at `from` and in the next one. */
function bitsOf(tables: Buffer, hash: number, from: number): number {
  const bit = bitOf(hash)
  const mask = 1 << (bit & 7)
  const at = from + (bit >>> 3)
  return (tables[at]! & mask ? 1 : 0) | (tables[TABLE_BYTES + at]! & mask ? 2 : 0)
}

const ACCENTS = /[\u0300-\u036f]/g
/** Scripts from this code point on have no accents, so they skip the normalization, like ASCII words. */
const FIRST_EASTERN = 0x2e80
const ASCII = /^\p{ASCII}*$/u

/** A word in lower case without the accents of Latin, Greek and Cyrillic letters. */
export const folded = (word: string): string => {
  const lower = word.toLowerCase()
  return ASCII.test(lower) || lower.charCodeAt(0) >= FIRST_EASTERN
    ? lower
    : lower.normalize('NFD').replace(ACCENTS, '').normalize('NFC')
}

/** FNV-1a over the UTF-16 units of `text` from `from` to `to`. A final mix makes all bits depend on all units. */
export function hashOf(text: string, from = 0, to = text.length): number {
  let sum = 0x811c9dc5
  for (let at = from; at < to; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193)
  sum = Math.imul(sum ^ (sum >>> 15), 0x2c1b3c6d)
  return (sum ^ (sum >>> 13)) >>> 0
}
