import { t } from '../../kernel/schema'
import { defineGuardrail } from '../guardrail'

/** Characters are UTF-16 units, as everywhere in the contract. */
export const maxLength = defineGuardrail({
  id: 'max_length',
  description: 'Texts longer than `max_chars` characters, counted in UTF-16 units (most emoji count as two)',
  phases: ['input', 'output'],
  verdicts: ['block', 'flag'],
  config: t.Object({ max_chars: t.Integer({ minimum: 1 }) }, { additionalProperties: false }),
  prepare({ max_chars }) {
    return (text) =>
      text.length > max_chars
        ? { detail: `has ${text.length} characters; at most ${max_chars} are allowed`, matches: [] }
        : null
  },
})
