import { madeOf } from './units'
import type { View } from './view'

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

const known = new Map<number, string>()
const MOST_KNOWN = 20_000

/** One character as a reader takes it: compatibility forms resolved, accents off, small. */
function plainOf(code: number): string {
  const hit = known.get(code)
  if (hit !== undefined) return hit
  const char = String.fromCodePoint(code)
  const plain =
    QUOTES[char] ??
    char
      .normalize('NFKD')
      .replace(/[\u0300-\u036f]/g, '')
      .normalize('NFC')
      .toLowerCase()
  if (known.size < MOST_KNOWN) known.set(code, plain)
  return plain
}

const isBlank = (code: number): boolean =>
  code === 32 || (code >= 9 && code <= 13) || code === 0xa0 || code === 0x2028 || code === 0x2029

/** By UTF-16 unit the one that stands for it, 32 for white space, or one of the marks below; 0 before it was met. */
const UNITS = new Uint16Array(1 << 16)
const UNSEEN = 0xffff
/** Half of a pair, or what is read as more than one unit: looked up as a whole. */
const OTHER = 0xfffe

function learn(code: number): number {
  UNITS[code] = unitOf(code)
  return UNITS[code]!
}

function unitOf(code: number): number {
  if (isBlank(code)) return 32
  if (isUnseen(code)) return UNSEEN
  if (code >= 0xd800 && code < 0xe000) return OTHER
  const plain = plainOf(code)
  return plain.length === 1 && plain.charCodeAt(0) < OTHER ? plain.charCodeAt(0) : OTHER
}

/** One character can stand for eighteen (U+FDFA). */
const MOST_EXPANDED = 64

/** Where units are put until they are a text, kept from text to text. */
let room = new Uint16Array(1 << 13)

/** Reads a text once: unseen characters gone, runs of white space one blank, letters plain and small. Linear. */
export function readable(source: string): View {
  if (room.length < source.length + MOST_EXPANDED) room = new Uint16Array(source.length + MOST_EXPANDED)
  let units = room
  let at = new Int32Array(source.length + MOST_EXPANDED)
  let length = 0
  let blank = true
  let hides = false
  for (let place = 0; place < source.length; place++) {
    const code = source.charCodeAt(place)
    const unit = UNITS[code] || learn(code)
    if (unit === 32) {
      if (!blank) {
        units[length] = 32
        at[length++] = place
      }
      blank = true
    } else if (unit < OTHER) {
      units[length] = unit
      at[length++] = place
      blank = false
    } else if (unit === UNSEEN) hides = true
    else {
      const whole = source.codePointAt(place)!
      if (isUnseen(whole)) hides = true
      else {
        const least = length + MOST_EXPANDED + source.length - place
        if (least > units.length) units = enlarged(units, least)
        if (least > at.length) at = enlarged(at, least)
        const plain = plainOf(whole)
        for (let next = 0; next < plain.length; next++) {
          units[length] = plain.charCodeAt(next)
          at[length++] = place
        }
        blank = false
      }
      if (whole > 0xffff) place++
    }
  }
  return { text: madeOf(units, length), at: at.subarray(0, length), hides }
}

function enlarged<Cells extends Uint16Array | Int32Array>(cells: Cells, least: number): Cells {
  const more = new (cells.constructor as new (length: number) => Cells)(least * 2)
  more.set(cells)
  return more
}
