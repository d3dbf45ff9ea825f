import { createAlphabet, isUnseen, OTHER, UNSEEN } from './alphabet'
import { madeOf } from './units'
import type { View } from './view'

const QUOTES: Readonly<Record<string, string>> = {
  ...{ '“': '"', '”': '"', '„': '"', '«': '"', '»': '"', '「': '"', '」': '"', '‹': '"', '›': '"' },
  ...{ '‘': "'", '’': "'", '‚': "'", '´': "'" },
}

const isBlank = (char: string): boolean => /^[\t-\r \u00a0\u2028\u2029]$/.test(char)

/** One character as a reader takes it: compatibility forms resolved, accents off, small; white space is a blank. */
const read = (char: string): string =>
  isBlank(char)
    ? ' '
    : (QUOTES[char] ??
      char
        .normalize('NFKD')
        .replace(/[\u0300-\u036f]/g, '')
        .normalize('NFC')
        .toLowerCase())

const { units: UNITS, learn, plainOf } = createAlphabet(read)

/** One character can stand for eighteen (U+FDFA). */
const MOST_EXPANDED = 64

/** Where units are put until they are a text, kept from text to text. */
let room = new Uint16Array(1 << 13)

/** How many places the reading of a text asks for at first. */
export const placesFor = (source: string): number => source.length + MOST_EXPANDED

/**
 * Reads a text once: unseen characters gone, runs of white space one blank, letters plain and small. Linear. Who
 * needs what it gives only until the next text is read lends it room for the places.
 */
export function readable(source: string, places = new Int32Array(placesFor(source))): View {
  if (room.length < placesFor(source)) room = new Uint16Array(placesFor(source))
  let units = room
  let at = places
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
