import { t } from '../../kernel/schema'
import { findSecrets } from '../../text'
import { defineGuardrail } from '../guardrail'

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
    const matches = findSecrets(text)
    if (!matches.length) return null
    const kinds = Map.groupBy(matches, ({ kind }) => kind)
    const detail = [...kinds].map(([kind, all]) => `${NAMES[kind]} (${all.length})`).join(', ')
    return { detail: `holds ${detail}`, matches }
  },
})
