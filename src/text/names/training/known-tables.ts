import { allLocales } from '@faker-js/faker'
import { bitOf, folded, hashOf, TABLE_BYTES } from '../known'

/** The tables of `known.ts`, from the given and family names of some sixty countries. */
export function knownTables(): Buffer {
  const tables = Buffer.alloc(2 * TABLE_BYTES)
  for (const { person } of Object.values(allLocales)) {
    for (const [table, lists] of [person?.first_name, person?.last_name].entries()) {
      for (const word of wordsIn(lists)) {
        const bit = bitOf(hashOf(folded(word)))
        tables[table * TABLE_BYTES + (bit >>> 3)]! |= 1 << (bit & 7)
      }
    }
  }
  return tables
}

/** The words of a definition: lists, by sex or weighted, however deep. */
function wordsIn(lists: unknown): string[] {
  if (typeof lists === 'string') return lists.split(/[\s-]+/).filter(Boolean)
  if (Array.isArray(lists)) return lists.flatMap(wordsIn)
  if (typeof lists !== 'object' || lists === null) return []
  return 'value' in lists ? wordsIn(lists.value) : Object.values(lists).flatMap(wordsIn)
}
