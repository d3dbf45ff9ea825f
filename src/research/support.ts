import { between, contentWords } from '../text'
import { figuresIn, isNegated } from './figures'

/** Share of the words of a sentence that the passages it cites must have. */
const ENOUGH = 0.6
/** Shorter quotations are names and words. */
const LEAST_QUOTED = 12

/**
 * Why passages do not bear out a sentence that cites them, in words of this server; null when they do. It compares
 * words, numbers, negation and quotations: it can refuse what is true, and lets no number or quotation be made up.
 */
export function whyUnsupported(sentence: string, passages: readonly string[]): string | null {
  if (!passages.length) return 'it cites nothing that was read'
  const together = passages.join('\n')
  const known = figuresIn(together).map(({ value }) => value)
  const invented = figuresIn(sentence).find(({ value }) => !known.includes(value))
  if (invented) return `the number ${invented.value} is not in the cited passage`
  const foreign = [...between(sentence, '“"', '”"', LEAST_QUOTED)].find(
    ({ inner }) => !plain(together).includes(plain(inner)),
  )
  if (foreign) return 'it quotes words that are not there'
  const words = [...new Set(contentWords(sentence))]
  const said = new Set(contentWords(together))
  const share = words.filter((word) => said.has(word)).length / Math.max(1, words.length)
  if (share < ENOUGH) return 'the cited passage is about something else'
  const isTurned = isNegated(sentence) ? !passages.some(isNegated) : passages.every(isNegated)
  return isTurned ? 'the cited passage says the opposite' : null
}

const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
