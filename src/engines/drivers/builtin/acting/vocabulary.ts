import { contentWords } from '../../../../kernel/words'

/** Verbs of one meaning: a tool named by one of them is asked for by any. */
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

/** These only ask to be shown something, which a question does too. */
const WEAK = new Set(
  'get fetch retrieve read show list check see view open visit load download find give tell'.split(' '),
)

/** Parts of names that say nothing about what a tool is for. */
const EMPTY = new Set(
  contentWords(
    'tool tools function api service data info information details result results current latest web online internet memory something anything',
  ),
)

export const isVerb = (word: string): boolean => WEAK.has(word) || GROUPS.some((group) => group.has(word))

/** Verbs that may stand where this one does; null for one that only asks to be shown. */
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

/** `look up` is one verb, and `e-mail` one word. */
export const joined = (text: string): string =>
  text.replace(/\blook(s|ing)? up\b/gi, 'lookup$1').replace(/\be-(mails?)\b/gi, 'e$1')

/** Words with a meaning of their own, in the form texts are compared in. */
export const tellingWords = (words: readonly string[]): string[] =>
  contentWords(words.filter((word) => !isVerb(word)).join(' ')).filter((word) => !EMPTY.has(word))
