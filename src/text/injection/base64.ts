import { runsOf } from '../runs'

const MIN = 12
const MIN_OF_NEXT_LINE = 8
const SIGNS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const NONE = 0xff

/** The six-bit value of each UTF-16 unit in base64 and base64url. NONE for all others. */
const VALUES = new Uint8Array(1 << 16).fill(NONE)
for (const [value, sign] of [...SIGNS].entries()) VALUES[sign.charCodeAt(0)] = value
for (const [sign, value] of Object.entries({ '+': 62, '-': 62, '/': 63, _: 63 })) VALUES[sign.charCodeAt(0)] = value

const longWords = runsOf(/[A-Za-z0-9+/_-]/, MIN)

/**
 * Start and end offsets, as a flat list, of runs that may be base64 of a text. The first letters of most long words or
 * names decode to bytes that do not start a text. These are skipped without creating a string.
 */
export function base64Runs(source: string): number[] {
  const found: number[] = []
  const words = longWords(source)
  let done = 0
  for (let index = 0; index < words.length; index += 2) {
    const start = words[index]!
    if (start < done) continue
    done = endOfLines(source, words[index + 1]!)
    if (beginsText(source, start)) found.push(start, done)
  }
  return found
}

/** The end of base64 that extends to `at`, including continuation lines and `=` padding. */
function endOfLines(source: string, at: number): number {
  let end = at
  for (;;) {
    let next = end
    if (source.charCodeAt(next) === 13) next++
    if (source.charCodeAt(next) !== 10) break
    next++
    while (source.charCodeAt(next) === 32 || source.charCodeAt(next) === 9) next++
    const line = next
    while (VALUES[source.charCodeAt(next)]! < NONE) next++
    if (next - line < MIN_OF_NEXT_LINE) break
    end = next
  }
  for (let filled = 0; filled < 2 && source.charCodeAt(end) === 61; filled++) end++
  return end
}

/** Whether the first nine decoded bytes could start a UTF-8 text. May give false positives, but no false negatives. */
function beginsText(source: string, start: number): boolean {
  /** Continuation bytes that the current UTF-8 character still needs. */
  let missing = 0
  let bits = 0
  for (let at = 0; at < MIN; at++) {
    bits = (bits << 6) | VALUES[source.charCodeAt(start + at)]!
    if (at % 4 === 0) continue
    missing = missingAfter((bits >>> (6 - 2 * (at % 4))) & 0xff, missing)
    if (missing === NO_TEXT) return false
  }
  return true
}

/** Result for bytes that are not text: invalid UTF-8 or control characters. */
export const NO_TEXT = -1

/** Decodes UTF-8 byte by byte: the number of bytes still missing after this one, or {@link NO_TEXT}. */
export function missingAfter(byte: number, missing: number): number {
  if (missing > 0) return byte >>> 6 === 2 ? missing - 1 : NO_TEXT
  if (byte < 32) return byte === 9 || byte === 10 || byte === 13 ? 0 : NO_TEXT
  if (byte < 0x80) return 0
  if (byte < 0xc2 || byte > 0xf4) return NO_TEXT
  return byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3
}
