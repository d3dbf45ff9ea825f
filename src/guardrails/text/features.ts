import { remember } from '../../kernel/remember'
import type { Features } from '../../kernel/text-model/model'
import { reading } from './words'

/**
 * A text as hashed features, a sentence at a time: words, their beginnings, and words beside each other. The
 * model files are made from these numbers, so a change here asks for `bun run train`.
 */

/** Slots of the hash table; a power of two. */
export const SLOTS = 1 << 15

/** A longer sentence is read in pieces of so many words. */
const MOST_TOKENS = 48
const FEATURES_A_TOKEN = 6
const BASIS = 0x811c9dc5
const PRIME = 0x01000193

/** Where a sentence begins and ends in the text, and its features, each counting alike. */
export type Sentence = { start: number; end: number; slots: Uint32Array; tokens: number }

/** In which sentence, counted through all texts, a slot was last seen. */
const seenIn = new Float64Array(SLOTS)
let sentence = 1

/** Reads small letters without accents, as the reading of a text has them. Linear, and without a string a word. */
export function sentencesIn(text: string): Sentence[] {
  fillKinds()
  const sentences: Sentence[] = []
  const slots = new Uint32Array(MOST_TOKENS * FEATURES_A_TOKEN)
  let count = 0
  let tokens = 0
  let start = 0
  let before = BASIS
  let beforeThat = BASIS
  const add = (slot: number) => {
    // Once a sentence: a table of numbers says the same thing a hundred times.
    if (seenIn[slot] === sentence) return
    seenIn[slot] = sentence
    slots[count++] = slot
  }
  const close = (end: number) => {
    if (tokens > 0) sentences.push({ start, end, slots: slots.slice(0, count), tokens })
    count = tokens = 0
    start = end
    before = beforeThat = BASIS
    sentence++
  }
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at)
    const kind = KINDS[code]!
    if (kind === OTHER) {
      at++
      if (isEnd(code, text.charCodeAt(at))) close(at)
      continue
    }
    let word = BASIS
    let prefix = 0
    let end = at
    if (kind === SIGN) {
      word = mix(BASIS, code)
      end++
    } else if (kind === DIGIT) {
      word = mix(BASIS, 48)
      while (end < text.length && KINDS[text.charCodeAt(end)] === DIGIT) end++
    } else {
      for (; end < text.length && isWordPart(text.charCodeAt(end)); end++) {
        word = mix(word, text.charCodeAt(end))
        if (end - at === 3) prefix = word
      }
    }
    add(slot(word, 1))
    add(slot(mix(before, word), 2))
    add(slot(mix(beforeThat, word), 3))
    if (prefix) {
      add(slot(prefix, 4))
      add(slot(mix(before, prefix), 5))
    }
    beforeThat = before
    before = prefix || word
    at = end
    tokens++
    if (tokens >= MOST_TOKENS) close(at)
  }
  close(text.length)
  return sentences
}

/** The sentences of a text as people wrote it; models that look at the same text share them. */
export const sentencesOf = remember((source: string): Sentence[] => sentencesIn(reading(source).text))

/** One sentence for a model that learns: all features alike, together of length one. */
export function featuresOf(text: string): Features {
  const slots = Uint32Array.from(sentencesIn(text).flatMap((one) => [...one.slots]))
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
