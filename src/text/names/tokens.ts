import { folded, hashOf, knownAs, knownNames, placeAs } from './known'

/** The appearance of a token: the kind of its first letter, and its case if any. Each punctuation sign has its own. */
const LOOK = { none: 1, lower: 2, title: 3, upper: 4, initial: 5, mixed: 6, han: 7, hangul: 8, kana: 9, other: 10 }
const DIGITS = 20
/** Longer numbers look the same. */
const MAX_DIGITS = 14
const SIGN = 64

export type Token = {
  text: string
  start: number
  end: number
  /** The word in lower case without accents, and its hash. */
  word: string
  hash: number
  look: number
  /** Its kind of known name (`knownAs`). For Han and Hangul one bit for each of five stretches around it. */
  known: number
  /** Whether it is a street word or a place (`placeAs`). */
  place: number
  /** Whether there is a gap between it and the previous token. */
  apart: boolean
}

const TOKEN =
  /\p{Script=Han}|\p{Script=Hangul}|[\p{Script=Katakana}ー]+|\p{Script=Hiragana}+|[\p{L}\p{M}]+(?:['’][\p{L}\p{M}]+)*|\p{N}+|\n|[^\s]/gu
const LATIN = /^[\p{Script=Latin}\p{M}'’]+$/u
const HAN = /^\p{Script=Han}/u
const HANGUL = /^\p{Script=Hangul}/u
const KANA = /^[\p{Script=Katakana}\p{Script=Hiragana}ー]/u
const LETTER = /^\p{L}/u
const NUMBER = /^\p{N}/u
/** Endings of a given name in inflected languages. */
const ENDING = /(?:['’]s|s|a|em|om|owi|y|u|ie|ą|ę)$/

/** The words, numbers and signs of a text, or each character in scripts without spaces. Linear. */
export function tokensOf(text: string): Token[] {
  const names = knownNames()
  const tokens: Token[] = []
  /** A cache, because most words of a text recur. */
  const seen = new Map<string, Pick<Token, 'word' | 'hash' | 'look' | 'known' | 'place'>>()
  let end = -1
  for (const { 0: own, index: start } of text.matchAll(TOKEN)) {
    let first = seen.get(own)
    if (!first) {
      const word = folded(own)
      const hash = hashOf(word)
      first = { word, hash, look: lookOf(own), known: 0, place: placeAs(names, hash) }
      first.known = knownWord(names, first)
      seen.set(own, first)
    }
    const { word, hash, look, known, place } = first
    const apart = start > end
    end = start + own.length
    tokens.push({ text: own, start, end, word, hash, look, known, place, apart })
  }
  for (const [at, token] of tokens.entries())
    if (token.look === LOOK.han || token.look === LOOK.hangul) token.known = knownAround(names, tokens, at)
  return tokens
}

/** Whether a word is written like a name in scripts with capitals. */
export const isCapital = ({ look }: Token): boolean => look >= LOOK.title && look <= LOOK.mixed

function lookOf(own: string): number {
  const first = own.charCodeAt(0)
  if (first > 0x7f) {
    if (HAN.test(own)) return LOOK.han
    if (HANGUL.test(own)) return LOOK.hangul
    if (KANA.test(own)) return LOOK.kana
  }
  if (NUMBER.test(own)) return DIGITS + Math.min(MAX_DIGITS, own.length)
  if (!LETTER.test(own)) return SIGN + first
  const lower = own.toLowerCase()
  const upper = own.toUpperCase()
  if (lower === upper) return LOOK.other
  if (own === lower) return LOOK.lower
  if (own.length === 1) return LOOK.initial
  if (own === upper) return LOOK.upper
  return own.slice(1) === lower.slice(1) ? LOOK.title : LOOK.mixed
}

function knownWord(names: Buffer, { word, hash, look }: Pick<Token, 'word' | 'hash' | 'look'>): number {
  if (look > LOOK.other || look === LOOK.kana) return knownAs(names, hash)
  const known = knownAs(names, hash)
  if (known || word.length <= 4 || !LATIN.test(word)) return known
  return knownAs(names, hashOf(word.replace(ENDING, ''))) & 1
}

/**
 * Whether the syllable is a family name, the two or three syllables from it on are a name, and the two up to it a given
 * name.
 */
function knownAround(names: Buffer, tokens: readonly Token[], at: number): number {
  const own = tokens[at]!.text
  const withNext = own + (tokens[at + 1]?.text ?? '')
  const two = knownAs(names, hashOf(withNext))
  const isFamily = knownAs(names, tokens[at]!.hash) & 2
  const three = knownAs(names, hashOf(withNext + (tokens[at + 2]?.text ?? ''))) & 1
  const upToHere = knownAs(names, hashOf((tokens[at - 1]?.text ?? '') + own)) & 1
  return isFamily | (two << 2) | (three << 4) | (upToHere << 5)
}

/** Slots of the hash table, a power of two. With a quarter as many, 2 % more names are missed. */
export const SLOTS = 1 << 18
const PRIME = 0x01000193
const BREAK = new Set(['.', '!', '?', '\n', ':', ';', '•', '*', '-'])

function slot(kind: number, a: number, b = 0, c = 0): number {
  let sum = Math.imul(0x811c9dc5 ^ kind, PRIME)
  sum = Math.imul(sum ^ a, PRIME)
  sum = Math.imul(sum ^ (sum >>> 15) ^ b, 0x2c1b3c6d)
  sum = Math.imul(sum ^ (sum >>> 13) ^ c, PRIME)
  sum = Math.imul(sum ^ (sum >>> 16), 0x2c1b3c6d)
  return (sum ^ (sum >>> 13)) & (SLOTS - 1)
}

const EDGE: Token = {
  text: '',
  start: 0,
  end: 0,
  word: '^',
  hash: 94,
  look: LOOK.none,
  known: 0,
  place: 0,
  apart: true,
}
const styleOf = ({ known, look }: Token): number => known * 0x20000 + look

/** Maximum distance of a related number: a house number or a postal code is a few words away. */
const NUMBER_REACH = 6
const CAPITAL_REACH = 4

/** For each token, whether a matching token is before it (1), after it (2) or itself (4), within `reach` tokens. */
function around(tokens: readonly Token[], isOne: (token: Token) => boolean, reach: number): Uint8Array {
  const found = new Uint8Array(tokens.length)
  let before = Number.NEGATIVE_INFINITY
  for (let at = 0; at < tokens.length; at++) {
    if (at - before <= reach) found[at]! |= 1
    if (isOne(tokens[at]!)) {
      found[at]! |= 4
      before = at
    }
  }
  let behind = Number.POSITIVE_INFINITY
  for (let at = tokens.length - 1; at >= 0; at--) {
    if (behind - at <= reach) found[at]! |= 2
    if (found[at]! & 4) behind = at
  }
  return found
}

/**
 * The features of each token, as slots: the word, its letters and look, its known kinds, and the same for some adjacent
 * tokens. The model is trained on these numbers, so a change here needs `bun run make models`.
 */
export function featuresOf(tokens: readonly Token[]): Int32Array[] {
  const isLower = !tokens.some(({ look }) => look === LOOK.title)
  const numbersBy = around(tokens, ({ look }) => look >= DIGITS && look < SIGN, NUMBER_REACH)
  const capitalsBy = around(tokens, isCapital, CAPITAL_REACH)
  return tokens.map((token, at) => {
    const before = tokens[at - 1] ?? EDGE
    const beforeThat = tokens[at - 2] ?? EDGE
    const next = tokens[at + 1] ?? EDGE
    const afterNext = tokens[at + 2] ?? EDGE
    const last = tokens[at - 3] ?? EDGE
    const third = tokens[at + 3] ?? EDGE
    const { hash, look, word, place } = token
    const style = styleOf(token)
    const numbers = numbersBy[at]!
    // The model was trained with these two bits swapped.
    const capitals = ((capitalsBy[at]! & 1) << 1) | ((capitalsBy[at]! & 2) >> 1)
    const begins = before === EDGE || BREAK.has(before.text) ? 1 : 0
    const features = [
      slot(1, hash),
      slot(2, look),
      slot(3, style),
      slot(4, styleOf(before), style),
      slot(5, style, styleOf(next)),
      slot(6, before.known, token.known, next.known),
      slot(7, before.hash),
      slot(8, beforeThat.hash),
      slot(9, next.hash),
      slot(10, afterNext.hash),
      slot(11, before.hash, look),
      slot(12, next.hash, look),
      slot(13, beforeThat.hash, before.hash, look),
      slot(14, next.hash, afterNext.hash, look),
      slot(15, before.look, look, next.look),
      slot(16, beforeThat.look * 0x20000 + before.look, look, next.look * 0x20000 + afterNext.look),
      slot(17, begins, style),
      slot(18, isLower ? 1 : 0, style),
      slot(19, (token.apart ? 1 : 0) + (next.apart ? 2 : 0), look),
      slot(24, place, look),
      slot(25, before.place, place, next.place),
      slot(26, beforeThat.place * 8 + before.place, look, next.place * 8 + afterNext.place),
      slot(27, last.look, beforeThat.look * 0x20000 + before.look, look),
      slot(28, look, next.look * 0x20000 + afterNext.look, third.look),
      slot(29, last.hash, look),
      slot(30, third.hash, look),
      slot(31, numbers, look),
      slot(32, numbers * 8 + capitals, style),
    ]
    if (word.length > 2 && token.look >= LOOK.lower && token.look <= LOOK.mixed) {
      const { length } = word
      features.push(
        slot(20, hashOf(word, length - 2), look),
        slot(21, hashOf(word, length - 3), look),
        slot(22, hashOf(word, 0, 3), look),
        slot(23, hashOf(word, Math.max(0, length - 4))),
      )
    }
    return new Int32Array(features)
  })
}
