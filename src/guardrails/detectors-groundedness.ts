import { t } from '../kernel/schema'
import { contentWords, remember } from '../text'
import { defineGuardrail, type Match } from './guardrail'

const USUAL_THRESHOLD = 0.8

/** The share of a claim's words that one source must hold. */
const MIN_SHARE = 0.6

/** A sentence with fewer content words claims nothing. */
const MIN_WORDS = 4

const SENTENCE = /[^.!?。！？\n]+(?:[.!?](?=\S)[^.!?。！？\n]*)*[.!?。！？]*/g

const NUMBER = /\d[\d.,]*\d|\d/g

const QUESTION = /[?？]\s*$/

const SEPARATOR = '\u0000'

export const groundedness = defineGuardrail({
  id: 'groundedness',
  description:
    'Answers with too many statements that none of the given sources supports, judged by shared words and numbers. Does not check answers without sources',
  phases: ['output'],
  verdicts: ['flag'],
  config: t.Object(
    { threshold: t.Optional(t.Number({ minimum: 0, maximum: 1, default: USUAL_THRESHOLD })) },
    { additionalProperties: false },
  ),
  prepare({ threshold = USUAL_THRESHOLD }) {
    return (text, { sources }) => {
      if (!sources?.length) return null
      const known = sourcesOf(sources.join(SEPARATOR))
      const claims = claimsOf(text)
      // A number that the source does not hold is made up, however well the words fit.
      const baseless = claims.filter(
        (claim) =>
          !known.some((source) => {
            if (claim.numbers.some((number) => !source.numbers.has(number))) return false
            return claim.words.filter((word) => source.words.has(word)).length >= claim.words.length * MIN_SHARE
          }),
      )
      const share = 1 - baseless.length / claims.length
      if (!claims.length || share >= threshold) return null
      const matches: Match[] = baseless.map(({ start, end }) => ({ start, end, kind: 'unsupported' }))
      return { detail: `${baseless.length} of ${claims.length} statements are in none of the sources`, matches }
    }
  },
})

type Source = { words: ReadonlySet<string>; numbers: ReadonlySet<string> }

type Claim = { start: number; end: number; words: readonly string[]; numbers: readonly string[] }

const sourcesOf = remember((joined: string): Source[] =>
  joined.split(SEPARATOR).map((source) => ({
    words: new Set(contentWords(source)),
    numbers: new Set(numbersIn(source)),
  })),
)

/** Without thousands separators, so that `1,200.50` and `1200.50` are equal. */
const numbersIn = (text: string): string[] =>
  (text.match(NUMBER) ?? []).map((number) => number.replace(/[.,](?=\d{3}(?:\D|$))/g, ''))

function claimsOf(text: string): Claim[] {
  const claims: Claim[] = []
  for (const { 0: sentence, index } of text.matchAll(SENTENCE)) {
    const words = [...new Set(contentWords(sentence))]
    if (words.length < MIN_WORDS || QUESTION.test(sentence)) continue
    const start = index + sentence.length - sentence.trimStart().length
    claims.push({ start, end: index + sentence.trimEnd().length, words, numbers: numbersIn(sentence) })
  }
  return claims
}
