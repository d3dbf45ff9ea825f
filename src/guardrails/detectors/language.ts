import { quoted } from '../../kernel/errors'
import { t } from '../../kernel/schema'
import { foreignTo, isLanguageCode } from '../../text'
import { defineGuardrail, InvalidConfig } from '../guardrail'

export const language = defineGuardrail({
  id: 'language',
  description:
    'Texts in a language that is not on your list, detected by script and letter groups. Allows code and texts too short to tell',
  phases: ['input', 'output'],
  verdicts: ['block', 'flag'],
  config: t.Object(
    {
      allowed: t.Array(t.String({ minLength: 2, maxLength: 2, description: 'ISO 639-1 code, such as `en`' }), {
        minItems: 1,
        maxItems: 100,
      }),
    },
    { additionalProperties: false },
  ),
  prepare({ allowed }) {
    const unknown = allowed.findIndex((code) => !isLanguageCode(code))
    if (unknown >= 0) {
      const what = `is "${quoted(allowed[unknown]!)}", which is not an ISO 639-1 code such as "en"`
      throw new InvalidConfig(`allowed[${unknown}]`, what)
    }
    const isForeign = foreignTo(allowed)
    return (text) => (isForeign(text) ? { detail: 'is in a language that is not on the list', matches: [] } : null)
  },
})
