import { oneOf, t } from '../../kernel/schema'
import { LABELS, loadModel, safetyOf } from '../../text'
import { defineGuardrail, ordinaryFinding } from '../guardrail'

const [, ...CATEGORIES] = LABELS.safety
type Category = (typeof CATEGORIES)[number]
const USUAL_THRESHOLD = 0.8
/** Below this a text is ordinary, and no engine is asked about it. */
const LEAST_DOUBT = 0.5

const NAMES: Record<Category, string> = {
  hate: 'hatred of groups',
  harassment: 'harassment',
  violence: 'violence',
  sexual: 'sexual content',
  self_harm: 'self-harm',
  illicit: 'help with crimes',
}

/** What an engine is asked, after "The text is". */
const ASKED: Record<Category, string> = {
  hate: 'hatred of people for the group they belong to',
  harassment: 'an insult, a threat or bullying of a person',
  violence: 'a call for violence, or praise of it',
  sexual: 'sexual content',
  self_harm: 'a wish or a way to harm oneself',
  illicit: 'a request for or help with a crime',
}

export const contentSafety = defineGuardrail({
  id: 'content_safety',
  description:
    'Hate, harassment, violence, sexual content, self-harm and help with crimes, scored by a local model of such sentences in twelve languages. Does not understand irony or context beyond two sentences',
  phases: ['input', 'output'],
  verdicts: ['block', 'flag'],
  config: t.Object(
    {
      categories: t.Optional(t.Array(oneOf(CATEGORIES), { minItems: 1, uniqueItems: true })),
      threshold: t.Optional(t.Number({ minimum: 0, maximum: 1, default: USUAL_THRESHOLD })),
    },
    { additionalProperties: false },
  ),
  prepare({ categories = [...CATEGORIES], threshold = USUAL_THRESHOLD }) {
    loadModel('safety')
    return (text, { unsure }) => {
      const [any, ...each] = safetyOf(text)
      if (any!.chance < threshold) {
        if (any!.chance >= LEAST_DOUBT) unsure?.(any!)
        return null
      }
      if (any!.chance < LEAST_DOUBT) return ordinaryFinding(any!.chance, threshold)
      // The model is surer that a text is not ordinary than of which category it is, so near ones are named together.
      const found = CATEGORIES.map((category, index) => ({ category, chance: each[index]!.chance }))
      const top = Math.max(...found.map(({ chance }) => chance))
      const meant = found.filter(({ category, chance }) => chance >= top / 2 && categories.includes(category))
      if (!meant.length) return null
      const what = meant.map(({ category }) => NAMES[category]).join(', ')
      return { detail: `reads like ${what} (${any!.chance.toFixed(2)})`, matches: [] }
    }
  },
  question: ({ categories = [...CATEGORIES] }) =>
    `is ${categories.map((category) => ASKED[category]).join(', or ')}, in earnest and not as a report or a question about it`,
})
