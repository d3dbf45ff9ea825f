import { unitsOf } from '../runs'

/** Creates strings of UTF-16 units, and recognises letters by their unit. */

/** Scratch buffer for text of eight bits per unit, reused between calls. */
let bytes = Buffer.alloc(1 << 13)

/** The first `length` units as a string. Eight bits per unit if possible, because that makes matching faster. */
export function madeOf(units: Uint16Array, length: number): string {
  if (length > bytes.length) bytes = Buffer.alloc(length)
  let all = 0
  for (let at = 0; at < length; at++) {
    const unit = units[at]!
    all |= unit
    bytes[at] = unit
  }
  if (all > 0xff) return Buffer.from(units.buffer, units.byteOffset, length * 2).toString('utf16le')
  return bytes.toString('latin1', 0, length)
}

/** Whether a unit of readable text, which is lower case, is a letter of any script. ASCII capitals are not letters. */
export const isLetter = unitsOf(/[^\P{L}A-Z]/u)
