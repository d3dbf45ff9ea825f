import { contentWords } from '../../text'
import { type EntityKind, findEntities } from './entities'
import { labelledFacts } from './words'

/** Groups of synonyms: a tool named by one verb can be asked for with any verb of its group. */
const GROUPS = [
  'search lookup google',
  'run execute evaluate',
  'save remember memorize memorise store',
  'send email mail message post notify',
  'create add make insert',
  'book reserve schedule',
  'buy order purchase',
  'delete remove erase cancel',
  'update change set edit modify',
  'calculate compute',
  'convert',
  'translate',
].map((line) => new Set(line.split(' ')))

/** Verbs that only ask to see something, as a question does too. */
const WEAK = new Set(
  'get fetch retrieve read show list check see view open visit load download find give tell'.split(' '),
)

/** Words of tool names that do not say what the tool is for. */
const EMPTY = new Set(
  contentWords(
    'tool tools function api service data info information details result results current latest web online internet memory something anything',
  ),
)

export const isVerb = (word: string): boolean => WEAK.has(word) || GROUPS.some((group) => group.has(word))

/** The synonyms of a verb, itself included; null for a weak verb and for words that are no verb. */
export const likeVerb = (verb: string): ReadonlySet<string> | null =>
  WEAK.has(verb) ? null : (GROUPS.find((group) => group.has(verb)) ?? null)

export const isWeak = (word: string): boolean => WEAK.has(word)

/** `getStockPrice`, `get_stock_price`, `look-up` in lower-case words. */
export const wordsOfName = (name: string): string[] =>
  joined(
    name
      .replace(/([a-z\d])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .filter(Boolean)
      .join(' '),
  ).split(' ')

/** Writes `look up` as `lookup` and `e-mail` as `email`, so that each is one word. */
const joined = (text: string): string =>
  text.replace(/\blook(s|ing)? up\b/gi, 'lookup$1').replace(/\be-(mails?)\b/gi, 'e$1')

/** The words that say what a tool is for, as stems to compare. */
export const tellingWords = (words: readonly string[]): string[] =>
  contentWords(words.filter((word) => !isVerb(word)).join(' ')).filter((word) => !EMPTY.has(word))

/** One thing that a request asks for, parsed once. */
export type Clause = {
  /** The instruction, without the text it may be about. */
  instruction: string
  /** The text in which argument values are looked for. */
  text: string
  words: ReadonlySet<string>
  /** The first word that is not politeness, in lower case. */
  first: string
  isQuestion: boolean
  facts: ReadonlyMap<string, string>
  quoted: readonly string[]
  /** All entities of one kind in the text; the result is cached. */
  entities(kind: EntityKind): readonly string[]
  /** Epoch milliseconds from which `tomorrow` is counted. */
  now: number
}

const POLITE =
  /^(?:(?:please|now|then|also|and|hey|ok|okay|kindly)[,\s]+|(?:can|could|would|will) you (?:please )?|i(?:'d| would) like (?:you )?to |i (?:want|need) (?:you )?to |let'?s )+/i
const QUESTION = /^(?:what|who|whom|whose|when|where|which|why|how|is|are|do|does|did|was|were|has|have)\b|\?\s*$/i
const QUOTED =
  /"([^"\n]{1,2000})"|“([^“”\n]{1,2000})”|`([^`\n]{1,2000})`|(?<![\p{L}\p{N}])'([^'\n]{1,2000})'(?!\p{L})/gu

export function readClause(question: string, text: string, now: number): Clause {
  const plain = joined(question.trim().replace(POLITE, ''))
  const known = new Map<EntityKind, readonly string[]>()
  return {
    instruction: plain,
    text: text === question ? plain : text,
    words: new Set([...contentWords(plain), ...(plain.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])]),
    first: /^[\p{L}\p{N}]+/u.exec(plain.toLowerCase())?.[0] ?? '',
    isQuestion: QUESTION.test(plain),
    facts: labelledFacts(text),
    quoted: [...text.matchAll(QUOTED)].map(([, ...found]) => found.find(Boolean)!),
    entities: (kind) => known.getOrInsertComputed(kind, () => findEntities(kind, text)),
    now,
  }
}

const MAX_CLAUSES = 8

/** `look up tides and look up winds` asks for two things; each part must begin with a verb. */
export function splitRequested(text: string): string[] {
  const parts = joined(text)
    .split(/\s{0,9}(?:;|\n[\s*-]{0,40}|,?\s{1,9}(?:and then|then|and)\s{1,9}|,\s{1,9})(?=\p{L})/u)
    .filter(Boolean)
  const whole: string[] = []
  for (const part of parts) {
    const first = /^(?:please\s+)?(\p{L}+)/iu.exec(part)?.[1]?.toLowerCase() ?? ''
    if (whole.length === 0 || isVerb(first) || QUESTION.test(part)) whole.push(part)
    else return [text]
  }
  return whole.length > 1 && whole.length <= MAX_CLAUSES ? whole : [text]
}

/** Prepositions that introduce a value, by the last word of the property's name. */
const BEFORE: [RegExp, string][] = [
  [/^(?:location|city|place|country|region|town|state|where|area|timezone|zone)$/, 'in|at|for|near|around|of'],
  [/^(?:from|origin|source|departure|start)$/, 'from'],
  [/^(?:to|destination|recipient|target|receiver|end|arrival)$/, 'to|for'],
  [/^(?:language|lang)$/, 'into|in|to'],
  [/^(?:name|title|label)$/, 'named|called|titled|entitled'],
  [/^(?:symbol|ticker|company)$/, 'of|for'],
]

/** Where a phrase ends: before a preposition, a time word or punctuation. */
const END =
  '(?=\\s{1,20}(?:in|at|on|for|from|to|into|with|by|today|tomorrow|tonight|now|please|this|next|right|using|as|is|are|and|or|of)\\b|[,;:?!"\\n]|\\.(?:\\s|$)|$)'
const NAME = "\\p{Lu}[\\p{L}\\p{N}.'’-]*(?:\\s+(?:(?:de|del|la|of|the|am|sur)\\s+)?\\p{Lu}[\\p{L}\\p{N}.'’-]*)*"

/** What a place may be said to be before its name: `the city Paris`, `the town of Rye`. */
const SORT = '(?:city|town|place|location|country|region|state)'

/** `in Paris`, `from the city of Rome`, `called Ada`: a capitalised name, else all words to the end of the phrase. */
export function phraseFor(last: string, { text }: Pick<Clause, 'text'>): string | null {
  const before = BEFORE.find(([names]) => names.test(last))?.[1]
  if (!before) return null
  const named = new RegExp(`\\b(?:${before})\\s+(?:the\\s+)?(?:${SORT}\\s+(?:of\\s+)?)?(${NAME})`, 'u').exec(text)?.[1]
  if (named) return tidy(named)
  const start = `\\b(?:${before})\\s+(?:the\\s+)?(?:${SORT}\\s+of\\s+)?`
  const worded = new RegExp(`${start}([\\p{L}\\p{N}][^\\n]{0,80}?)${END}`, 'iu').exec(text)?.[1]
  return worded ? tidy(worded).replace(new RegExp(`^${SORT}\\s+`, 'i'), '') : null
}

/** `with city Paris`, `the city set to Paris`: a capitalised name right behind the name of its property. */
export const nameBehind = (words: readonly string[], { text }: Pick<Clause, 'text'>): string | null => {
  const own = words.map((word) => RegExp.escape(word)).join('[ _-]')
  const name = new RegExp(`\\b${own}\\s+(?:(?:set\\s+)?to\\s+|of\\s+|is\\s+|as\\s+)?(${NAME})`, 'u').exec(text)?.[1]
  return name ? tidy(name) : null
}

/** `in Paris and Rome`, `in Oslo, Bergen and Tromsø`: two or more places; empty for a single one. */
export function placesFor(last: string, { text }: Clause): string[] {
  const before = BEFORE[0]!
  if (!before[0].test(last)) return []
  const listed = new RegExp(`\\b(?:${before[1]})\\s+(${NAME}(?:,\\s+${NAME})*,?\\s+and\\s+${NAME})`, 'u').exec(
    text,
  )?.[1]
  return listed?.split(/,?(?<!\s)\s+and\s+|,\s+/).map(tidy) ?? []
}

/** `order 1234`, `#1234`, `ticket ABC-12`: a word with a digit after the noun it numbers, else one after `#`. */
export function idFor(words: readonly string[], { text }: Clause): string | null {
  const last = words.at(-1)!
  if (!/^(?:id|number|no|code|reference|ref|key)$/.test(last)) return null
  const head = words.slice(0, -1).join('\\s+')
  const token = '#?([\\p{L}\\p{N}_-]*\\d[\\p{L}\\p{N}_-]*)'
  const after =
    head && new RegExp(`\\b${head}\\s+(?:(?:id|number|no\\.?|code)\\s+)?(?:is\\s+)?${token}`, 'iu').exec(text)
  return (after || /#([\p{L}\p{N}_-]+)/u.exec(text))?.[1] ?? null
}

/** Code in a fence or between back ticks. */
export const codeIn = (text: string): string | null =>
  (/```[\w+-]*\n([\s\S]+?)\n?```/.exec(text)?.[1] ?? /`([^`\n]+)`/.exec(text)?.[1])?.trim() || null

const LEAD = /^(?:(?:for|about|on|of|in|at|to|the|a|an|this|that|me|us|my|up|with|out|into|is|are|please)\b\s*)+/i

/** `remember: …`, `remember that …`, `send it, saying …`: what follows is the text. */
const MARKED = [/^[^\n:]{1,80}:\s+([\s\S]+)$/, /^\p{L}+ that\s+([\s\S]+)$/u, /\b(?:saying|that says)\s+([\s\S]+)$/]

/**
 * The rest of a request without its verb, the words of the tool's name (`said`) and the values already `found`. Null
 * when the request is not an instruction.
 */
export function restOf({ text, first }: Clause, messages: readonly string[], found: readonly string[]): string | null {
  const marked = MARKED.map((mark) => mark.exec(text)?.[1]).find(Boolean)
  if (!marked && !isVerb(first) && !messages.includes(first)) return null
  let rest = marked ?? text.replace(/^\p{L}[\p{L}\p{N}_-]*\s*/u, '')
  for (const piece of found) rest = rest.replace(piece, ' ')
  if (marked) return tidy(rest) || null
  rest = rest.replace(LEAD, '')
  for (const word of messages) rest = rest.replace(new RegExp(`^${word}(?:e?s)?\\b\\s*`, 'iu'), '').replace(LEAD, '')
  return tidy(rest) || null
}

const tidy = (phrase: string): string =>
  phrase
    .replace(/\s+/g, ' ')
    .replace(/^[\s,;:]+|(?<![\s,;:?!])[\s,;:?!]+$|(?<=[^.])\.$/g, '')
    .trim()
