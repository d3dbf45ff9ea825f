import { toLatin } from './injection/confusables'
import { readable, unleeted } from './injection/view'

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
  for (const text of [short, humpsApart(short)]) {
    const plain = readable(latin(text))
    for (const view of [plain, unleeted(plain)]) {
      const found = view && NAMED.exec(view.text)
      if (found) return NAMES[found.slice(1).findIndex((part) => part !== undefined)]!.replaceAll(' ', '')
    }
  }
  return null
}
