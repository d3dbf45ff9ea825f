/** Marks in a table of units: what shows nothing, and what has to be looked up as a whole. */
export const UNSEEN = 0xffff
/** Half of a pair, or what stands for more than one unit. */
export const OTHER = 0xfffe

const MOST_KNOWN = 20_000

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

/**
 * What characters are read as, `read` being asked once for each. `units` has by UTF-16 unit the one that stands for
 * it, or a mark; 0 before it was met, and then `learn` fills it in. The table is there to be indexed in a loop.
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

  /** One character, as all that stands for it. */
  function plainOf(code: number): string {
    const hit = known.get(code)
    if (hit !== undefined) return hit
    const plain = read(String.fromCodePoint(code))
    if (known.size < MOST_KNOWN) known.set(code, plain)
    return plain
  }
}
