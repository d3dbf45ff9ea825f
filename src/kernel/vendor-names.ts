import { readable } from './injection/readable'
import { unleeted } from './injection/view'
import { asDrawn, STROKE, withStrokes } from './vendor-looks'

/** Makers of engines and their models, in small letters; a blank stands for any join or none. */
const NAMES = [
  'open ai',
  'chat gpt',
  'gpt',
  'dall e',
  'anthropic',
  'claude',
  'google',
  'gemini',
  'deep mind',
  'vertex ai',
  'mistral',
  'mixtral',
  'cohere',
  'meta ai',
  'llama',
  'grok',
  'groq',
  'deep seek',
  'qwen',
  'perplexity',
  'hugging face',
  'azure ai',
  'amazon bedrock',
  'aws bedrock',
  'together ai',
  'fireworks ai',
  'stability ai',
  'stable diffusion',
  'mid journey',
  'eleven labs',
  'deep gram',
  'open router',
  'o llama',
  'moonshot ai',
  'kimi',
]

/** Those that are words of nothing else: several of them are still theirs, and so is a longer word that ends in one. */
const COINED = [
  'openai',
  'chatgpt',
  'deepseek',
  'mixtral',
  'huggingface',
  'midjourney',
  'elevenlabs',
  'openrouter',
  'qwen',
]
const COUNTED = [...COINED, 'gpt', 'anthropic', 'claude', 'ollama', 'groq', 'deepmind']

/** What makers put behind a name, and others behind that of a maker, without a blank. */
const ADDED =
  'ai|api|bot|chat|code|flash|gpt|haiku|hq|inc|labs?|large|llms?|mini|ml|models?|nano|opus|plus|pro|sonnet|turbo|ultra|vision'

/** What may stand between two letters of a name that is spelt out: a blank, a dot, a dash, up to three of them. */
const JOIN = `[^a-z0-9${STROKE}]{0,3}`
const LETTER = `[a-z${STROKE}]`
const drawn = (letter: string): string => (letter === 'i' || letter === 'l' ? `[${letter}${STROKE}]` : letter)
const bare = (name: string): string => name.replaceAll(' ', '')
const spelt = (name: string): string => [...bare(name)].map(drawn).join(JOIN)
const closed = (name: string): string => [...bare(name)].map(drawn).join('')
/** A group for each name, in their order. */
const anyOf = (names: readonly string[], written: (name: string) => string): string =>
  names.map((name) => `(${written(name)})`).join('|')

/** Not inside a longer word: `metadata`, `claudette` and `misanthropic` name nobody. */
const FORMS: readonly (readonly [readonly string[], RegExp])[] = [
  [NAMES, new RegExp(`(?<!${LETTER})(?:${anyOf(NAMES, spelt)})(?!${LETTER})`)],
  [NAMES, new RegExp(`(?<!${LETTER})(?:${anyOf(NAMES, closed)})(?:${ADDED})(?!${LETTER})`)],
  [COUNTED, new RegExp(`(?<!${LETTER})(?:${anyOf(COUNTED, closed)})s(?!${LETTER})`)],
  [COINED, new RegExp(`(?:${anyOf(COINED, closed)})(?:s|${ADDED})?(?!${LETTER})`)],
]

/** The same words where they name something else: people, stars, animals, a verb, what a prompt is about. */
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

/** Long enough that no name is found across it. */
const BLANKED = ' #### '
const withoutThose = (text: string): string => ELSEWHERE.reduce((left, phrase) => left.replace(phrase, BLANKED), text)

/** Humps are words: `MyOpenAIRules` is `My Open AI Rules`. */
const humpsApart = (text: string): string =>
  text.replace(/(\p{Ll})(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu, (letter) => `${letter} `)

/** A label is short; what stands in a long text is found in its beginning. */
const MOST_CHARS = 2_000

/**
 * The upstream vendor or model that a label names, however it is spelt: spaced, in any case, as several or with a word
 * added, with look-alike, circled or flagged letters, an I for an l, digits for letters or unseen characters. Null
 * when it names none (contract 12, 13).
 */
export function vendorNamedIn(label: string): string | null {
  const text = asDrawn(label.slice(0, MOST_CHARS))
  const strokes = withStrokes(text)
  for (const written of new Set([text, humpsApart(text), strokes, humpsApart(strokes)])) {
    const plain = readable(written)
    // Letters in a style of their own are only now the letters of another script.
    const view = { ...plain, text: asDrawn(plain.text).toLowerCase() }
    const found = nameIn(view.text) ?? nameIn(unleeted(view)?.text ?? '')
    if (found) return found
  }
  return null
}

function nameIn(text: string): string | null {
  const left = withoutThose(text)
  for (const [names, form] of FORMS) {
    const found = form.exec(left)
    if (found) return bare(names[found.slice(1).findIndex((part) => part !== undefined)]!)
  }
  return null
}
