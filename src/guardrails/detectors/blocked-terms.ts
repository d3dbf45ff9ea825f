import { oneOf, t } from '../../kernel/schema'
import { compileTerms, reading } from '../../text'
import { defineGuardrail, InvalidConfig } from '../guardrail'

export const blockedTerms = defineGuardrail({
  id: 'blocked_terms',
  description:
    'Terms of your list, as whole words or anywhere (`match`). Ignores case, accents and character width, and sees through look-alike letters and invisible characters',
  phases: ['input', 'output'],
  verdicts: ['block', 'redact', 'flag'],
  config: t.Object(
    {
      terms: t.Array(t.String({ minLength: 1, maxLength: 200 }), { minItems: 1, maxItems: 200 }),
      match: t.Optional(oneOf(['word', 'substring'], { default: 'word' })),
    },
    { additionalProperties: false },
  ),
  prepare({ terms, match = 'word' }) {
    const blank = terms.findIndex((term) => !/[^\s\p{C}\p{M}]/u.test(term))
    if (blank >= 0) throw new InvalidConfig(`terms[${blank}]`, 'has no visible letter, digit or sign to match')
    const compiled = compileTerms(terms, match === 'word')
    return (text) => {
      const view = reading(text)
      const found = compiled.find(view.text)
      if (!found.length) return null
      const matches = found.map(({ start, end }) => ({ ...view.span(start, end), kind: 'blocked_term' }))
      return { detail: `holds blocked terms (${found.length})`, matches }
    }
  },
})
