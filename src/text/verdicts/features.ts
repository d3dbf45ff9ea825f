import type { Features } from '../model'
import { reading } from '../reading'
import { remember } from '../runs'

/**
 * Converts a text to hashed features, sentence by sentence: words, their first letters, and adjacent words. The models
 * are trained on these numbers, so a change here needs `bun run make models`.
 */

const SLOT_BITS = 18
/** Slots of the hash table. With a quarter as many, unseen writers' words collide with those of attacks. */
export const SLOTS = 1 << SLOT_BITS

/** Longer sentences are read in pieces of this many words. */
const MAX_TOKENS = 48
const FEATURES_A_TOKEN = 6
const BASIS = 0x811c9dc5
const PRIME = 0x01000193

/**
 * The sentences of a text: for each its start and end offset, its number of words (`tokens`), and the end of its
 * features in `slots`. All features have the same weight. Flat arrays, because a text has hundreds of sentences.
 */
export type Sentences = {
  count: number
  starts: Int32Array
  ends: Int32Array
  tokens: Int32Array
  slotsEnd: Int32Array
  slots: Int32Array
}

/** Hash set of a sentence's features. Cells also contain the sentence's number, so none need clearing for the next. */
const seen = new Int32Array(1 << 11)
/** The bits of 32 that remain besides a slot. */
const MAX_SENTENCE = 2 ** (32 - SLOT_BITS) - 1
let sentence = 0

/** A sentence number that no cell of `seen` contains. Clears `seen` when the numbers run out. */
function nextSentence(): number {
  if (sentence === MAX_SENTENCE) {
    seen.fill(0)
    sentence = 0
  }
  return ++sentence
}

/** Scratch buffers, reused between texts. A text has fewer words, and so fewer sentences, than units. */
let room = roomFor(1 << 12)
function roomFor(units: number): Omit<Sentences, 'count'> {
  const numbers = () => new Int32Array(units + 1)
  const slots = new Int32Array((units + 1) * FEATURES_A_TOKEN)
  return { starts: numbers(), ends: numbers(), tokens: numbers(), slotsEnd: numbers(), slots }
}

/** For a text in lower case without accents ({@link reading}). Valid until called again. Linear, no string per word. */
function sentencesIn(text: string): Sentences {
  if (KINDS[97] !== LETTER) for (let code = 0; code < KINDS.length; code++) KINDS[code] = kindIn(code)
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
      if (at < text.length && words < MAX_TOKENS) continue
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

/** Hashes of the last read word and of its first four letters. The latter is 0 for shorter words. */
let word = 0
let prefix = 0

/** Reads the word at `at` into `word` and `prefix`. Returns its end. */
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

/** Adds the features of the last read word. Returns the new number of features. */
function addFeatures(slots: Int32Array, from: number, before: number, beforeThat: number, mark: number): number {
  let filled = add(slots, from, slot(word, 1), mark)
  filled = add(slots, filled, slot(mix(before, word), 2), mark)
  filled = add(slots, filled, slot(mix(beforeThat, word), 3), mark)
  if (!prefix) return filled
  filled = add(slots, filled, slot(prefix, 4), mark)
  return add(slots, filled, slot(mix(before, prefix), 5), mark)
}

/** Adds a feature once per sentence, because a table of numbers would repeat the same one a hundred times. */
function add(slots: Int32Array, filled: number, slot: number, mark: number): number {
  const one = (mark * SLOTS + slot) | 0
  let cell = slot & (seen.length - 1)
  // Another feature of this sentence has the cell, so the next is tried. A sentence has far fewer features than cells.
  while (seen[cell]! >>> SLOT_BITS === mark) {
    if (seen[cell] === one) return filled
    cell = (cell + 1) & (seen.length - 1)
  }
  seen[cell] = one
  slots[filled] = slot
  return filled + 1
}

/** Cached for the last text, because several models read the same one in a row. Valid until the next text is read. */
export const sentenceFeaturesOf = remember((source: string): Sentences => sentencesIn(reading(source).text))

/** The features of a text to train on, all of the same weight. */
export function featuresOf(text: string): Features {
  const { slots: all, slotsEnd, count } = sentencesIn(text)
  const slots = Uint32Array.from(all.subarray(0, count ? slotsEnd[count - 1]! : 0))
  return { slots, weights: new Float64Array(slots.length).fill(weightOf(slots.length)) }
}

/** The weight of each of `count` features: a vector of length one, but less for very short texts, which say little. */
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

/** Kind of each UTF-16 unit, in a table because every character is looked up. Filled with the first text. */
const KINDS = new Uint8Array(1 << 16)
const isWordPart = (code: number): boolean => KINDS[code] === LETTER || code === 39

/** Whether a sentence ends: at `.`, `!`, `?` or `;` before white space, or at an equivalent sign of another script. */
const isEnd = (code: number, next: number): boolean =>
  ((code === 46 || code === 33 || code === 63 || code === 59) && !(next > 32)) ||
  code === 0x3002 ||
  code === 0xff01 ||
  code === 0xff1f ||
  code === 0x964 ||
  code === 0x61f

const mix = (sum: number, code: number): number => Math.imul(sum ^ code, PRIME)

/** The slot of a feature, mixed so that the low bits depend on all others and kinds of features rarely collide. */
function slot(sum: number, kind: number): number {
  let mixed = Math.imul(sum ^ kind, PRIME)
  mixed ^= mixed >>> 15
  mixed = Math.imul(mixed, 0x2c1b3c6d)
  return (mixed ^ (mixed >>> 13)) & (SLOTS - 1)
}
