import type { Features } from './model'
import { remember } from './runs'

/**
 * The start and end of a text as hashed features: words, pairs of words and pieces of words. Models of modes and of
 * attacks are trained on these numbers, so run `bun run make models` after a change here.
 */

/** Slots of the hash table, a power of two. A quarter as many misclassifies 2 % more prompts of unseen writers. */
export const PROMPT_SLOTS = 1 << 18

/** Reads only the start and end of a long text. The instruction is at the start or, after a quoted text, at the end. */
const HEAD_CHARS = 700
const TAIL_CHARS = 300
const MAX_WORDS = 160

/** The initial hash of each kind of feature. */
const KIND = Object.fromEntries([...'wpsbencr#'].map((kind) => [kind, mixed(0x811c9dc5, kind)])) as Record<
  'w' | 'p' | 's' | 'b' | 'e' | 'n' | 'c' | 'r' | '#',
  number
>

/** Combining accents of Latin, Greek and Cyrillic letters. Other scripts keep their vowel signs. */
const ACCENTS = /[\u0300-\u036f]/g
const TOKEN =
  /\p{Script=Han}|\p{Script=Hiragana}+|[\p{Script=Katakana}ー]+|[a-z]*\p{N}[a-z\p{N}]*|[\p{L}\p{M}]+|\p{N}+|[^\s\p{L}\p{N}\p{M}]/gu
/** Quoted text is the subject of a request, not the request itself, so it is left out. */
const QUOTED = /["“„«「『][^"”“»」』\n]{2,120}["”“»」』]/g
const WORD = /^[\p{L}\p{M}]/u
const SPACELESS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u

/** The position of a slot in a text's list, counted from one. All zero between two texts. Twice as fast as a map. */
const places = new Int32Array(PROMPT_SLOTS)

/** The slots of a text with weights, a vector of length 1. Cached for the last text, because several models read it. */
export const promptFeaturesOf = remember(read)

function read(text: string): Features {
  const short = text.length > HEAD_CHARS + TAIL_CHARS ? `${text.slice(0, HEAD_CHARS)} ${text.slice(-TAIL_CHARS)}` : text
  const unquoted = short.replace(QUOTED, ' “ ')
  const plain = unquoted.normalize('NFKC').toLowerCase().normalize('NFD').replace(ACCENTS, '').normalize('NFC')
  const tokens = (plain.match(TOKEN) ?? []).slice(0, MAX_WORDS).map(withoutNumber)
  const slots: number[] = []
  const counts: number[] = []
  const add = (sum: number, weight: number) => {
    // Final mixing, so that the low bits depend on all bits.
    const on = Math.imul(sum ^ (sum >>> 15), 0x2c1b3c6d)
    const slot = (on ^ (on >>> 13)) & (PROMPT_SLOTS - 1)
    const at = places[slot]!
    if (at) counts[at - 1]! += weight
    else places[slot] = counts.push(weight)
    if (!at) slots.push(slot)
  }
  let before = '^'
  let beforeThat = '^'
  for (const [index, token] of tokens.entries()) {
    add(mixed(KIND.w, token), 1)
    add(mixed(mixed(mixed(KIND.p, before), ' '), token), 0.8)
    add(mixed(mixed(mixed(KIND.s, beforeThat), ' '), token), 0.4)
    if (index < 4) add(mixed(KIND.b, token), 0.7)
    if (WORD.test(token)) addPieces(token, add)
    beforeThat = before
    before = token
  }
  add(mixed(KIND.e, before), 0.5)
  add(mixed(KIND.n, `${Math.min(6, Math.floor(tokens.length / 6))}`), 0.4)
  addRuns(tokens, add)
  addShape(text.length > MAX_SHAPE_CHARS ? text.slice(0, MAX_SHAPE_CHARS) : text, add)
  for (const slot of slots) places[slot] = 0
  return normalized(slots, counts)
}

/** Adds the pieces of 3 to 5 letters of a word, so that its inflected forms share features. */
function addPieces(word: string, add: Add): void {
  if (word.length < 3) return
  const framed = `<${word}>`
  for (let size = 3; size <= 5; size++) {
    for (let at = 0; at + size <= framed.length && at < 20; at++) add(mixed(KIND.c, framed, at, at + size), 0.35)
  }
}

/** Runs of 2 to 4 characters replace words in scripts without spaces. */
function addRuns(tokens: readonly string[], add: Add): void {
  const text = tokens.join('')
  if (!SPACELESS.test(text)) return
  for (let at = 0; at < text.length && at < 160; at++) {
    for (let size = 2; size <= 4 && at + size <= text.length; size++) add(mixed(KIND.r, text, at, at + size), 0.5)
  }
}

const SHAPE_WEIGHT = 0.5
const MAX_SHAPE_CHARS = 4_000
const LOOKS: readonly (readonly [string, RegExp])[] = [
  ['asks', /[?？؟]/],
  ['asks last', /[?？؟]\s*$/],
  ['error', /^[^\S\n\r\u2028\u2029]*(?:at |File |\w*Error|\w*Exception|Traceback|error)/m],
  ['tick', /`/],
  ['link', /https?:/],
  ['cells', /[|\t]/],
  ['money', /[€$£¥₹%]/],
  ['heading', /:[ \t]*\n/],
]

/** Adds language-independent features of the form: lines, length, digits, code characters, questions, tables. */
function addShape(text: string, add: Add): void {
  const say = (look: string) => add(mixed(KIND['#'], look), SHAPE_WEIGHT)
  const lines = text.split('\n').filter((line) => line.trim())
  const grows = (name: string, count: number, max: number) =>
    say(`${name}${Math.min(max, Math.floor(Math.log2(count + 1)))}`)
  say(`lines${Math.min(5, lines.length)}`)
  grows('length', text.length, 8)
  grows('figures', text.match(/\p{N}+/gu)?.length ?? 0, 5)
  grows('signs', text.match(/[{}()<>=;_[\]/\\]/g)?.length ?? 0, 6)
  for (const [name, look] of LOOKS) if (look.test(text)) say(name)
  if (lines.some((line) => (line.match(/[,;]/g)?.length ?? 0) > 3)) say('list')
  if (lines.length > 1 && lines.at(-1)!.length < 120) say('short last')
}

/** Replaces digits by 0, because `4k` and `3d` have a meaning but their number has none. A long id becomes `#`. */
function withoutNumber(token: string): string {
  if (!/\p{N}/u.test(token)) return token
  const shape = token.replace(/\p{N}+/gu, '0')
  return token !== shape && shape.length > 4 ? '#' : shape
}

function normalized(numbers: readonly number[], counts: readonly number[]): Features {
  const slots = Uint32Array.from(numbers)
  // Square roots, so that a repeated word does not count in full each time.
  const weights = Float64Array.from(counts, (count) => Math.sqrt(count))
  let squares = 0
  for (const weight of weights) squares += weight * weight
  const length = Math.sqrt(squares)
  for (const [at, weight] of weights.entries()) weights[at] = weight / length
  return { slots, weights }
}

/** Adds a feature by the hash of its kind and letters, so that no string is created for it. */
type Add = (sum: number, weight: number) => void

/** FNV-1a over UTF-16 units, continuing from `sum`. */
function mixed(sum: number, text: string, from = 0, to = text.length): number {
  let on = sum
  for (let at = from; at < to; at++) on = Math.imul(on ^ text.charCodeAt(at), 0x01000193)
  return on
}
