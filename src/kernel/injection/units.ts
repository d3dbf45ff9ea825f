/** UTF-16 units on the way to a text, and what kind each is. */

/** The text of the first so many units. Of eight bits a unit where these do: expressions read such texts faster. */
export function madeOf(units: Uint16Array, length: number): string {
  let all = 0
  for (let at = 0; at < length; at++) all |= units[at]!
  if (all > 0xff) return Buffer.from(units.buffer, units.byteOffset, length * 2).toString('utf16le')
  return Buffer.from(units.subarray(0, length)).toString('latin1')
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
