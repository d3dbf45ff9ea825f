import { LOOKING_LATIN, toLatin } from './confusables'
import { isLetter, madeOf } from './units'

/** A text made readable, and for each of its UTF-16 units where in the original it stood. */
export type View = {
  text: string
  at: Int32Array
  /** Whether characters that show nothing were left out; where it is not said nobody may ask. */
  hides?: boolean
}

/** A view in which some words were written anew, and where these stand. */
export type Rewritten = View & { changed: readonly Stretch[] }
/** Part of a readable text. */
export type Stretch = { start: number; end: number }

/** Longer runs are no words. */
const MOST_LETTERS = 40
const OTHERS = /[\u00a0-\uffff]/g

/** What a unit is to a word that may have to be written anew. */
const LATIN = 1
const LOOKS_LATIN = 2
const BOTH = LATIN | LOOKS_LATIN
const OTHER_PART = 4
const NO_PART = 8
/** By unit: Latin letters, those of other scripts that look like one, and the rest of these; 0 before it was met. */
const SCRIPTS = new Uint8Array(1 << 16)
function scriptOf(code: number): number {
  if (code >= 97 && code <= 122) SCRIPTS[code] = LATIN
  else if (code < 0xa0 || !isLetter(code)) SCRIPTS[code] = NO_PART
  else SCRIPTS[code] = toLatin(String.fromCharCode(code)) ? LOOKS_LATIN : OTHER_PART
  return SCRIPTS[code]!
}

/** The same text with letters of other scripts, in words that mix them, read as the Latin ones they look like. */
export function latinized({ text, at }: View): Rewritten | null {
  if (!LOOKING_LATIN.test(text)) return null
  const { out, changed } = rewritten(text, mixedWords(text), (word) =>
    word.replace(OTHERS, (letter) => toLatin(letter) ?? letter),
  )
  return changed.length === 0 || out.length !== text.length ? null : { text: out, at, changed }
}

/** Words that hold Latin letters and such as look like them. */
function mixedWords(text: string): Stretch[] {
  const words: Stretch[] = []
  let start = 0
  let held = 0
  // One beyond the end, where the last word is over.
  for (let at = 0; at <= text.length; at++) {
    const code = at < text.length ? text.charCodeAt(at) : 0
    const kind = SCRIPTS[code] || scriptOf(code)
    if (kind === NO_PART) {
      if ((held & BOTH) === BOTH) words.push({ start, end: at })
      start = at + 1
      held = 0
    } else held |= kind
  }
  return words
}

/** A text in which some of its words are written anew. */
function rewritten(
  text: string,
  words: readonly Stretch[],
  write: (word: string) => string,
): { out: string; changed: readonly Stretch[] } {
  const changed: Stretch[] = []
  let out = ''
  let done = 0
  for (const { start, end } of words) {
    if (end - start > MOST_LETTERS) continue
    const word = text.slice(start, end)
    const anew = write(word)
    if (anew === word) continue
    out += text.slice(done, start) + anew
    changed.push({ start, end })
    done = end
  }
  return { out: done === 0 ? text : out + text.slice(done), changed }
}

/** How far around a changed letter a rule may reach. */
const AROUND = 240

/** The parts of a view around stretches in their order; those that would look at the same words are one. */
export function allAround(view: View, stretches: readonly Stretch[]): View[] {
  const wide: Stretch[] = []
  for (const { start, end } of stretches) {
    const last = wide.at(-1)
    if (last && start - last.end <= 2 * AROUND) last.end = Math.max(last.end, end)
    else wide.push({ start, end })
  }
  return wide.map((stretch) => around(view, stretch))
}

/** A part of a view, with as much on either side as a rule may look at. */
function around({ text, at }: View, { start, end }: Stretch): View {
  const from = Math.max(0, start - AROUND)
  const to = Math.min(text.length, end + AROUND)
  return { text: text.slice(from, to), at: at.subarray(from, to) }
}

/** The stretches of a view in which a word of interest was written otherwise before; the rest has been read already. */
export function changedParts(view: Rewritten, before: View, interest: RegExp): View[] {
  const parts: View[] = []
  let start = -1
  let end = -1
  for (const changed of view.changed) {
    for (let place = changed.start; place < changed.end; place++) {
      if (view.text.charCodeAt(place) === before.text.charCodeAt(place)) continue
      const word = wordAround(view.text, place)
      place = word.end
      if (!interest.test(word.text)) continue
      if (start >= 0 && word.start - AROUND > end) {
        parts.push(around(view, { start, end }))
        start = -1
      }
      if (start < 0) start = word.start
      end = word.end
    }
  }
  if (start >= 0) parts.push(around(view, { start, end }))
  return parts
}

const isLetterAt = (text: string, at: number): boolean => isLetter(text.charCodeAt(at))

function wordAround(text: string, place: number): { text: string; start: number; end: number } {
  let start = place
  let end = place + 1
  while (start > 0 && place - start < MOST_LETTERS && isLetterAt(text, start - 1)) start--
  while (end < text.length && end - place < MOST_LETTERS && isLetterAt(text, end)) end++
  return { text: text.slice(start, end), start, end }
}

/** By unit the letter a figure stands for; 0 for all others. */
const MEANT = new Uint8Array(1 << 16)
for (const [sign, letter] of Object.entries({
  ...{ '0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't', '8': 'b', '9': 'g' },
  ...{ '@': 'a', $: 's', '!': 'i', '|': 'i', '+': 't', '€': 'e', '£': 'l' },
})) {
  MEANT[sign.charCodeAt(0)] = letter.charCodeAt(0)
}
/** Without one of these nothing is written in figures. */
const FIGURE = /[0134579@$!|]/
/** A letter beside a sign: a word that holds both has one somewhere. */
const BESIDE = /[a-z][0-9@$!|+€£]|[0-9@$!|+€£][a-z]/g
const IN_WORD = new Uint8Array(1 << 16)
IN_WORD.fill(1, 97, 123)
for (const sign of '0123456789@$!|+€£') IN_WORD[sign.charCodeAt(0)] = 1

/** The same with digits and signs inside words read as letters: `1gn0r3` is `ignore`; null when nothing is. */
export function unleeted({ text, at }: View): Rewritten | null {
  if (!FIGURE.test(text)) return null
  const { out, changed } = rewritten(text, wordsInFigures(text), inLetters)
  return changed.length ? { text: out, at, changed } : null
}

function inLetters(word: string): string {
  let letters = ''
  for (let at = 0; at < word.length; at++) {
    const code = word.charCodeAt(at)
    letters += String.fromCharCode(MEANT[code] || code)
  }
  return letters
}

function wordsInFigures(text: string): Stretch[] {
  const words: Stretch[] = []
  BESIDE.lastIndex = 0
  while (BESIDE.test(text)) {
    let start = BESIDE.lastIndex - 2
    let end = BESIDE.lastIndex
    while (start > 0 && IN_WORD[text.charCodeAt(start - 1)]) start--
    while (end < text.length && IN_WORD[text.charCodeAt(end)]) end++
    words.push({ start, end })
    BESIDE.lastIndex = end
  }
  return words
}

/** What a text in rot13 has somewhere when there is anything to find: its word for rules, prompts or secrets. */
const ROTATED =
  /cebzcg|vafgehpgvba|ehyr|thvqryvar|qverpgvir|thneqenvy|erfgevpgvba|cnffjbeq|perqragvny|xrlf|frperg|pbafgenvag|svygre/

/** The same with every letter thirteen places on; null where that cannot be words of interest. */
export const rotated = ({ text, at }: View): View | null =>
  ROTATED.test(text)
    ? { text: text.replace(/[a-z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 84) % 26) + 97)), at }
    : null

/** Letters only, as they stand one after the other. */
export function squeezed({ text, at }: View): View {
  const units = new Uint16Array(text.length)
  const places = new Int32Array(text.length)
  let length = 0
  for (let place = 0; place < text.length; place++) {
    const code = text.charCodeAt(place)
    if (code < 97 || code > 122) continue
    units[length] = code
    places[length++] = at[place]!
  }
  return { text: madeOf(units, length), at: places.subarray(0, length) }
}
