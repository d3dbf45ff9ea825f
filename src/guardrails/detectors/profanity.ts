import { t } from '../../kernel/schema'
import {
  compileEnglish,
  compileTerms,
  isForeignAround,
  isPlainUse,
  PLAIN_ELSEWHERE,
  PLAIN_USES,
  RUDE,
  reading,
} from '../../text'
import { defineGuardrail } from '../guardrail'

export const profanity = defineGuardrail({
  id: 'profanity',
  description:
    'Profanity: English words in their inflected and disguised spellings, and the most common words of sixteen other languages. Allows medical terms and words that are harmless in the language of the text',
  phases: ['input', 'output'],
  verdicts: ['block', 'redact', 'flag'],
  config: t.Object({}, { additionalProperties: false }),
  prepare() {
    const english = compileEnglish()
    const others = compileTerms(Object.values(RUDE).flat(), true)
    return (text) => {
      const view = reading(text)
      const rude = others.find(view.text).filter((one) => isRudeHere(view.text, one))
      const found = [...english(view), ...rude].sort((a, b) => a.start - b.start)
      if (!found.length) return null
      const apart = found.filter(({ start }, place) => place === 0 || start >= found[place - 1]!.end)
      const matches = apart.map(({ start, end }) => ({ ...view.span(start, end), kind: 'profanity' }))
      return { detail: `holds rude words (${matches.length})`, matches }
    }
  },
})

/** A rude word of one language may be a plain one of another: `foder` is fodder in Danish. */
function isRudeHere(text: string, { start, end, term }: { start: number; end: number; term: string }): boolean {
  if (isPlainUse(PLAIN_USES, term, text, { start, end })) return false
  const languages = PLAIN_ELSEWHERE[term]
  return !languages || !isForeignAround(text, { start, end }, languages)
}
