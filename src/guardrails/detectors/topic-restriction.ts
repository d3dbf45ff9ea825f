import { quoted } from '../../kernel/errors'
import { t } from '../../kernel/schema'
import {
  ALSO,
  type Hashed,
  hashed,
  hashesOf,
  reading,
  remember,
  SHORTEST,
  TOPICS,
  type WordIndex,
  wordIndexOf,
} from '../../text'
import { defineGuardrail, InvalidConfig } from '../guardrail'

/** A topic to look for: the words of its name, and the words people use for it. */
type Topic = { own: readonly Stem[]; known: readonly Stem[] }
/** How one word is found: anywhere in the text, as a whole word or its plural, or as the beginning of a word. */
type Stem = { anywhere: string } | { words: readonly Hashed[] } | { beginning: Hashed }

/** The words of a text and their beginnings, with the normalised text itself. */
type Words = WordIndex & { plain: string }

const WORD = /[\p{L}\p{M}\p{N}]+/gu
const SPACELESS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u
/** Words of a topic's name that do not say what it is about. */
const GENERAL = new Set(
  `a about advice all and any anything are as at be by can content conversation discussion discussions do for from general
   help how i in information is it matters me my news not of on opinions or our question questions related stuff talk the
   their things tips to topic topics us we what with you your`.split(/\s+/),
)
const GENERAL_HASHES = hashesOf(GENERAL)
/** In a text of so few words, one word of a topic makes it the subject. */
const SHORT = 14
/** A shorter text is a greeting or a reply, and never off topic. */
const LEAST_WORDS = 4

const Topics = t.Array(t.String({ minLength: 1, maxLength: 200 }), { minItems: 1, maxItems: 50 })

export const topicRestriction = defineGuardrail({
  id: 'topic_restriction',
  description:
    'Texts about a denied topic, or about none of the allowed topics. Matches the words of the topic and, for eighteen common topics, related words. Does not find topics that are only alluded to',
  phases: ['input', 'output'],
  verdicts: ['block', 'flag'],
  config: t.Object({ allow: t.Optional(Topics), deny: t.Optional(Topics) }, { additionalProperties: false }),
  prepare({ allow = [], deny = [] }) {
    if (!allow.length && !deny.length)
      throw new InvalidConfig('', 'has neither "allow" nor "deny". Send at least one of them, a list of topics')
    const allowed = allow.map((topic, place) => topicOf(topic, `allow[${place}]`))
    const denied = deny.map((topic, place) => topicOf(topic, `deny[${place}]`))
    return (text, { unsure }) => {
      const read = wordsOf(text)
      const { plain, words } = read
      const hit = denied.findIndex((topic) => isAbout(topic, read))
      if (hit >= 0) return { detail: `is about a denied topic (deny.${hit})`, matches: [] }
      const isLong = words.size >= LEAST_WORDS || (SPACELESS.test(plain) && plain.length >= 3 * LEAST_WORDS)
      if (!isLong) return null
      if (!allowed.length || allowed.some((topic) => touches(topic, read))) {
        if (unsure && isUnsure({ allowed, denied }, read)) unsure({ start: 0, end: 0 })
        return null
      }
      return { detail: 'is about none of the allowed topics', matches: [] }
    }
  },
  question: ({ allow = [], deny = [] }) =>
    [
      ...(deny.length ? [`is about one of these topics: ${JSON.stringify(deny)}`] : []),
      ...(allow.length ? [`asks or tells of something else than these topics: ${JSON.stringify(allow)}`] : []),
    ].join(', or it '),
})

const wordsOf = remember((source: string): Words => {
  const { text: plain } = reading(source)
  return { plain, ...wordIndexOf(plain, GENERAL_HASHES) }
})

function topicOf(topic: string, where: string): Topic {
  const said = reading(topic).text.match(WORD) ?? []
  if (!said.length) throw new InvalidConfig(where, `is "${quoted(topic)}", which has no word to match`)
  const meant = said.filter((word) => !GENERAL.has(word))
  const own = (meant.length ? meant : said).map(stemOf).map(lookedFor)
  const names = new Set(
    meant.flatMap((word) => [word, ALSO[word] ?? word]).filter((name) => Object.hasOwn(TOPICS, name)),
  )
  return { own, known: [...names].flatMap((name) => TOPICS[name]!.split(' ').map(lookedFor)) }
}

/** Without the endings of plural and of adjectives, so that `elections` is found by `election`. */
const stemOf = (word: string): string => (word.length > 4 ? word.replace(/(?:ies|es|s|y|e)$/, '') : word)

/** Named in full, or by two of its known words, or by one in a short text. */
function isAbout({ own, known }: Topic, text: Words): boolean {
  if (own.every((stem) => hasStem(stem, text))) return true
  const hits = known.filter((stem) => hasStem(stem, text)).length
  return hits >= 2 || (hits === 1 && text.words.size <= SHORT)
}

const touches = ({ own, known }: Topic, text: Words): boolean => [...own, ...known].some((stem) => hasStem(stem, text))

/**
 * Whether words alone do not settle it: a denied topic has no known words or was touched, or no allowed topic was
 * touched more than once.
 */
const isUnsure = ({ allowed, denied }: Record<'allowed' | 'denied', readonly Topic[]>, text: Words): boolean =>
  denied.some((topic) => topic.known.length === 0 || touches(topic, text)) ||
  (allowed.length > 0 && allowed.every((topic) => hitsOf(topic, text) < 2))

const hitsOf = ({ own, known }: Topic, text: Words): number =>
  [...own, ...known].filter((stem) => hasStem(stem, text)).length

/** Words of four letters and more are found by their beginning, shorter ones only as they are. */
function lookedFor(stem: string): Stem {
  if (SPACELESS.test(stem)) return { anywhere: stem }
  if (stem.includes('-')) return { anywhere: stem.replace('-', ' ') }
  return stem.length < SHORTEST ? { words: [hashed(stem), hashed(`${stem}s`)] } : { beginning: hashed(stem) }
}

function hasStem(stem: Stem, { plain, words, beginnings }: Words): boolean {
  if ('beginning' in stem) return beginnings.has(stem.beginning)
  return 'words' in stem ? stem.words.some((word) => words.has(word)) : plain.includes(stem.anywhere)
}
