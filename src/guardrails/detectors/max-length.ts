import { charactersIn, hasAtMost } from '../../kernel/characters'
import { t } from '../../kernel/schema'
import { defineGuardrail } from '../guardrail'

export const maxLength = defineGuardrail({
  id: 'max_length',
  description: 'Texts longer than `max_chars` characters (an emoji, or a letter with its accents, is one)',
  phases: ['input', 'output'],
  verdicts: ['block', 'flag'],
  config: t.Object({ max_chars: t.Integer({ minimum: 1 }) }, { additionalProperties: false }),
  prepare({ max_chars }) {
    return (text) =>
      hasAtMost(text, max_chars)
        ? null
        : { detail: `has ${charactersIn(text)} characters; at most ${max_chars} are allowed`, matches: [] }
  },
})
