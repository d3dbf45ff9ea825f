import { toLatin } from './confusables'

/** A text made readable, and for each of its UTF-16 units where in the original it stood. */
export type View = { text: string; at: Int32Array }

/** What shows nothing, or only changes how the letter before it is drawn. */
export const isUnseen = (code: number): boolean =>
  code === 0xad ||
  code === 0x34f ||
  code === 0x61c ||
  code === 0x180e ||
  (code >= 0x200b && code <= 0x200f) ||
  (code >= 0x202a && code <= 0x202e) ||
  (code >= 0x2060 && code <= 0x206f) ||
  (code >= 0xfe00 && code <= 0xfe0f) ||
  code === 0xfeff ||
  (code >= 0x300 && code <= 0x36f) ||
  (code >= 0xe0000 && code <= 0xe01ef)

const QUOTES: Readonly<Record<string, string>> = {
  ...{ '“': '"', '”': '"', '„': '"', '«': '"', '»': '"', '「': '"', '」': '"', '‹': '"', '›': '"' },
  ...{ '‘': "'", '’': "'", '‚': "'", '´': "'" },
}

const known = new Map<string, string>()
const MOST_KNOWN = 20_000

/** One character as a reader takes it: compatibility forms resolved, accents off, small. */
function plainOf(char: string): string {
  const hit = known.get(char)
  if (hit !== undefined) return hit
  const quote = QUOTES[char]
  const plain =
    quote ??
    char
      .normalize('NFKD')
      .replace(/[\u0300-\u036f]/g, '')
      .normalize('NFC')
      .toLowerCase()
  if (known.size < MOST_KNOWN) known.set(char, plain)
  return plain
}

const PLAIN = /^[\x20-\x7e\n]*$/
const RUN = /[ \n]{2}/

/** Reads a text once: unseen characters gone, runs of white space one blank, letters plain and small. Linear. */
export function readable(source: string): View {
  // Most texts need nothing but small letters.
  if (PLAIN.test(source) && !RUN.test(source)) {
    return { text: source.toLowerCase().replaceAll('\n', ' '), at: countedUp(source.length) }
  }
  let units = new Uint16Array(source.length + MOST_EXPANDED)
  let at = new Int32Array(source.length + MOST_EXPANDED)
  let length = 0
  let blank = true
  for (let place = 0; place < source.length; ) {
    const code = source.codePointAt(place)!
    if (length + MOST_EXPANDED > units.length) [units, at] = [enlarged(units), enlarged(at)]
    if (isBlank(code)) {
      if (!blank) {
        units[length] = 32
        at[length++] = place
      }
      blank = true
    } else if (code < 0x80) {
      units[length] = code >= 65 && code <= 90 ? code + 32 : code
      at[length++] = place
      blank = false
    } else if (!isUnseen(code)) {
      const plain = plainOf(String.fromCodePoint(code))
      for (let unit = 0; unit < plain.length; unit++) {
        units[length] = plain.charCodeAt(unit)
        at[length++] = place
      }
      blank = false
    }
    place += code > 0xffff ? 2 : 1
  }
  return { text: utf16.decode(units.subarray(0, length)), at: at.slice(0, length) }
}

/** One character can stand for eighteen (U+FDFA). */
const MOST_EXPANDED = 64

const isBlank = (code: number): boolean =>
  code === 32 || (code >= 9 && code <= 13) || code === 0xa0 || code === 0x2028 || code === 0x2029

function enlarged<Cells extends Uint16Array | Int32Array>(cells: Cells): Cells {
  const more = new (cells.constructor as new (length: number) => Cells)(cells.length * 2 + MOST_EXPANDED)
  more.set(cells)
  return more
}

function countedUp(length: number): Int32Array {
  const at = new Int32Array(length)
  for (let place = 0; place < length; place++) at[place] = place
  return at
}

const utf16 = new TextDecoder('utf-16le')

/** Longer runs are no words. */
const MOST_LETTERS = 40
const LATIN = /[a-z]/
const OTHERS = /[\u00a0-\uffff]/g
const LETTER = /\p{L}/u

/** The same text with letters of other scripts, in words that mix them, read as the Latin ones they look like. */
export function latinized({ text, at }: View): View | null {
  const out = rewritten(text, OTHERS, isLetterAt, (word) => word.replace(OTHERS, (letter) => toLatin(letter) ?? letter))
  return out === text || out.length !== text.length ? null : { text: out, at }
}

function isLetterAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code < 0x80 ? code >= 97 && code <= 122 : LETTER.test(text[at]!)
}

/**
 * A text in which words that hold one of `signs` beside Latin letters are written anew. Only around such signs is
 * it looked at, for most texts hardly have any.
 */
function rewritten(
  text: string,
  signs: RegExp,
  isPart: (text: string, at: number) => boolean,
  write: (word: string) => string,
): string {
  let out = ''
  let done = 0
  signs.lastIndex = 0
  for (let hit = signs.exec(text); hit; hit = signs.exec(text)) {
    let start = hit.index
    let end = start
    while (start > done && isPart(text, start - 1)) start--
    while (end < text.length && isPart(text, end)) end++
    const word = text.slice(start, end)
    if (end - start <= MOST_LETTERS && LATIN.test(word)) {
      out += text.slice(done, start) + write(word)
      done = end
    }
    signs.lastIndex = Math.max(end, hit.index + 1)
  }
  return done === 0 ? text : out + text.slice(done)
}

/** How far around a changed letter a rule may reach. */
const AROUND = 240

/** A part of a view, with as much on either side as a rule may look at. */
export function around({ text, at }: View, { start, end }: { start: number; end: number }): View {
  const from = Math.max(0, start - AROUND)
  const to = Math.min(text.length, end + AROUND)
  return { text: text.slice(from, to), at: at.subarray(from, to) }
}

/** The stretches of a view in which a word of interest was written otherwise before; the rest has been read already. */
export function changedParts(view: View, before: View, interest: RegExp): View[] {
  const parts: View[] = []
  let start = -1
  let end = -1
  for (let place = 0; place < view.text.length; place++) {
    if (view.text.charCodeAt(place) === before.text.charCodeAt(place)) continue
    const word = wordAround(view.text, place)
    if (interest.test(word.text)) {
      if (start >= 0 && word.start - AROUND > end) {
        parts.push(around(view, { start, end }))
        start = -1
      }
      if (start < 0) start = word.start
      end = word.end
    }
    place = word.end
  }
  if (start >= 0) parts.push(around(view, { start, end }))
  return parts
}

function wordAround(text: string, place: number): { text: string; start: number; end: number } {
  let start = place
  let end = place + 1
  while (start > 0 && place - start < MOST_LETTERS && isLetterAt(text, start - 1)) start--
  while (end < text.length && end - place < MOST_LETTERS && isLetterAt(text, end)) end++
  return { text: text.slice(start, end), start, end }
}

const LEET: Readonly<Record<string, string>> = {
  ...{ '0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't', '8': 'b', '9': 'g' },
  ...{ '@': 'a', $: 's', '!': 'i', '|': 'i', '+': 't', '€': 'e', '£': 'l' },
}
const SIGNS = /[0-9@$!|+€£]/g
/** Without one of these nothing is written in figures. */
const FIGURE = /[0134579@$!|]/

/** The same with digits and signs inside words read as letters: `1gn0r3` is `ignore`; null when nothing is. */
export function unleeted({ text, at }: View): View | null {
  if (!FIGURE.test(text)) return null
  const out = rewritten(text, SIGNS, isLeetAt, (word) => word.replace(SIGNS, (sign) => LEET[sign] ?? sign))
  return out === text ? null : { text: out, at }
}

function isLeetAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if ((code >= 97 && code <= 122) || (code >= 48 && code <= 57)) return true
  return code === 64 || code === 36 || code === 33 || code === 124 || code === 43 || code === 0x20ac || code === 0xa3
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
  return { text: utf16.decode(units.subarray(0, length)), at: places.slice(0, length) }
}
