import { allLocales } from '@faker-js/faker'
import { bitOf, folded, hashOf, TABLE_BYTES, TABLES } from '../../text/names/known'

/** The tables of `known.ts`, from the names, street words and places of some sixty countries. */
export function knownTables(): Buffer {
  const tables = Buffer.alloc(TABLES.length * TABLE_BYTES)
  for (const { person, location } of Object.values(allLocales)) {
    const lists: Record<(typeof TABLES)[number], unknown> = {
      given: person?.first_name,
      family: person?.last_name,
      street: [location?.street_suffix, location?.street_prefix],
      place: [location?.city_name, location?.state, location?.county, location?.country],
    }
    for (const [table, name] of TABLES.entries()) {
      for (const word of wordsIn(lists[name])) {
        const bit = bitOf(hashOf(folded(word)))
        tables[table * TABLE_BYTES + (bit >>> 3)]! |= 1 << (bit & 7)
      }
    }
  }
  return tables
}

/** The words of a definition, which may be lists, weighted, grouped by sex, and nested. */
function wordsIn(lists: unknown): string[] {
  if (typeof lists === 'string') return lists.split(/[\s,.()/-]+/).filter((word) => !/^\p{ASCII}?$/u.test(word))
  if (Array.isArray(lists)) return lists.flatMap(wordsIn)
  if (typeof lists !== 'object' || lists === null) return []
  return 'value' in lists ? wordsIn(lists.value) : Object.values(lists).flatMap(wordsIn)
}
