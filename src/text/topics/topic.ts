import { reading } from '../reading'
import { remember } from '../remember'
import { type Hashed, hashed, hashesOf, SHORTEST, type WordIndex, wordIndexOf } from '../word-index'
import { ALSO, TOPICS } from './lexicon'

/** A topic to look for: the words of its name, and the words people use for it. */
export type Topic = { own: readonly Stem[]; known: readonly Stem[] }
/** How one word is found: anywhere in the text, as a whole word or its plural, or as the beginning of a word. */
type Stem = { anywhere: string } | { words: readonly Hashed[] } | { beginning: Hashed }

/** The words of a text and their beginnings, with the normalised text itself. */
export type TopicWords = WordIndex & { plain: string }

const WORD = /[\p{L}\p{M}\p{N}]+/gu
/** Scripts without blanks between words. */
export const SPACELESS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u
/** Words of a topic's name that do not say what it is about. */
const GENERAL = new Set(
  `a about advice all and any anything are as at be by can content conversation discussion discussions do for from general
   help how i in information is it matters me my news not of on opinions or our question questions related stuff talk the
   their things tips to topic topics us we what with you your`.split(/\s+/),
)
const GENERAL_HASHES = hashesOf(GENERAL)
/** In a text of so few words, one word of a topic makes it the subject. */
const SHORT = 14

/** The topic of a name such as `politics` or `our refund policy`; null when the name has no word. */
export function compileTopic(name: string): Topic | null {
  const said = reading(name).text.match(WORD) ?? []
  if (!said.length) return null
  const meant = said.filter((word) => !GENERAL.has(word))
  const own = (meant.length ? meant : said).map(stemOf).map(lookedFor)
  const names = new Set(meant.flatMap((word) => [word, ALSO[word] ?? word]).filter((one) => Object.hasOwn(TOPICS, one)))
  return { own, known: [...names].flatMap((one) => TOPICS[one]!.split(' ').map(lookedFor)) }
}

/** The words of a text, to ask for topics; valid until the next text is read. */
export const topicWordsOf = remember((source: string): TopicWords => {
  const { text: plain } = reading(source)
  return { plain, ...wordIndexOf(plain, GENERAL_HASHES) }
})

/** Without the endings of plural and of adjectives, so that `elections` is found by `election`. */
const stemOf = (word: string): string => (word.length > 4 ? word.replace(/(?:ies|es|s|y|e)$/, '') : word)

/** Whether a text is about a topic: named in full, or by two of its known words, or by one in a short text. */
export function isAbout({ own, known }: Topic, text: TopicWords): boolean {
  if (own.every((stem) => hasStem(stem, text))) return true
  const hits = known.filter((stem) => hasStem(stem, text)).length
  return hits >= 2 || (hits === 1 && text.words.size <= SHORT)
}

/** Whether a text has any word of a topic. */
export const touches = ({ own, known }: Topic, text: TopicWords): boolean =>
  [...own, ...known].some((stem) => hasStem(stem, text))

/** How many words of a topic a text has. */
export const hitsOf = ({ own, known }: Topic, text: TopicWords): number =>
  [...own, ...known].filter((stem) => hasStem(stem, text)).length

/** Words of four letters and more are found by their beginning, shorter ones only as they are. */
function lookedFor(stem: string): Stem {
  if (SPACELESS.test(stem)) return { anywhere: stem }
  if (stem.includes('-')) return { anywhere: stem.replace('-', ' ') }
  return stem.length < SHORTEST ? { words: [hashed(stem), hashed(`${stem}s`)] } : { beginning: hashed(stem) }
}

function hasStem(stem: Stem, { plain, words, beginnings }: TopicWords): boolean {
  if ('beginning' in stem) return beginnings.has(stem.beginning)
  return 'words' in stem ? stem.words.some((word) => words.has(word)) : plain.includes(stem.anywhere)
}
