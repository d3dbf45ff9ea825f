/** Maximum UTF-16 units per character (the longest emoji have 15). With more accents it counts as several. */
const MAX_UNITS = 16

/** The only code points that join others to one character, see the test. */
const JOINS =
  /[\r\p{Join_Control}\p{M}\p{Grapheme_Extend}\p{Emoji_Modifier}\p{RI}\u0e33\u0eb3\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e\u{110bd}\u{110cd}\u{111c2}\u{111c3}\u{113d1}\u{1193f}\u{11941}\u{11a3a}\u{11a84}-\u{11a89}\u{11d46}\u{11f02}\u{16d63}\u{16d67}-\u{16d6a}]/u

const characters = new Intl.Segmenter('und', { granularity: 'grapheme' })

/** True if a text has at most `max` characters. */
export const hasAtMost = (text: string, max: number): boolean =>
  text.length <= max || (text.length <= max * MAX_UNITS && charactersIn(text, max) <= max)

/** True if a text has at least `min` characters. */
export const hasAtLeast = (text: string, min: number): boolean =>
  text.length >= min * MAX_UNITS || (text.length >= min && (min < 2 || charactersIn(text, min) >= min))

/** A caller's value that should be a text. Returns `otherwise` for any other value. */
export const wordOf = (value: unknown, otherwise = ''): string => (typeof value === 'string' ? value : otherwise)

/** A number of things: `1 key`, `2 keys`. The plural of `noun` ends in `s`, unless it is given. */
export const counted = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : plural}`

/** Removes what could act on a terminal or reorder a line, such as escapes (docs/operating.md 2.4). */
export const clean = (text: string): string =>
  Bun.stripANSI(text).replace(/[^\P{Cc}\t\n]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu, '·')

/** A text with the commands it names as the user has to type them: `./svc-admin keys list` in a clone. */
export function commandsAsTyped(text: string, { SVC_ADMIN_AS: name = '' }: NodeJS.Dict<string>): string {
  // A name that a shell or JSON would have to quote stays out of the text.
  return /^[\w./-]+$/.test(name) ? text.replace(/(?<![\w./-])svc-admin(?= )/g, () => name) : text
}

/** Cuts a text to `max` UTF-16 units, including an ellipsis. Never cuts within a character as a person sees it. */
export const shorten = (text: string, max: number): string =>
  text.length <= max ? text : `${beginningOf(text, max - 1)}…`

/** The beginning of a text, of at most `max` UTF-16 units. Never ends within a character as a person sees it. */
export function beginningOf(text: string, max: number): string {
  if (text.length <= max) return text
  // An ASCII letter never joins the previous character, and characters have a limited length. So only the text near the
  // cut matters.
  let from = max - 1
  while (from > 0 && max - from < 64 && text.charCodeAt(from) > 0x7f) from--
  const near = text.slice(from, max + MAX_UNITS)
  const last = JOINS.test(near) ? characters.segment(near).containing(max - from) : undefined
  // A character with more accents than any letter has is cut.
  if (last && from + last.index > 0 && max - from - last.index < MAX_UNITS) return text.slice(0, from + last.index)
  const cut = text.slice(0, max)
  return /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut
}

/** Letters that are not another letter with a mark, and their ASCII form. */
const LATIN: Readonly<Record<string, string>> = {
  ...{ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ı: 'i', ħ: 'h', ŋ: 'n' },
}

/** A name as lower-case ASCII letters, digits and hyphens, of at most `max` characters. May be empty. */
export const slugOf = (name: string, max: number): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^\0-\x7f]/g, (letter) => LATIN[letter] ?? letter)
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, max)
    .replace(/-$/, '')

/** Hides user name and password of every address in a text, because they are secrets (docs/operating.md 6.1). */
export const withoutUserInfo = (text: string): string => text.replace(/:\/\/[^/?#\s"]*@/g, '://…@')

/** Removes what a database or client cannot store. Drops NUL, and replaces unpaired surrogates by U+FFFD. */
export const storable = (text: string): string =>
  text.includes('\0') || !text.isWellFormed() ? text.replaceAll('\0', '').toWellFormed() : text

/** Like `storable`, for every text in a JSON value, names included. A value that needs no change is returned itself. */
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

/** Applies `change` to every string in a value. For formats without escapes. */
export function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((one) => mapStrings(one, change))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [change(name), mapStrings(one, change)]))
}

/** Removes characters that XML forbids in any form: control characters, U+FFFE, U+FFFF, unpaired surrogates. */
export const xmlText = (text: string): string =>
  text.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')

/** Number of characters after which pieces are joined. */
const JOINED = 256

/**
 * Collects a text that arrives in pieces. The runtime joins strings only when one is read. Until then a short piece
 * takes ten times its length, so this joins them from time to time.
 */
export class Pieces {
  private joined = ''
  private recent = ''

  add(piece: string): void {
    this.recent += piece
    if (this.recent.length < JOINED) return
    // Reading a character makes the runtime join the string.
    this.recent.charCodeAt(0)
    this.joined += this.recent
    this.recent = ''
  }

  get text(): string {
    return this.joined + this.recent
  }
}

export type PairKeeper = { add(piece: string): string; end(): string }

/** Makes a streamed text {@link storable} piece by piece. Half a surrogate pair waits for its other half. */
export function createPairKeeper(): PairKeeper {
  let half = ''
  return {
    add(piece) {
      const text = half + piece
      const last = text.charCodeAt(text.length - 1)
      const ends = last >= 0xd800 && last < 0xdc00
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

/** Removes API keys, bearer tokens and passwords in URLs from text that is logged or shown (docs/promises.md I25). */
export function scrub(text: string): string {
  // Most log lines contain no secret, and a search for a word costs next to nothing.
  const hidden = text.includes('svc_') ? text.replace(SECRETS, '$1…') : text
  const unnamed = /bearer/i.test(hidden) ? hidden.replace(BEARER, '$1…') : hidden
  return unnamed.includes('@') ? unnamed.replace(USERINFO, '$1…@') : unnamed
}

/** Only white space and invisible characters. */
const BLANK = /^[\s\p{Cf}\p{Cc}]*$/u

export const isBlank = (text: string): boolean => BLANK.test(text)

/** The text as lines of at most `width` characters, broken between words. A longer word gets its own line. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

/**
 * The length of a text in characters as a person sees them (grapheme clusters), which every text limit counts. A flag,
 * or a letter with its accent, counts as one. Takes linear time, and stops above `max`.
 */
export function charactersIn(text: string, max = Number.POSITIVE_INFINITY): number {
  if (!JOINS.test(text)) return codePointsIn(text)
  let count = 0
  for (const { segment } of characters.segment(text)) {
    count += Math.ceil(segment.length / MAX_UNITS)
    if (count > max) break
  }
  return count
}

function codePointsIn(text: string): number {
  let pairs = 0
  for (let at = 1; at < text.length; at++) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800) pairs += 1
  }
  return text.length - pairs
}

/**
 * An e-mail address with its host in ASCII, as mail servers expect: other scripts in punycode (`münchen.de` is
 * `xn--mnchen-3ya.de`). Any other text stays unchanged.
 */
export function withAsciiHost(email: string): string {
  const at = email.lastIndexOf('@') + 1
  const host = email.slice(at)
  if (!at || /^[\0-\x7f]*$/.test(host) || !/^[a-z\d.\x80-\u{10ffff}-]+$/iu.test(host)) return email
  return email.slice(0, at) + (URL.parse(`https://${host}`)?.hostname ?? host)
}
