import { alike, isAboutWords, rephrased } from './english'
import { languageOf, opensSentence, withoutPoliteness } from './language'

/** Longer prompts carry data, and one differing character of it may be what matters. */
const MOST_CHARS = 2_000

/** Code, quotations and addresses: what must be taken by the letter. */
const LITERAL =
  /```[\s\S]*?```|`[^`\n]+`|"[^"\n]*"|“[^”\n]{0,400}”|„[^“”\n]{0,400}[“”]|«[^»\n]{0,400}»|(?<![\p{L}\p{N}])'[^'\n]+'(?![\p{L}\p{N}])|\b[a-z][a-z\d+.-]{0,20}:\/\/\S+|[^\s@]{1,64}@[^\s@]{1,99}\.\S+/giu
const MARK = '\ue000'
const TOKEN = new RegExp(`${MARK}\\d+${MARK}|\\d+(?:[.,:/-]\\d+)*|[\\p{L}\\p{M}]+(?:'[\\p{L}\\p{M}]+)?|\\S`, 'gu')

/** What follows is a text that something is to be done with, and every mark of it may matter. */
const BRINGS_TEXT = /:\s/

/** Marks that end or divide a sentence say nothing more; those inside of a formula (`n!`, `a , b`) stay. */
const MARKS = `(?<=[\\p{L}\\p{N}${MARK})\\]])[.,;?…]+(?=\\s|$)|(?<=\\p{L}{2})!+(?=\\s|$)`
const SENTENCE_MARKS = new RegExp(MARKS, 'gu')
const END = new RegExp(`(?:${MARKS})\\s*$`, 'u')

/**
 * What a prompt asks for, in a form that other wordings of the same share; null when it has none but its own.
 * Two prompts with the same gist differ in nothing but politeness, punctuation, contractions, the case of a
 * first letter and a handful of English turns of phrase. Every number, name, negation, unit, date, quotation
 * and word of substance stands in it, in order: however alike two prompts look to an embedding, with another
 * of these they are not the same (contract 22.1).
 */
export function gistOf(prompt: string): string | null {
  if (prompt.length > MOST_CHARS) return null
  const { text, literals } = withoutLiterals(prompt.normalize('NFC').replace(/[’‘]/g, "'").trim())
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? []
  if (text.includes('\n') || BRINGS_TEXT.test(text) || shouts(text) || isAboutWords(words)) return null
  const language = languageOf(words)
  const bare = lowerFirst(withoutEnd(language ? withoutPoliteness(text) : text))
  const tokens = tokensOf((language === 'en' ? rephrased(bare) : bare).replace(SENTENCE_MARKS, ' '))
  const canonical = language === 'en' ? alike(tokens) : tokens
  if (!canonical.some((token) => /[\p{L}\p{N}]/u.test(token))) return null
  return JSON.stringify([language, canonical, literals])
}

function withoutLiterals(prompt: string): { text: string; literals: string[] } {
  const literals: string[] = []
  const text = prompt.replaceAll(MARK, ' ').replace(LITERAL, (literal) => {
    literals.push(literal)
    return `${MARK}${literals.length}${MARK}`
  })
  return { text, literals }
}

/** Capitals tell names from words, unless everything is in capitals. */
function shouts(text: string): boolean {
  const capitals = text.match(/\p{Lu}/gu)?.length ?? 0
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  return letters > 3 && capitals > letters / 2
}

const withoutEnd = (text: string): string => text.replace(END, '').replace(/\s+/g, ' ').trim()

/** `What` and `I`, but neither `NASA` nor `Turkey`, which is not `turkey`. */
const lowerFirst = (text: string): string =>
  text.replace(/^[¿¡]?\p{Lu}\p{Ll}*(?![\p{L}\p{N}])/u, (word) => {
    const small = word.toLowerCase()
    return opensSentence(small.replace(/^[¿¡]/, '')) ? small : word
  })

const tokensOf = (text: string): string[] =>
  [...text.matchAll(TOKEN)]
    .map(([token]) => token)
    .filter((token, place, all) => !joins(token, all[place - 1], all[place + 1]))

/** A hyphen between two words; between numbers it may be a minus. */
const joins = (token: string, before: string | undefined, after: string | undefined): boolean =>
  token === '-' && /^\p{L}/u.test(before ?? '') && /^\p{L}/u.test(after ?? '')
