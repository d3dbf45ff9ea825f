import { t } from '../../kernel/schema'
import { findAssigned, findKnown, findStructured, plainly } from '../../text'
import { defineGuardrail, type Match } from '../guardrail'

const NAMES: Record<string, string> = {
  api_key: 'key or token',
  private_key: 'private key',
  jwt: 'signed token',
  connection_string: 'connection string with a password',
  password: 'password',
}

export const secrets = defineGuardrail({
  id: 'secrets',
  description:
    'Keys, tokens and passwords: known key prefixes, PEM blocks, signed tokens, URLs with a password, and random-looking values after words such as `api_key`',
  phases: ['input', 'output', 'tool_call', 'tool_result'],
  verdicts: ['block', 'redact', 'flag'],
  config: t.Object({}, { additionalProperties: false }),
  prepare: () => (text) => {
    const { text: plain, span } = plainly(text)
    const found = merged(findSecrets(plain))
    if (!found.length) return null
    const kinds = Map.groupBy(found, ({ kind }) => kind)
    const detail = [...kinds].map(([kind, all]) => `${NAMES[kind]} (${all.length})`).join(', ')
    return { detail: `holds ${detail}`, matches: found.map((one) => ({ ...one, ...span(one.start, one.end) })) }
  },
})

const findSecrets = (plain: string): Match[] => [...findStructured(plain), ...findKnown(plain), ...findAssigned(plain)]

/** Whether a text holds a secret that the guardrail `secrets` finds. Linear. */
export const holdsSecret = (text: string): boolean => findSecrets(plainly(text).text).length > 0

/** Sorted, with overlapping matches merged, so that no end of a key is left. */
function merged(found: Match[]): Match[] {
  const kept: Match[] = []
  for (const next of found.sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = kept.at(-1)
    if (!last || last.end <= next.start) kept.push({ ...next })
    else last.end = Math.max(last.end, next.end)
  }
  return kept
}
