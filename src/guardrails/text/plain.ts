import { isUnseen } from '../../kernel/injection/readable'
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

const known = new Map<number, string>()
const MOST_KNOWN = 20_000

/**
 * Digits of any script and width as ASCII ones, wide and styled letters as plain ones, every dash and blank as
 * the common one, what shows nothing left out. Case and the letters of other scripts stay. Linear.
 */
export const plainly = remember((source: string): Plain => {
  if (ASCII.test(source)) return { text: source, span: (start, end) => ({ start, end }) }
  const at = new Int32Array(source.length)
  const units = new Uint16Array(source.length)
  let length = 0
  for (let place = 0; place < source.length; place++) {
    const code = source.charCodeAt(place)
    const unit = code < 0x80 ? code : UNITS[code] || learn(code)
    if (unit < OTHER) {
      units[length] = unit
      at[length++] = place
    } else if (unit === OTHER) {
      const whole = source.codePointAt(place)!
      if (!isUnseen(whole)) {
        const plain = plainOf(whole)
        for (let next = 0; next < plain.length; next++) {
          units[length] = plain.charCodeAt(next)
          at[length++] = place
        }
      }
      if (whole > 0xffff) place++
    }
  }
  return {
    text: madeOf(units, length),
    span: (start, end) => ({ start: at[start]!, end: endOf(source, at[end - 1]!) }),
  }
})

/** By UTF-16 unit the one that stands for it, or one of the marks below; 0 before it was met. */
const UNITS = new Uint16Array(1 << 16)
const UNSEEN = 0xffff
/** Half of a pair, or what stands for more than one unit: looked up as a whole. */
const OTHER = 0xfffe

function learn(code: number): number {
  UNITS[code] = unitOf(code)
  return UNITS[code]!
}

function unitOf(code: number): number {
  if (isUnseen(code)) return UNSEEN
  if (code >= 0xd800 && code < 0xe000) return OTHER
  const plain = plainOf(code)
  return plain.length === 1 && plain.charCodeAt(0) < OTHER ? plain.charCodeAt(0) : OTHER
}

/** Where the character at `last` ends, with what only changes how it is drawn. */
export function endOf(source: string, last: number): number {
  let end = last + (source.codePointAt(last)! > 0xffff ? 2 : 1)
  while (end < source.length && isAttached(source.charCodeAt(end))) end++
  return end
}

function plainOf(code: number): string {
  const hit = known.get(code)
  if (hit !== undefined) return hit
  const plain = made(String.fromCodePoint(code))
  if (known.size < MOST_KNOWN) known.set(code, plain)
  return plain
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
