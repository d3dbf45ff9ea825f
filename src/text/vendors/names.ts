import { readable } from '../injection/readable'
import { unleeted } from '../injection/view'
import { asDrawn, STROKE, withStrokes } from './looks'
import data from './names.json'

/** Vendors of engines and their models as of `as_of`, in lower case; a blank stands for any separator or none. */
const NAMES = Object.values(data.vendors).flat()
/** Invented names: no other word ends in one, and their plural still names the vendor. */
const COINED = data.coined
/** Names whose plural still names the vendor. */
const WITH_PLURAL = [...COINED, ...data.with_plural]
/** Ordinary words that name a model only before a version such as 4.5. */
const WITH_VERSION = data.with_version

/** Words that are often appended to a vendor's name without a blank. */
const ADDED =
  'ai|api|bot|chat|code|flash|gpt|haiku|hq|inc|labs?|large|llms?|mini|ml|models?|nano|opus|plus|pro|sonnet|turbo|ultra|vision'

/** Separators between the letters of a name that is spelt out: up to three blanks, dots, dashes and the like. */
const JOIN = `[^a-z0-9${STROKE}]{0,3}`
const LETTER = `[a-z${STROKE}]`
const drawn = (letter: string): string => (letter === 'i' || letter === 'l' ? `[${letter}${STROKE}]` : letter)
const bare = (name: string): string => name.replaceAll(' ', '')
const spelt = (name: string): string => [...bare(name)].map(drawn).join(JOIN)
const closed = (name: string): string => [...bare(name)].map(drawn).join('')
/** One capturing group per name, in order, so that the group that matched tells the name. */
const anyOf = (names: readonly string[], written: (name: string) => string): string =>
  names.map((name) => `(${written(name)})`).join('|')

/** Patterns for each list, which do not match in longer words: `metadata` and `misanthropic` name no vendor. */
const FORMS: readonly (readonly [readonly string[], RegExp])[] = [
  [NAMES, new RegExp(`(?<!${LETTER})(?:${anyOf(NAMES, spelt)})(?!${LETTER})`)],
  [NAMES, new RegExp(`(?<!${LETTER})(?:${anyOf(NAMES, closed)})(?:${ADDED})(?!${LETTER})`)],
  [WITH_PLURAL, new RegExp(`(?<!${LETTER})(?:${anyOf(WITH_PLURAL, closed)})s(?!${LETTER})`)],
  [
    WITH_VERSION,
    new RegExp(
      `(?<!${LETTER})(?:${anyOf(WITH_VERSION, closed)})[ -]?v?[1-9${STROKE}]\\.[0-9${STROKE}](?![0-9.${STROKE}])`,
    ),
  ],
  [COINED, new RegExp(`(?:${anyOf(COINED, closed)})(?:s|${ADDED})?(?!${LETTER})`)],
]

/** Phrases in which these words mean something else: people, stars, animals, a verb, subjects of a prompt. */
const ELSEWHERE = [
  /\b(?:jean|marie|pierre|saint|st|uncle|aunt)[ -]claude\b|\bclaude (?:monet|debussy|shannon|chabrol|rains|bernard|lorrain|levi|van damme)\b/g,
  /\bgemini (?:zodiac|horoscopes?|season|constellation|twins?|moon|rising|spacecraft|missions?|program|project)\b/g,
  /\bgrok (?:the|this|that|these|those|it|a|an|how|why|what|my|our|your)\b|\b(?:to|can|cannot|fully|really|finally) grok\b/g,
  /\bllama (?:farms?|wool|herds?|trek(?:s|king)?)\b|\balpaca (?:and|or) llama\b/g,
  /\bgoogle (?:docs?|sheets?|slides?|forms?|drive|maps?|calendar|search|ads|analytics|scholar|translate|earth|trends|workspace)\b/g,
  /\bmistral (?:winds?|sails?)\b|\bcohere (?:with|well|into|around)\b|\bperplexity (?:scores?|metrics?|of)\b/g,
  new RegExp(`\\bopen a[l${STROKE}] fresco\\b`, 'g'),
  /\bgpt (?:partitions?|disks?|tables?)\b|\banthropic (?:principle|bias|reasoning)\b/g,
]

/** Replaces such a phrase. Longer than any separator, so that the words around it do not join to a name. */
const BLANKED = ' #### '
const withoutOtherMeanings = (text: string): string =>
  ELSEWHERE.reduce((left, phrase) => left.replace(phrase, BLANKED), text)

/** With camel case split: `MyOpenAIRules` is `My Open AI Rules`. */
const camelCaseSplit = (text: string): string =>
  text.replace(/(\p{Ll})(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu, (letter) => `${letter} `)

/** Only this many characters are searched; labels are shorter. */
const MOST_CHARS = 2_000

/**
 * The upstream vendor or model that a label names, or null (contract 12, 13). Also finds names that are spaced out, in
 * the plural or with a word appended, and names disguised by look-alike, circled or flag letters, an I for an l, digits
 * for letters or invisible characters.
 */
export function vendorNamedIn(label: string): string | null {
  const text = asDrawn(label.slice(0, MOST_CHARS))
  const strokes = withStrokes(text)
  for (const written of new Set([text, camelCaseSplit(text), strokes, camelCaseSplit(strokes)])) {
    const plain = readable(written)
    // `readable` may turn styled letters into plain letters of other scripts, so look-alikes are replaced once more.
    const view = { ...plain, text: asDrawn(plain.text).toLowerCase() }
    const found = nameIn(view.text) ?? nameIn(unleeted(view)?.text ?? '')
    if (found) return found
  }
  return null
}

function nameIn(text: string): string | null {
  const left = withoutOtherMeanings(text)
  for (const [names, form] of FORMS) {
    const found = form.exec(left)
    if (found) return bare(names[found.slice(1).findIndex((part) => part !== undefined)]!)
  }
  return null
}
