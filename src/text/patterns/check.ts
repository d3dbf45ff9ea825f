import { readable } from '../injection/readable'
import { unleeted } from '../injection/view'
import { asDrawn, STROKE, withStrokes } from '../vendors-look-alikes'
import data from '../vendors-names.json'

/** Vendors of engines and their models as of `as_of`, in lower case. A blank represents any separator or none. */
const NAMES = Object.values(data.vendors).flat()

/** Invented names. No other word ends in one, and their plural still names the vendor. */
const COINED = data.coined

/** Names whose plural still names the vendor. */
const WITH_PLURAL = [...COINED, ...data.with_plural]

/** Ordinary words that name a model only before a version such as 4.5. */
const WITH_VERSION = data.with_version

/** Words that are often appended to a vendor's name without a blank. */
const ADDED =
  'ai|api|bot|chat|code|flash|gpt|haiku|hq|inc|labs?|large|llms?|mini|ml|models?|nano|opus|plus|pro|sonnet|turbo|ultra|vision'

/** Separators between the letters of a name that is spelt out: up to three blanks, dots, dashes and similar. */
const JOIN = `[^a-z0-9${STROKE}]{0,3}`

const LETTER = `[a-z${STROKE}]`

const drawn = (letter: string): string => (letter === 'i' || letter === 'l' ? `[${letter}${STROKE}]` : letter)

const bare = (name: string): string => name.replaceAll(' ', '')

const spelt = (name: string): string => [...bare(name)].map(drawn).join(JOIN)

const closed = (name: string): string => [...bare(name)].map(drawn).join('')

/** One capturing group per name, in order, so that the matching group identifies the name. */
const anyOf = (names: readonly string[], written: (name: string) => string): string =>
  names.map((name) => `(${written(name)})`).join('|')

/** Patterns for each list. They do not match in longer words: `metadata` and `misanthropic` name no vendor. */
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

/** Replacement for such a phrase. Longer than any separator, so that the words around it do not join to form a name. */
const BLANKED = ' #### '

/** Splits camel case: `MyOpenAIRules` becomes `My Open AI Rules`. */
const camelCaseSplit = (text: string): string =>
  text.replace(/(\p{Ll})(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu, (letter) => `${letter} `)

/** Number of characters searched. Labels are shorter. */
const MAX_CHARS = 2_000

/** Vendor names that a pattern is tested with. */
const TRIED = ['openai', 'chatgpt', 'anthropic', 'claude', 'gemini', 'mistral', 'deepseek', 'llama', 'cohere', 'grok']

/** Share of a name's letters that a pattern must require to count as naming the vendor. */
const INSISTENT = 0.7

/** The result of trying a backtracking pattern before it is saved. */
export type CheckedPattern =
  | { is: 'fine' | 'vendors' | 'late' }
  /** The pattern takes far longer on `text` than a rule may. */
  | { is: 'endless'; text: string }
  /** The engine does not know the syntax. `problem` is half a sentence. */
  | { is: 'unknown'; problem: string }

/** Matches the pattern with a text. Null when `isOver` ended the attempt. */
export type Attempt = (text: string, isOver: () => boolean) => boolean | null

/** Twice the run-time budget of rules, because machines differ in speed. */
const MAX_MS = 100

/** Lengths of test texts. The short one reveals exponential time, the long one quadratic time. */
const REPEATS = [32, 2_000]
const MAX_PIECES = 8

/** Tries a pattern on texts that make patterns backtrack and on vendor names, for at most `budgetMs` of CPU time. */
export function checkPattern(pattern: string, attempt: Attempt, budgetMs: number): CheckedPattern {
  const until = ownMs() + budgetMs
  const isLate = () => ownMs() > until
  for (const text of probesFor(pattern)) {
    const isOver = patience(isLate)
    // The engine may answer late without having called `isOver`.
    if (attempt(text, isOver) !== null && !isOver()) continue
    return isLate() ? { is: 'late' } : { is: 'endless', text }
  }
  const isVendors = vendorMeantBy(pattern, (name) => attempt(name, patience(isLate)) ?? false) !== null
  return { is: isLate() ? 'late' : isVendors ? 'vendors' : 'fine' }
}

function patience(isLate: () => boolean): () => boolean {
  const from = ownMs()
  return () => isLate() || ownMs() - from > MAX_MS
}

/** CPU time of this thread in milliseconds, because other load on the machine is not the pattern's fault. */
export function ownMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** Repetitions of the pattern's own letters and words, each with a last character that prevents a match. */
function probesFor(pattern: string): string[] {
  const letters = pattern.replace(/\\./g, '').match(/[\p{L}\p{N} _-]/gu) ?? []
  const words = pattern.match(/\p{L}{2,}/gu) ?? []
  const pieces = [...new Set(['a', '0', ' ', ...letters.slice(0, MAX_PIECES), ...words.slice(0, MAX_PIECES)])]
  return pieces.flatMap((piece) => REPEATS.map((times) => `${piece.repeat(Math.ceil(times / piece.length))}\u0001`))
}

/**
 * The upstream vendor that a pattern names, whether in plain words, in classes and groups, or by character codes. Null
 * when it names none. A pattern that also matches other words names none (docs/attacks.md K10).
 */
export function vendorMeantBy(source: string, test: (text: string) => boolean): string | null {
  return vendorNamedIn(plainly(source)) ?? TRIED.find((name) => insistsOn(name, test)) ?? null
}

function insistsOn(name: string, test: (text: string) => boolean): boolean {
  // A pattern that matches a shorter word inside the name, such as `lama`, refers to that word.
  if (!test(name) || test(name.slice(1)) || test(name.slice(0, -1))) return false
  const needed = [...name].filter((_, index) => !test(`${name.slice(0, index)}~${name.slice(index + 1)}`))
  const others = [...name].filter((_, index) => !test(`${name.slice(0, index)}x${name.slice(index + 1)}`))
  return Math.min(needed.length, others.length) / name.length >= INSISTENT
}

/** The text of a pattern without its syntax: `\bop[e]n(?:ai)\b` becomes `openai`, `a|b` becomes two separate words. */
function plainly(source: string): string {
  return source
    .replace(/\\u\{([0-9a-f]{1,6})\}|\\[xu]([0-9a-f]{4}|[0-9a-f]{2})/gi, (_, braced, plain) => letter(braced ?? plain))
    .replace(/\[([^\]\\^-])\]/g, '$1')
    .replace(/\\[bB]|[\^$]/g, ' ')
    .replace(/\\[sSWwdD][*+?]?/g, ' ')
    .replace(/\(\?(?:[:=!]|<[=!]|<\w*>)|\(|\)/g, '')
    .replaceAll('|', ' |||| ')
}

function letter(hex: string): string {
  const code = Number.parseInt(hex, 16)
  return code <= 0x10ffff ? String.fromCodePoint(code) : ' '
}

/**
 * The upstream vendor or model that a label names, or null (docs/api.md 12, 13). Also finds names that are spaced out,
 * in the plural or with a word appended, and names disguised by look-alike, circled or flag letters, an I for an l,
 * digits for letters or invisible characters.
 */
export function vendorNamedIn(label: string): string | null {
  const text = asDrawn(label.slice(0, MAX_CHARS))
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
  const left = ELSEWHERE.reduce((left, phrase) => left.replace(phrase, BLANKED), text)
  for (const [names, form] of FORMS) {
    const found = form.exec(left)
    if (found) return bare(names[found.slice(1).findIndex((part) => part !== undefined)]!)
  }
  return null
}
