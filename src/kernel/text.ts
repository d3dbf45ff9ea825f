/** Removes what could act on a terminal or reorder a line: control characters, escapes, bidi overrides (dx 2.4). */
export const clean = (text: string): string =>
  Bun.stripANSI(text).replace(/[^\P{Cc}\t\n]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu, '·')

/** Cuts a text to `max` characters, an ellipsis included; never leaves half a surrogate pair. */
export function shorten(text: string, max: number): string {
  if (text.length <= max) return text
  const cut = text.slice(0, max - 1)
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`
}

/** The first `count` characters (code points) of a text, unchanged. */
export const beginningOf = (text: string, count: number): string =>
  [...text.slice(0, 2 * count)].slice(0, count).join('')

/** Hides name and password of every address in a text: they are secrets wherever an address is shown (dx 6.1). */
export const withoutUserInfo = (text: string): string => text.replace(/:\/\/[^/?#\s"]*@/g, '://…@')

/** Removes what a database or client cannot store: NUL is dropped, unpaired surrogates become U+FFFD. */
export const storable = (text: string): string =>
  text.includes('\0') || !text.isWellFormed() ? text.replaceAll('\0', '').toWellFormed() : text

/** The same for every text in a JSON value, names included; a value that holds nothing of the kind is returned as it is. */
export function storableJson(value: unknown): unknown {
  if (typeof value === 'string') return storable(value)
  if (Array.isArray(value)) {
    const cleaned = value.map(storableJson)
    return cleaned.some((entry, at) => entry !== value[at]) ? cleaned : value
  }
  if (typeof value !== 'object' || value === null) return value
  const cleaned = Object.entries(value).map(([name, member]) => [storable(name), storableJson(member)] as const)
  const isSame = Object.entries(value).every(
    ([name, member], at) => cleaned[at]![0] === name && cleaned[at]![1] === member,
  )
  return isSame ? value : Object.fromEntries(cleaned)
}

/** Removes what XML has no place for, in any spelling: control characters, U+FFFE, U+FFFF, unpaired surrogates. */
export const xmlText = (text: string): string =>
  text.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')

export type PairKeeper = { add(piece: string): string; end(): string }

/** Makes a streamed text {@link storable} piece by piece; half a surrogate pair waits for its other half (I30). */
export function createPairKeeper(): PairKeeper {
  let half = ''
  return {
    add(piece) {
      const text = half + piece
      const ends = /[\ud800-\udbff]$/.test(text)
      half = ends ? text.slice(-1) : ''
      return storable(ends ? text.slice(0, -1) : text)
    },
    end: () => storable(half),
  }
}

/** Every secret this server makes starts with a known prefix, so one pattern finds them inside any string. */
const SECRETS = /\b(svc_(?:sk|ds|wt|wp|op|iv|gc|bp|voice)_(?:live_|test_)?)[0-9A-Za-z]{8,}(?:\.[\w-]+)*/g
const BEARER = /(bearer\s+)[^\s"',\\]{8,}/gi
const USERINFO = /(\/\/)[^\s/@"\\]+@/g

/** Removes API keys, bearer tokens and passwords in URLs from text that is logged or shown (I25). */
export const scrub = (text: string): string =>
  text.replace(SECRETS, '$1…').replace(BEARER, '$1…').replace(USERINFO, '$1…@')

/** Only white space and invisible characters. */
const BLANK = /^[\s\p{Cf}\p{Cc}]*$/u

export const isBlank = (text: string): boolean => BLANK.test(text)

/** The text as lines of at most `width` characters, broken between words; a longer word has a line of its own. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
