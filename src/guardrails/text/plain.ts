import { createAlphabet, isUnseen, OTHER } from '../../kernel/injection/alphabet'
import { madeOf } from '../../kernel/injection/units'
import { remember } from '../../kernel/remember'
import type { Match } from '../guardrail'

/** A text as a machine would have typed it, and the way back to where its characters stood. */
export type Plain = {
  text: string
  /** UTF-16 offsets in the original of what stands between two offsets here. */
  span(start: number, end: number): Pick<Match, 'start' | 'end'>
}

/** Characters that stand for themselves. */
const ASCII = /^\p{ASCII}*$/u
const DIGIT = /\p{Nd}/u
const DASH = /[\u2010-\u2015\u2212\ufe58\ufe63]/
const BLANK = /[\u00a0\u2000-\u200a\u202f\u205f\u3000]/
const PRINTED = /^[\x20-\x7e]+$/
/** What changes how the character before it is drawn, and goes when it goes. */
const isAttached = (code: number): boolean =>
  (code >= 0x300 && code <= 0x36f) || (code >= 0xfe00 && code <= 0xfe0f) || code === 0x20e3

const { units: UNITS, learn, plainOf } = createAlphabet(made)

/**
 * Digits of any script and width as ASCII ones, wide and styled letters as plain ones, every dash and blank as
 * the common one, what shows nothing left out. Case and the letters of other scripts stay. Linear.
 */
export const plainly = remember((source: string): Plain => {
  if (ASCII.test(source)) return { text: source, span: spanIn(source, null) }
  if (room.length < source.length) room = new Uint16Array(source.length)
  const units = room
  /** Where each unit stood; none while all stand where they stood. */
  let at: Int32Array | null = null
  let isChanged = false
  let length = 0
  for (let place = 0; place < source.length; place++) {
    const code = source.charCodeAt(place)
    const unit = code < 0x80 ? code : UNITS[code] || learn(code)
    if (unit !== code) isChanged = true
    if (unit < OTHER) {
      if (at) at[length] = place
      units[length++] = unit
      continue
    }
    const whole = source.codePointAt(place)!
    const plain = unit === OTHER && !isUnseen(whole) ? plainOf(whole) : ''
    const width = whole > 0xffff ? 2 : 1
    if (plain.length !== width) at ??= identity(source.length, length)
    for (let next = 0; next < plain.length; next++) {
      if (at) at[length] = place
      units[length++] = plain.charCodeAt(next)
    }
    place += width - 1
  }
  return { text: isChanged ? madeOf(units, length) : source, span: spanIn(source, at) }
})

/** Room for a text on its way, kept from text to text. */
let room = new Uint16Array(1 << 13)

/** Where all units stand where they stood, up to `upTo`. */
function identity(length: number, upTo: number): Int32Array {
  const at = new Int32Array(length)
  for (let place = 0; place < upTo; place++) at[place] = place
  return at
}

const spanIn =
  (source: string, at: Int32Array | null): Plain['span'] =>
  (start, end) => ({ start: at ? at[start]! : start, end: endOf(source, at ? at[end - 1]! : end - 1) })
/** Where the character at `last` ends, with what only changes how it is drawn. */
export function endOf(source: string, last: number): number {
  let end = last + (source.codePointAt(last)! > 0xffff ? 2 : 1)
  while (end < source.length && isAttached(source.charCodeAt(end))) end++
  return end
}

function made(char: string): string {
  if (DASH.test(char)) return '-'
  if (BLANK.test(char)) return ' '
  const folded = char.normalize('NFKC')
  // A fraction or a unit is drawn as one sign and means more than its letters.
  if (PRINTED.test(folded) && folded.length === 1) return folded
  return DIGIT.test(char) ? String(digitOf(char)) : char
}

/** Digits of a script stand in rows of ten that begin with zero. */
function digitOf(char: string): number {
  let zero = char.codePointAt(0)!
  let value = 0
  while (value < 9 && DIGIT.test(String.fromCodePoint(zero - 1))) {
    zero--
    value++
  }
  return value
}
