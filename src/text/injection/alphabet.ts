/** Table value: the UTF-16 unit is invisible and is dropped. */
export const UNSEEN = 0xffff
/** Table value: half of a surrogate pair, or a unit that reads as several. Pass its code point to `plainOf`. */
export const OTHER = 0xfffe

const MAX_KNOWN = 20_000

/** Whether a character is invisible, or only modifies the previous letter. */
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

/**
 * Caches the normalized forms of characters, so that `read`, which normalizes one character, seldom runs. `units` maps
 * a UTF-16 unit to its normalized unit, to UNSEEN or to OTHER. 0 means unknown: call `learn`. It is a bare table
 * because callers index it in their innermost loops.
 */
export function createAlphabet(read: (char: string) => string) {
  const units = new Uint16Array(1 << 16)
  const known = new Map<number, string>()
  return { units, learn, plainOf }

  function learn(code: number): number {
    units[code] = unitOf(code)
    return units[code]!
  }

  function unitOf(code: number): number {
    if (isUnseen(code)) return UNSEEN
    if (code >= 0xd800 && code < 0xe000) return OTHER
    const plain = plainOf(code)
    return plain.length === 1 && plain.charCodeAt(0) < OTHER ? plain.charCodeAt(0) : OTHER
  }

  /** The normalized form of one code point, a string of any length. */
  function plainOf(code: number): string {
    const hit = known.get(code)
    if (hit !== undefined) return hit
    const plain = read(String.fromCodePoint(code))
    if (known.size < MAX_KNOWN) known.set(code, plain)
    return plain
  }
}
