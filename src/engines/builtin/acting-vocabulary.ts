import { contentWords } from '../../text'

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
export const joined = (text: string): string =>
  text.replace(/\blook(s|ing)? up\b/gi, 'lookup$1').replace(/\be-(mails?)\b/gi, 'e$1')

/** The words that say what a tool is for, as stems to compare. */
export const tellingWords = (words: readonly string[]): string[] =>
  contentWords(words.filter((word) => !isVerb(word)).join(' ')).filter((word) => !EMPTY.has(word))
