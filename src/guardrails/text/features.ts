import { remember } from '../../kernel/remember'
import type { Features } from '../../kernel/text-model/model'
import { reading } from './words'

/**
 * A text as hashed features, a sentence at a time: words, their beginnings, and words beside each other. The
 * model files are made from these numbers, so a change here asks for `bun run train`.
 */

const SLOT_BITS = 16
/** Slots of the hash table. With half as many, words of manuals fell together with those of attacks. */
export const SLOTS = 1 << SLOT_BITS

/** A longer sentence is read in pieces of so many words. */
const MOST_TOKENS = 48
const FEATURES_A_TOKEN = 6
const BASIS = 0x811c9dc5
const PRIME = 0x01000193

/**
 * The sentences of a text: where each begins and ends in it, how many words it has, and where its features, each
 * counting alike, end among all. Lists of numbers, for a text has hundreds of sentences.
 */
export type Sentences = {
  count: number
  starts: Int32Array
  ends: Int32Array
  tokens: Int32Array
  slotsEnd: Int32Array
  slots: Int32Array
}

/** What was seen last, each with the sentence it was in, counted through the texts; small, to stay near the processor. */
const seen = new Int32Array(1 << 11)
let sentence = 0

/** A number nothing was marked with; where there is none left all marks are taken off. */
function nextSentence(): number {
  if (sentence === 0xffff) {
    seen.fill(0)
    sentence = 0
  }
  return ++sentence
}

/** Room for what is read, kept from text to text; a text has fewer words, and so fewer sentences, than units. */
let room = roomFor(1 << 12)
function roomFor(units: number): Omit<Sentences, 'count'> {
  const numbers = () => new Int32Array(units + 1)
  const slots = new Int32Array((units + 1) * FEATURES_A_TOKEN)
  return { starts: numbers(), ends: numbers(), tokens: numbers(), slotsEnd: numbers(), slots }
}

/** Reads small letters without accents, as the reading of a text has them. Linear, and without a string a word. */
export function sentencesIn(text: string): Sentences {
  fillKinds()
  if (text.length >= room.starts.length) room = roomFor(text.length)
  const { starts, ends, tokens, slotsEnd, slots } = room
  let mark = nextSentence()
  let [count, filled, words, start] = [0, 0, 0, 0]
  let before = BASIS
  let beforeThat = BASIS
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at)
    const kind = KINDS[code]!
    if (kind === OTHER) {
      at++
      if (at < text.length && !isEnd(code, text.charCodeAt(at))) continue
    } else {
      at = readWord(text, at, kind)
      filled = addFeatures(slots, filled, before, beforeThat, mark)
      beforeThat = before
      before = prefix || word
      words++
      if (at < text.length && words < MOST_TOKENS) continue
    }
    if (words > 0) {
      starts[count] = start
      ends[count] = at
      tokens[count] = words
      slotsEnd[count++] = filled
    }
    words = 0
    start = at
    before = beforeThat = BASIS
    mark = nextSentence()
  }
  return { count, starts, ends, tokens, slotsEnd, slots }
}

/** The word that was read last, hashed, and what it begins with; 0 where it is too short for that. */
let word = 0
let prefix = 0

/** Where the word at `at` ends. */
function readWord(text: string, at: number, kind: number): number {
  let end = at + 1
  prefix = 0
  if (kind === SIGN) word = mix(BASIS, text.charCodeAt(at))
  else if (kind === DIGIT) {
    word = mix(BASIS, 48)
    while (end < text.length && KINDS[text.charCodeAt(end)] === DIGIT) end++
  } else {
    let sum = mix(BASIS, text.charCodeAt(at))
    for (; end < text.length && isWordPart(text.charCodeAt(end)); end++) {
      sum = mix(sum, text.charCodeAt(end))
      if (end - at === 3) prefix = sum
    }
    word = sum
  }
  return end
}

/** Adds those of the word that was read last; says how many there are now. */
function addFeatures(slots: Int32Array, from: number, before: number, beforeThat: number, mark: number): number {
  let filled = add(slots, from, slot(word, 1), mark)
  filled = add(slots, filled, slot(mix(before, word), 2), mark)
  filled = add(slots, filled, slot(mix(beforeThat, word), 3), mark)
  if (!prefix) return filled
  filled = add(slots, filled, slot(prefix, 4), mark)
  return add(slots, filled, slot(mix(before, prefix), 5), mark)
}

/** Once a sentence: a table of numbers says the same thing a hundred times. */
function add(slots: Int32Array, filled: number, slot: number, mark: number): number {
  const one = mark * SLOTS + slot
  let cell = slot & (seen.length - 1)
  // A cell of this sentence may be another's: the next one then. There are many more cells than words of a sentence.
  while (seen[cell]! >>> SLOT_BITS === mark) {
    if (seen[cell] === one) return filled
    cell = (cell + 1) & (seen.length - 1)
  }
  seen[cell] = one | 0
  slots[filled] = slot
  return filled + 1
}

/** The sentences of a text as people wrote it; models that look at the same text share them, until the next is read. */
export const sentencesOf = remember((source: string): Sentences => sentencesIn(reading(source).text))

/** One sentence for a model that learns: all features alike, together of length one. */
export function featuresOf(text: string): Features {
  const { slots: all, slotsEnd, count } = sentencesIn(text)
  const slots = Uint32Array.from(all.subarray(0, count ? slotsEnd[count - 1]! : 0))
  return { slots, weights: new Float64Array(slots.length).fill(weightOf(slots.length)) }
}

/** What each of so many features counts. Very short texts say less than they seem to. */
export const weightOf = (count: number): number => 1 / Math.sqrt(Math.max(count, 24))

const OTHER = 0
const LETTER = 1
const DIGIT = 2
/** A character that is a word by itself, as in Chinese. */
const SIGN = 3

function kindIn(code: number): number {
  if (code >= 97 && code <= 122) return LETTER
  if (code >= 48 && code <= 57) return DIGIT
  if (code < 0xc0) return OTHER
  if (code >= 0x2000 && code < 0x3040) return OTHER
  if (code >= 0x3040 && code < 0xd7b0) return code >= 0xac00 || code >= 0x3400 || code <= 0x30ff ? SIGN : OTHER
  return code >= 0xff00 || (code >= 0xd800 && code < 0xf900) ? OTHER : LETTER
}

/** By UTF-16 unit, for it is looked up once a character of everything that is read; filled with the first text. */
const KINDS = new Uint8Array(1 << 16)
function fillKinds(): void {
  if (KINDS[97] === LETTER) return
  for (let code = 0; code < KINDS.length; code++) KINDS[code] = kindIn(code)
}

const isWordPart = (code: number): boolean => KINDS[code] === LETTER || code === 39

/** `.`, `!`, `?` before a blank, their like in other scripts, and what closes a piece of mark-up. */
const isEnd = (code: number, next: number): boolean =>
  ((code === 46 || code === 33 || code === 63 || code === 59) && !(next > 32)) ||
  code === 0x3002 ||
  code === 0xff01 ||
  code === 0xff1f ||
  code === 0x964 ||
  code === 0x61f

const mix = (sum: number, code: number): number => Math.imul(sum ^ code, PRIME)

/** Finished so that low bits depend on all, and so that kinds of features do not meet. */
function slot(sum: number, kind: number): number {
  let mixed = Math.imul(sum ^ kind, PRIME)
  mixed ^= mixed >>> 15
  mixed = Math.imul(mixed, 0x2c1b3c6d)
  return (mixed ^ (mixed >>> 13)) & (SLOTS - 1)
}
