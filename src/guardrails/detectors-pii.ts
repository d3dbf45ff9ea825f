import { oneOf, t } from '../kernel/schema'
import { ENTITIES, type Entity, type PersonalData, personalDataFinder } from '../text'
import { defineGuardrail } from './guardrail'

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
    'Personal data: e-mail addresses, phone and card numbers, national ids, IBANs and IP addresses, by form and check digit; on request postal addresses and names, which are recognised by a local model and often missed',
  phases: ['input', 'output', 'tool_call', 'tool_result'],
  verdicts: ['block', 'redact', 'flag'],
  config: t.Object(
    { entities: t.Optional(t.Array(oneOf(ENTITIES), { minItems: 1, uniqueItems: true })) },
    { additionalProperties: false },
  ),
  prepare({ entities = [...DEFAULT] }) {
    const find = personalDataFinder(entities)
    return (text) => {
      const matches = find(text)
      return matches.length ? { detail: `holds ${counted(matches)}`, matches } : null
    }
  },
})

function counted(found: readonly PersonalData[]): string {
  const kinds = Map.groupBy(found, ({ kind }) => kind)
  return [...kinds].map(([kind, all]) => `${NAMES[kind]} (${all.length})`).join(', ')
}
