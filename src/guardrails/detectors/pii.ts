import { oneOf, t } from '../../kernel/schema'
import {
  ENTITIES,
  type Entity,
  type Find,
  findAddresses,
  findCards,
  findEmails,
  findIbans,
  findNationalIds,
  findPersons,
  findPhones,
  findPostalAddresses,
  loadPhoneTables,
  plainly,
} from '../../text'
import { defineGuardrail, type Match } from '../guardrail'

/** By priority: where matches of two overlap, the one listed first keeps its match. */
const FINDERS: readonly (readonly [Entity, Find])[] = [
  ['email', findEmails],
  ['iban', findIbans],
  ['credit_card', findCards],
  ['ip_address', findAddresses],
  ['ssn', findNationalIds],
  ['phone', findPhones],
  ['address', findPostalAddresses],
  ['name', findPersons],
]
const DEFAULT: readonly Entity[] = ['email', 'phone', 'credit_card', 'ssn', 'iban', 'ip_address']
const NAMES: Record<Entity, string> = {
  email: 'e-mail address',
  phone: 'phone number',
  credit_card: 'card number',
  ssn: 'national id number',
  iban: 'bank account number',
  ip_address: 'IP address',
  address: 'postal address',
  name: 'name of a person',
}

export const pii = defineGuardrail({
  id: 'pii',
  description:
    'Personal data: e-mail addresses, phone and card numbers, national ids, IBANs and IP addresses, by form and check digit; on request postal addresses and names, which are recognised by words around them and often missed',
  phases: ['input', 'output', 'tool_call', 'tool_result'],
  verdicts: ['block', 'redact', 'flag'],
  config: t.Object(
    { entities: t.Optional(t.Array(oneOf(ENTITIES), { minItems: 1, uniqueItems: true })) },
    { additionalProperties: false },
  ),
  prepare({ entities = [...DEFAULT] }) {
    const wanted = FINDERS.filter(([entity]) => entities.includes(entity))
    if (entities.includes('phone')) loadPhoneTables()
    return (text) => {
      const { text: plain, span } = plainly(text)
      const found = distinct(
        wanted.flatMap(([kind, find]) => find(plain).map(({ start, end }) => ({ start, end, kind }))),
      )
      if (!found.length) return null
      return {
        detail: `holds ${counted(found)}`,
        matches: found.map((one) => ({ ...one, ...span(one.start, one.end) })),
      }
    }
  },
})

type Found = Match & { kind: Entity }

/** In the order of the text and without overlaps: the finder listed first wins. Sorting keeps it near linear. */
function distinct(found: readonly Found[]): Found[] {
  const ranked = found.map((one, rank) => ({ one, rank })).sort((a, b) => a.one.start - b.one.start || a.rank - b.rank)
  const kept: { one: Found; rank: number }[] = []
  for (const next of ranked) {
    const last = kept.at(-1)
    if (!last || last.one.end <= next.one.start) kept.push(next)
    else if (next.rank < last.rank) kept[kept.length - 1] = next
  }
  return kept.map(({ one }) => one)
}

function counted(found: readonly Found[]): string {
  const kinds = Map.groupBy(found, ({ kind }) => kind)
  return [...kinds].map(([kind, all]) => `${NAMES[kind]} (${all.length})`).join(', ')
}
