import { createAlphabet, isUnseen, OTHER, UNSEEN } from './alphabet'
import { madeOf } from './units'
import type { View } from './view'

const DOUBLE = '“”„«»「」‹›'
const SINGLE = '‘’‚´'

/**
 * The readable form of a character: compatibility forms resolved, no accents, case fully folded (`ß` as `ss`, a final
 * `ς` as `σ`). White space becomes a blank.
 */
const read = (char: string): string =>
  /^[\t-\r \u00a0\u2028\u2029]$/.test(char)
    ? ' '
    : ((DOUBLE.includes(char) ? '"' : SINGLE.includes(char) ? "'" : undefined) ??
      char
        .normalize('NFKD')
        .replace(/[\u0300-\u036f]/g, '')
        .normalize('NFC')
        .toLowerCase()
        .replace('ß', 'ss')
        .replace('ς', 'σ'))

const { units: UNITS, learn, plainOf } = createAlphabet(read)

/** Spare room for characters that expand. U+FDFA becomes eighteen characters. */
const MAX_EXPANDED = 64

/** Scratch buffer for the characters of the result, reused between calls. */
let room = new Uint16Array(1 << 13)

/** Required length of the buffer that a caller lends as `offsets`. */
export const offsetsFor = (source: string): number => source.length + MAX_EXPANDED

/**
 * Normalizes a text: drops invisible characters, collapses white space to one blank, and lower-cases letters without
 * accents. Linear. A caller that needs `at` only until it reads the next text can lend a buffer as `offsets`.
 */
export function readable(source: string, offsets = new Int32Array(offsetsFor(source))): View {
  if (room.length < offsetsFor(source)) room = new Uint16Array(offsetsFor(source))
  let units = room
  let at = offsets
  let length = 0
  let blank = true
  let hides = false
  for (let index = 0; index < source.length; index++) {
    const code = source.charCodeAt(index)
    const unit = UNITS[code] || learn(code)
    if (unit === 32) {
      if (!blank) {
        units[length] = 32
        at[length++] = index
      }
      blank = true
    } else if (unit < OTHER) {
      units[length] = unit
      at[length++] = index
      blank = false
    } else if (unit === UNSEEN) hides = true
    else {
      const whole = source.codePointAt(index)!
      if (isUnseen(whole)) hides = true
      else {
        const min = length + MAX_EXPANDED + source.length - index
        if (min > units.length) units = enlarged(units, min)
        if (min > at.length) at = enlarged(at, min)
        const plain = plainOf(whole)
        for (let next = 0; next < plain.length; next++) {
          units[length] = plain.charCodeAt(next)
          at[length++] = index
        }
        blank = false
      }
      if (whole > 0xffff) index++
    }
  }
  return { text: madeOf(units, length), at: at.subarray(0, length), hides }
}

function enlarged<Cells extends Uint16Array | Int32Array>(cells: Cells, min: number): Cells {
  const more = new (cells.constructor as new (length: number) => Cells)(min * 2)
  more.set(cells)
  return more
}
