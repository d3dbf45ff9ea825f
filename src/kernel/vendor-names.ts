import { toLatin } from './injection/confusables'
import { readable } from './injection/readable'
import { unleeted } from './injection/view'

/** Makers of engines and their models, in small letters; a blank stands for any join or none. */
const NAMES = [
  ...['open ai', 'chat gpt', 'gpt', 'dall e', 'anthropic', 'claude', 'google', 'gemini', 'deep mind', 'vertex ai'],
  ...['mistral', 'mixtral', 'cohere', 'meta ai', 'llama', 'grok', 'groq', 'deep seek', 'qwen', 'perplexity'],
  ...['hugging face', 'azure ai', 'amazon bedrock', 'aws bedrock', 'together ai', 'fireworks ai', 'stability ai'],
  ...['stable diffusion', 'mid journey', 'eleven labs', 'deep gram', 'open router', 'o llama', 'moonshot ai', 'kimi'],
]

/** What may stand between two letters of a name that is spelt out: a blank, a dot, a dash, up to three of them. */
const JOIN = '[^a-z0-9]{0,3}'
const spelt = (name: string): string => [...name.replaceAll(' ', '')].join(JOIN)

/** Not inside a longer word: `metadata`, `claudette` and `misanthropic` name nobody. */
const NAMED = new RegExp(`(?<![a-z])(?:${NAMES.map((name) => `(${spelt(name)})`).join('|')})(?![a-z])`)

/** The same words where they name something else: people, stars, animals, a verb, what a prompt is about. */
const ELSEWHERE = [
  /\b(?:jean|marie|pierre|saint|st|uncle|aunt)[ -]claude\b|\bclaude (?:monet|debussy|shannon|chabrol|rains|bernard|lorrain|levi|van damme)\b/g,
  /\bgemini (?:zodiac|horoscopes?|season|constellation|twins?|moon|rising|spacecraft|missions?|program|project)\b/g,
  /\bgrok (?:the|this|that|these|those|it|a|an|how|why|what|my|our|your)\b|\b(?:to|can|cannot|fully|really|finally) grok\b/g,
  /\bllama (?:farms?|wool|herds?|trek(?:s|king)?)\b|\balpaca (?:and|or) llama\b/g,
  /\bgoogle (?:docs?|sheets?|slides?|forms?|drive|maps?|calendar|search|ads|analytics|scholar|translate|earth|trends|workspace)\b/g,
  /\bmistral (?:winds?|sails?)\b|\bcohere (?:with|well|into|around)\b|\bperplexity (?:scores?|metrics?|of)\b/g,
  /\bgpt (?:partitions?|disks?|tables?)\b|\banthropic (?:principle|bias|reasoning)\b/g,
]

/** Long enough that no name is found across it. */
const BLANKED = ' #### '
const withoutThose = (text: string): string => ELSEWHERE.reduce((left, phrase) => left.replace(phrase, BLANKED), text)

/** A one is read as an `i` further on; here as the `l` it may stand for as well. */
const onesAsLs = (text: string): string => text.replace(/(?<=\p{L})[1|]|[1|](?=\p{L})/gu, 'l')

/** Humps are words: `MyOpenAIRules` is `My Open AI Rules`. */
const humpsApart = (text: string): string =>
  text.replace(/(\p{Ll})(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu, (letter) => `${letter} `)

/** Every letter as the Latin one it looks like. */
const latin = (text: string): string => text.replace(/[^\p{ASCII}]/gu, (letter) => toLatin(letter) ?? letter)

/** A label is short; what stands in a long text is found in its beginning. */
const MOST_CHARS = 2_000

/**
 * The upstream vendor or model that a label names, however it is spelt: spaced, in any case, with look-alike
 * letters, digits for letters or unseen characters. Null when it names none (contract 12, 13).
 */
export function vendorNamedIn(label: string): string | null {
  const short = label.slice(0, MOST_CHARS)
  for (const text of new Set([short, humpsApart(short), onesAsLs(short)])) {
    const plain = readable(latin(text))
    for (const view of [plain, unleeted(plain)]) {
      const found = view && NAMED.exec(withoutThose(view.text))
      if (found) return NAMES[found.slice(1).findIndex((part) => part !== undefined)]!.replaceAll(' ', '')
    }
  }
  return null
}
