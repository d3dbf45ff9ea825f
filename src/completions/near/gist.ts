import { isAboutText } from './about-text'
import { type Opened, opened } from './openings'

const MOST_CHARS = 2_000

/**
 * Lines, quotations, code, a colon, a mark in the middle: more than one sentence, or a text to work on, of which
 * the last character may matter like any other.
 */
const MORE = /[\p{Cc}"“”„«»‹›‘`:]|(?<!\p{L})['’]|['’](?!\p{L})|[.?!;…](?=\s)/u
const GREETING_MARK = /^((?:hello|hi|hey)(?: there)?)!/iu

/** The mark that ends a sentence, and is no part of its last word as in `5!?`, `...`, `U.S.` and `C#.`. */
const QUESTION_MARK = /(?<=[\p{L}\p{N}%)])[ \u00a0\u202f]?\?$/u
const FULL_STOP = /(?<=\p{L}{2})\.$/u

/**
 * What a prompt asks for, in the one form that all its wordings share; null where it has only its own.
 *
 * Two prompts share a gist where they differ in nothing but these: how many blanks stand between two words; the
 * capital of a first word that opens a question or an order; the mark that ends it; a greeting, `please` or `could
 * you` before an order, and `tell me` before a question; `what's the` for `what is the`, and `how do I` for `how
 * to`, where they open it. All that follows the opening is the same, character by character. So no number, name,
 * negation, unit or sign can differ, and no order of words, however alike two prompts look to an embedding
 * (contract 22.1).
 */
export function gistOf(prompt: string): string | null {
  if (prompt.length > MOST_CHARS) return null
  const text = prompt.trim().replace(/ {2,}/g, ' ')
  if (MORE.test(text.replace(GREETING_MARK, '$1,'))) return null
  const found = opened(text.replace(/^¿/u, ''))
  return found && !isAboutText(found.said) ? withoutMark(found) : null
}

function withoutMark({ said, kind, polite }: Opened): string {
  const unasked = kind === 'question' || polite ? said.replace(QUESTION_MARK, '') : said
  return unasked === said && (kind === 'request' || polite) ? said.replace(FULL_STOP, '') : unasked
}
