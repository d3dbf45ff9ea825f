import { t } from '../../kernel/schema'
import { profanityFinder } from '../../text'
import { defineGuardrail } from '../guardrail'

export const profanity = defineGuardrail({
  id: 'profanity',
  description:
    'Profanity: English words in their inflected and disguised spellings, and the most common words of sixteen other languages. Allows medical terms and words that are harmless in the language of the text',
  phases: ['input', 'output'],
  verdicts: ['block', 'redact', 'flag'],
  config: t.Object({}, { additionalProperties: false }),
  prepare() {
    const find = profanityFinder()
    return (text) => {
      const matches = find(text)
      return matches.length ? { detail: `holds rude words (${matches.length})`, matches } : null
    }
  },
})
