import { matchesOf } from '../model'
import { runsOf } from '../runs'
import { base64Runs, missingAfter, NO_TEXT } from './base64'

/** A decoded piece of text, its encoding, and the offset of its encoded form. */
export type Decoded = { how: string; text: string; at: number }

const MAX_PIECES = 200
const MIN_CHARS = 10

/** Number of characters of a hex piece that are decoded first, to check whether it can be text. */
const FIRST_OF_HEX = 12

type Coding = {
  how: string
  /** Start and end offsets of runs that could be this encoding. `pattern` is tried only there. */
  runs?: (source: string) => number[]
  /** Every match of `pattern` contains this. Most texts do not, and then `pattern` is not tried. */
  needs?: RegExp
  pattern: RegExp
  decode(piece: string): string | null
}

const fromBytes = (bytes: Buffer): string | null => {
  // Text has no bytes below 9. Text that was never encoded mostly decodes to such a byte within a few bytes.
  for (let at = 0; at < bytes.length && at < 16; at++) if (bytes[at]! < 9) return null
  const text = bytes.toString('utf8')
  return text.includes('\ufffd') ? null : text
}

const fromCodes = (codes: readonly number[]): string | null =>
  codes.every((code) => code > 8 && code < 0x110000) ? String.fromCodePoint(...codes.slice(0, 20_000)) : null

const longRows = runsOf(/[\d ,]/, 35)

/** Fits twelve two-digit numbers with separators, and one more unit on either side for the `\b` of the pattern. */
const numberRows = (source: string): number[] =>
  longRows(source).map((at, place) => (place % 2 === 0 ? Math.max(0, at - 1) : Math.min(source.length, at + 1)))

const CODINGS: readonly Coding[] = [
  {
    how: 'base64',
    runs: base64Runs,
    pattern: /[A-Za-z0-9+/_-]{12,}(?:\r?\n[ \t]*[A-Za-z0-9+/_-]{8,})*={0,2}/g,
    decode: (piece) => fromBytes(Buffer.from(piece.replace(/\s/g, ''), 'base64')),
  },
  {
    how: 'hex',
    runs: runsOf(/[0-9a-fA-F\s:,\\x%]/, 20),
    pattern: /(?:\\x|0x|%)?[0-9a-fA-F]{2}(?:[\s:,]{0,2}(?:\\x|0x|%)?[0-9a-fA-F]{2}){9,}/g,
    decode: (piece) => (hexBeginsText(piece) ? fromBytes(bytesOfHex(piece)) : null),
  },
  {
    how: 'percent encoding',
    needs: /%[0-9a-fA-F]{2}/,
    pattern: /(?:[\w+.~-]{0,24}%[0-9a-fA-F]{2}){2,}[\w+.~-]{0,24}/g,
    decode: (piece) => {
      const latin = piece.replaceAll('+', ' ').replace(/%([0-9a-fA-F]{2})/g, (_, byte: string) => {
        return String.fromCharCode(Number.parseInt(byte, 16))
      })
      return fromBytes(Buffer.from(latin, 'latin1'))
    },
  },
  {
    how: 'character references',
    needs: /&#/,
    pattern: /(?:&#x?[0-9a-fA-F]{1,6};[\s]?){4,}/g,
    decode: (piece) =>
      fromCodes(
        [...piece.matchAll(/&#(x?)([0-9a-fA-F]+);/g)].map(([, hex, digits]) => Number.parseInt(digits!, hex ? 16 : 10)),
      ),
  },
  {
    how: 'unicode escapes',
    needs: /\\u/,
    pattern: /(?:\\u\{?[0-9a-fA-F]{2,6}\}?\s?){4,}/g,
    decode: (piece) =>
      fromCodes([...piece.matchAll(/\\u\{?([0-9a-fA-F]+)\}?/g)].map(([, digits]) => Number.parseInt(digits!, 16))),
  },
  {
    how: 'binary',
    runs: runsOf(/[01\s]/, 64),
    pattern: /[01]{8}(?:\s?[01]{8}){7,}/g,
    decode: (piece) =>
      fromCodes(
        piece
          .replace(/\s/g, '')
          .match(/[01]{8}/g)!
          .map((bits) => Number.parseInt(bits, 2)),
      ),
  },
  {
    how: 'character codes',
    runs: numberRows,
    pattern: /\b\d{2,3}(?:[ ,]{1,2}\d{2,3}){11,}\b/g,
    decode: (piece) => fromCodes(piece.match(/\d+/g)!.map(Number)),
  },
]

const bytesOfHex = (piece: string): Buffer => Buffer.from(piece.replace(/\\x|0x|[^0-9a-fA-F]/g, ''), 'hex')

/** Whether the first bytes of a piece can start a text. Rules out most numbers without decoding everything. */
function hexBeginsText(piece: string): boolean {
  let missing = 0
  for (const byte of bytesOfHex(piece.slice(0, FIRST_OF_HEX))) {
    missing = missingAfter(byte, missing)
    if (missing === NO_TEXT) return false
  }
  return true
}

/** Whether a decoded string is probably words: mostly letters and white space, without control characters. */
function isText(text: string | null): text is string {
  if (text === null || text.length < MIN_CHARS) return false
  let letters = 0
  for (const char of text) {
    if (char < ' ' && char !== '\n' && char !== '\t' && char !== '\r') return false
    if (/[\p{L}\s]/u.test(char)) letters++
  }
  return letters >= text.length * 0.75
}

/** Decodes every stretch of encoded text. Each encoding reads each stretch once, so the time is linear. */
export function decodedPieces(source: string): Decoded[] {
  const found: Decoded[] = []
  for (const { how, needs, runs, pattern, decode } of CODINGS) {
    if (needs && !needs.test(source)) continue
    const parts = runs ? runs(source) : [0, source.length]
    for (let place = 0; place < parts.length; place += 2) {
      const from = parts[place]!
      for (const { 0: piece, index } of matchesOf(pattern, source.slice(from, parts[place + 1]))) {
        if (found.length >= MAX_PIECES) return found
        const text = decode(piece)
        if (isText(text) && text !== piece) found.push({ how, text, at: from + index })
      }
    }
  }
  return found
}

/** Text in Unicode tag characters, which are invisible, or null. Ignores flags of regions, which also use tags. */
export function tagText(source: string): { text: string; at: number } | null {
  const bare = source.replace(/\u{1f3f4}[\u{e0020}-\u{e007f}]{2,8}/gu, '')
  const tags = bare.match(/[\u{e0001}-\u{e007f}]/gu)
  if (!tags) return null
  const text = tags.map((tag) => String.fromCodePoint(Math.max(32, tag.codePointAt(0)! - 0xe0000))).join('')
  return { text, at: source.search(/[\u{e0001}-\u{e007f}]/u) }
}
