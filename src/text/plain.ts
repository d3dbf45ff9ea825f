import { createAlphabet, isUnseen, OTHER } from './injection/alphabet'
import { madeOf } from './injection/units'
import { remember } from './runs'
import type { Match } from './schema'

/** A text with normalized characters, and a mapping to offsets in the original. */
export type Plain = {
  text: string
  /** The original UTF-16 offsets of a range of this text. */
  span(start: number, end: number): Pick<Match, 'start' | 'end'>
}

/** ASCII text is already normalized. */
const ASCII = /^\p{ASCII}*$/u
const DIGIT = /\p{Nd}/u
const DASH = /[\u2010-\u2015\u2212\ufe58\ufe63]/
const BLANK = /[\u00a0\u2000-\u200a\u202f\u205f\u3000]/
const PRINTED = /^[\x20-\x7e]+$/
/** Whether a character only modifies the previous one. It is redacted together with that character. */
const isAttached = (code: number): boolean =>
  (code >= 0x300 && code <= 0x36f) || (code >= 0xfe00 && code <= 0xfe0f) || code === 0x20e3

const { units: UNITS, learn, plainOf } = createAlphabet(made)

/**
 * Normalizes a text: digits of any script become ASCII digits, wide and styled letters become plain letters, all dashes
 * and blanks become the common ones, and invisible characters are removed. Case and letters of other scripts are kept.
 * Linear.
 */
export const plainly = remember((source: string): Plain => {
  if (ASCII.test(source)) return { text: source, span: spanIn(source, null) }
  if (room.length < source.length) room = new Uint16Array(source.length)
  const units = room
  /** The offset of each unit in the original. Null while all offsets are equal. */
  let at: Int32Array | null = null
  let isChanged = false
  let length = 0
  for (let index = 0; index < source.length; index++) {
    const code = source.charCodeAt(index)
    const unit = code < 0x80 ? code : UNITS[code] || learn(code)
    if (unit !== code) isChanged = true
    if (unit < OTHER) {
      if (at) at[length] = index
      units[length++] = unit
      continue
    }
    const whole = source.codePointAt(index)!
    const plain = unit === OTHER && !isUnseen(whole) ? plainOf(whole) : ''
    const width = whole > 0xffff ? 2 : 1
    if (plain.length !== width) at ??= identity(source.length, length)
    for (let next = 0; next < plain.length; next++) {
      if (at) at[length] = index
      units[length++] = plain.charCodeAt(next)
    }
    index += width - 1
  }
  return { text: isChanged ? madeOf(units, length) : source, span: spanIn(source, at) }
})

/** Scratch buffer for the units of the result, reused between texts. */
let room = new Uint16Array(1 << 13)

/** A table of offsets that maps every unit before `upTo` to itself. */
function identity(length: number, upTo: number): Int32Array {
  const at = new Int32Array(length)
  for (let index = 0; index < upTo; index++) at[index] = index
  return at
}

const spanIn =
  (source: string, at: Int32Array | null): Plain['span'] =>
  (start, end) => ({ start: at ? at[start]! : start, end: endOf(source, at ? at[end - 1]! : end - 1) })

/** The end of the character at `last`, including characters that only modify it. */
export function endOf(source: string, last: number): number {
  let end = last + (source.codePointAt(last)! > 0xffff ? 2 : 1)
  while (end < source.length && isAttached(source.charCodeAt(end))) end++
  return end
}

function made(char: string): string {
  if (DASH.test(char)) return '-'
  if (BLANK.test(char)) return ' '
  const folded = char.normalize('NFKC')
  // Only one-to-one, because a fraction or unit sign would become several characters with another meaning.
  if (PRINTED.test(folded) && folded.length === 1) return folded
  return DIGIT.test(char) ? String(digitOf(char)) : char
}

/** The value of a digit. Unicode lists the digits of a script consecutively from zero. */
function digitOf(char: string): number {
  let zero = char.codePointAt(0)!
  let value = 0
  while (value < 9 && DIGIT.test(String.fromCodePoint(zero - 1))) {
    zero--
    value++
  }
  return value
}
