import type { EngineTool, Message, ToolCall } from './engine'

/**
 * Our own token count: an estimate within about 20 %, for reservations, for limits, and for charging when an
 * upstream states no usage or a false one (G7). One table look-up a character, no dictionary.
 *
 * Additive: the weights of two halves add up to the weight of the whole, so a stream can be counted piece
 * by piece.
 */
export const UNITS_PER_TOKEN = 100

const LETTER = 22
const DIGIT = 38
const PUNCTUATION = 55
const NEWLINE = 45

const ASCII = new Uint8Array(128).fill(PUNCTUATION)
for (let code = 0; code < 128; code++) {
  const char = String.fromCharCode(code)
  if (/[A-Za-z ]/.test(char)) ASCII[code] = LETTER
  else if (/\d/.test(char)) ASCII[code] = DIGIT
  else if (/\s/.test(char)) ASCII[code] = NEWLINE
}

/** Scripts by their blocks of 256 code units: the first page, the last page, the weight of one code unit. */
const SCRIPTS: [number, number, number][] = [
  [0x00, 0x02, 48], // Latin with marks
  [0x03, 0x05, 42], // Greek, Cyrillic, Armenian, Hebrew
  [0x06, 0x08, 45], // Arabic, Syriac
  [0x09, 0x0d, 60], // scripts of India
  [0x0e, 0x0f, 60], // Thai, Lao, Tibetan
  [0x11, 0x11, 90], // Hangul parts
  [0x20, 0x2f, 75], // symbols
  [0x30, 0x31, 80], // kana
  [0x32, 0x9f, 95], // Han
  [0xac, 0xd7, 85], // Hangul syllables
  [0xd8, 0xdf, 110], // halves of pairs: emoji, rare Han
]

const PAGES = new Uint8Array(256).fill(70)
for (const [first, last, weight] of SCRIPTS) PAGES.fill(weight, first, last + 1)

/** The weight of a text in hundredths of a token. */
export function weigh(text: string): number {
  let units = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    units += code < 128 ? ASCII[code]! : PAGES[code >> 8]!
  }
  return units
}

/** Tokens of a text; 0 only when it is empty. */
export const countTokens = (text: string): number => Math.ceil(weigh(text) / UNITS_PER_TOKEN)

const TOKENS_PER_MESSAGE = 4
const TOKENS_PER_ANSWER_START = 3
/** Tokens that most engines count for an image of usual size. */
const TOKENS_PER_IMAGE = 800

/** The weight of calls: their names and arguments. */
export const weighCalls = (calls: readonly ToolCall[]): number =>
  calls.reduce((units, call) => units + weigh(call.name) + weigh(call.arguments), 0)

/** Tokens of a whole prompt: texts, calls, images, tool definitions, and a fixed number per message. */
export function countPrompt(messages: readonly Message[], tools: readonly EngineTool[] = []): number {
  let units = tools.length ? weigh(JSON.stringify(tools)) : 0
  let tokens = TOKENS_PER_ANSWER_START
  for (const message of messages) {
    tokens += TOKENS_PER_MESSAGE
    if (message.role === 'assistant' && message.toolCalls) units += weighCalls(message.toolCalls)
    if (typeof message.content === 'string') {
      units += weigh(message.content)
      continue
    }
    for (const part of message.content) {
      if (part.type === 'text') units += weigh(part.text)
      else tokens += TOKENS_PER_IMAGE
    }
  }
  return tokens + Math.ceil(units / UNITS_PER_TOKEN)
}

/** The beginning of a text that weighs at most `units`, never half a surrogate pair. */
export function cutToWeight(text: string, units: number): string {
  let left = units
  let at = 0
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    left -= code < 128 ? ASCII[code]! : PAGES[code >> 8]!
    if (left < 0) break
  }
  const code = text.charCodeAt(at - 1)
  return text.slice(0, code >= 0xd800 && code < 0xdc00 ? at - 1 : at)
}
