import { t } from '../../kernel/schema'
import { defineGuardrail } from '../guardrail'
import { compileTerms } from '../text/terms'
import { reading } from '../text/words'
import { compileEnglish } from './profanity/english'
import { RUDE } from './profanity/others'

export const profanity = defineGuardrail({
  id: 'profanity',
  description:
    'Rude words: English ones in all their forms and spellings, the commonest of sixteen other languages; words of medicine and places that hold one pass',
  phases: ['input', 'output'],
  verdicts: ['block', 'redact', 'flag'],
  config: t.Object({}, { additionalProperties: false }),
  prepare() {
    const english = compileEnglish()
    const others = compileTerms(RUDE, true)
    return (text) => {
      const view = reading(text)
      const found = [...english(view), ...others.find(view.text)].sort((a, b) => a.start - b.start)
      if (!found.length) return null
      const apart = found.filter(({ start }, place) => place === 0 || start >= found[place - 1]!.end)
      const matches = apart.map(({ start, end }) => ({ ...view.span(start, end), kind: 'profanity' }))
      return { detail: `holds rude words (${matches.length})`, matches }
    }
  },
})
