import { found } from '../names/tagger'
import { plainly } from '../plain'
import type { TextSpan } from '../span'
import { findPostalAddresses } from './address'
import { findCards } from './credit-card'
import { findEmails } from './email'
import { findSpelledEmails } from './email-spelled'
import { findIbans } from './iban'
import { findAddresses } from './ip-address'
import type { Entity, Find } from './kind'
import { findPhones, loadPhoneTables } from './phone'
import { findNationalIds } from './ssn'

/** By priority: where matches of two overlap, the one listed first keeps its match. */
const FINDERS: readonly (readonly [Entity, Find])[] = [
  ['email', findEmails],
  ['email', findSpelledEmails],
  ['iban', findIbans],
  ['credit_card', findCards],
  ['ip_address', findAddresses],
  ['ssn', findNationalIds],
  ['phone', findPhones],
  ['address', findPostalAddresses],
  ['name', (text) => found(text, 'name')],
]

/** Personal data in a text, with offsets in the text as it was given. */
export type PersonalData = TextSpan & { kind: Entity }

/** Finds personal data of these kinds, in the order of the text and without overlaps. Loads the tables they need. */
export function personalDataFinder(entities: readonly Entity[]): (text: string) => PersonalData[] {
  const wanted = FINDERS.filter(([entity]) => entities.includes(entity))
  if (entities.includes('phone')) loadPhoneTables()
  return (text) => {
    const { text: plain, span } = plainly(text)
    const all = wanted.flatMap(([kind, find]) => find(plain).map(({ start, end }) => ({ start, end, kind })))
    return distinct(all).map((one) => ({ ...one, ...span(one.start, one.end) }))
  }
}

/** In the order of the text and without overlaps: the finder listed first wins. Sorting keeps it near linear. */
function distinct(found: readonly PersonalData[]): PersonalData[] {
  const ranked = found.map((one, rank) => ({ one, rank })).sort((a, b) => a.one.start - b.one.start || a.rank - b.rank)
  const kept: { one: PersonalData; rank: number }[] = []
  for (const next of ranked) {
    const last = kept.at(-1)
    if (!last || last.one.end <= next.one.start) kept.push(next)
    else if (next.rank < last.rank) kept[kept.length - 1] = next
  }
  return kept.map(({ one }) => one)
}
