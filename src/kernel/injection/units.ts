/** UTF-16 units on the way to a text, and what kind each is. */

/** Room for a text of eight bits a unit, kept from text to text. */
let bytes = Buffer.alloc(1 << 13)

/** The text of the first so many units. Of eight bits a unit where these do: expressions read such texts faster. */
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

const LETTER = /\p{L}/u
const known = new Uint8Array(1 << 16)
const IS_LETTER = 1
const IS_NONE = 2

/** Whether a unit is a letter of any script, as text of small letters has them: capitals of ASCII are none. */
export function isLetter(code: number): boolean {
  if (code < 0x80) return code >= 97 && code <= 122
  known[code] ||= LETTER.test(String.fromCharCode(code)) ? IS_LETTER : IS_NONE
  return known[code] === IS_LETTER
}
