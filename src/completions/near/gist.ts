import { isAboutText } from './about-text'
import { type Opening, openingOf } from './openings'

const MOST_CHARS = 2_000

/**
 * Lines, quotations, code, a colon or a mark inside: more than one sentence, or a text to work on. Then every character
 * may matter, the last one too.
 */
const MORE = /[\p{Cc}"“”„«»‹›‘`:]|(?<!\p{L})['’]|['’](?!\p{L})|[.?!;…](?=\s)/u
const GREETING_MARK = /^((?:hello|hi|hey)(?: there)?)!/iu

/** The mark that ends a sentence, unless it may be part of the last word or one: `5!?`, `...`, `U.S.`, `C#.`, `of ?`. */
const QUESTION_MARK = /(?<=[\p{L}\p{N}%)])\?$/u
const SPACED_QUESTION_MARK = /(?<=[\p{L}\p{N}%)])[ \u00a0\u202f]?\?$/u
const FULL_STOP = /(?<=\p{L}{2})\.$/u

/**
 * A prompt in the form that it shares with its other wordings; null for a prompt that is compared with none.
 *
 * Two prompts share a gist when they differ in nothing but: the number of blanks between words; the capital of a first
 * word that opens a question or an order; the mark directly behind the last word; a greeting, `please` or `could you`
 * before an order, or `tell me` before a question; `what's the` for `what is the`, or `how do I` for `how to`, at the beginning.
 * Everything behind the opening is equal character by character, so no number, name, negation, unit, sign or order of
 * words can differ, however similar two prompts look to an embedding (contract 22.1).
 */
export function gistOf(prompt: string): string | null {
  if (prompt.length > MOST_CHARS) return null
  const text = prompt.trim().replace(/ {2,}/g, ' ')
  if (MORE.test(text.replace(GREETING_MARK, '$1,'))) return null
  const opening = openingOf(text.replace(/^¿/u, ''))
  return opening && !isAboutText(opening.text) ? withoutMark(opening) : null
}

function withoutMark({ text, kind, polite, spaced }: Opening): string {
  const mark = spaced ? SPACED_QUESTION_MARK : QUESTION_MARK
  const unasked = kind === 'question' || polite ? text.replace(mark, '') : text
  return unasked === text && (kind === 'request' || polite) ? text.replace(FULL_STOP, '') : unasked
}
