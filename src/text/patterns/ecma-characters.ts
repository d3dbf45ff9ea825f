import { complement, DIGITS, only, type Range, SPACE, WORD } from './ecma-ranges'

/** The characters that one position of a pattern matches. */
export type CharacterSet = {
  ranges: readonly Range[]
  /** Unicode properties in RE2's syntax, as members of a class. */
  properties?: string
  isNegated?: boolean
  /** The set needs no case folding: it contains both cases already, or no letters. */
  isCaseless?: boolean
}

type Reader = { source: string; at: number; isUnicode: boolean; isSets: boolean }
type Mode = { ignoreCase: boolean }
type InClass = Mode & {
  /** Throws for syntax that RE2 does not support. */
  refuse(why: string): never
}

const CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13 }
/** The escapes `\u`, `\u{…}`, `\x` and `\c`. Two `\u` that form a surrogate pair are one character. */
const CODE =
  /u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]+)\}|c([a-zA-Z])/y
const OCTAL = /[0-3][0-7]{0,2}|[4-7][0-7]?/y
const PROPERTY = /([pP])\{(?:(?:General_Category|gc|Script|sc)=)?([^}]*)\}/y
/** RE2's short names of properties, by the long names that ECMAScript also accepts. */
const SHORT: Readonly<Record<string, string>> = {
  Letter: 'L',
  Uppercase_Letter: 'Lu',
  Lowercase_Letter: 'Ll',
  Mark: 'M',
  Number: 'N',
  Decimal_Number: 'Nd',
  Punctuation: 'P',
  Symbol: 'S',
  Separator: 'Z',
  Space_Separator: 'Zs',
  Other: 'C',
  Control: 'Cc',
}

/** Reads `\…`, inside a class or outside. An unknown escape is the character itself. */
export function readEscape(reader: Reader, mode: Mode): CharacterSet {
  const next = reader.source[reader.at + 1] ?? ''
  const known = classOf(next, reader, mode)
  if (known) {
    reader.at += 2
    return { ranges: known, isCaseless: true }
  }
  return propertyAt(reader) ?? { ranges: [only(codeAt(reader))] }
}

/** `\d \D \s \S \w \W`. With the flags `i` and `u`, `\w` also contains the long s and the Kelvin sign. */
function classOf(next: string, { isUnicode }: Reader, { ignoreCase }: Mode): readonly Range[] | null {
  const wide = isUnicode && ignoreCase ? [...WORD, only(0x17f), only(0x212a)] : WORD
  if (next === 'd') return DIGITS
  if (next === 's') return SPACE
  if (next === 'w') return wide
  if (next === 'D') return complement(DIGITS)
  if (next === 'S') return complement(SPACE)
  return next === 'W' ? complement(wide) : null
}

function propertyAt(reader: Reader): CharacterSet | null {
  if (!reader.isUnicode) return null
  PROPERTY.lastIndex = reader.at + 1
  const found = PROPERTY.exec(reader.source)
  if (!found) return null
  reader.at += 1 + found[0].length
  const [, sign, name = ''] = found
  if (name === 'ASCII') return { ranges: sign === 'p' ? [[0, 127]] : complement([[0, 127]]) }
  return { ranges: [], properties: `\\${sign}{${SHORT[name] ?? name}}` }
}

/** The code point of an escape. */
function codeAt(reader: Reader): number {
  const { source, isUnicode } = reader
  const at = reader.at + 1
  const next = source[at]!
  reader.at = at + 1
  if (next in CONTROLS) return CONTROLS[next]!
  CODE.lastIndex = at
  const [text, high, low, hex, unit, braced, letter] = CODE.exec(source) ?? []
  if (text && (!braced || isUnicode)) {
    reader.at = at + text.length
    if (letter) return letter.charCodeAt(0) % 32
    if (high) return String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low!, 16)).codePointAt(0)!
    return Number.parseInt(hex ?? unit ?? braced!, 16)
  }
  OCTAL.lastIndex = at
  const [octal] = OCTAL.exec(source) ?? []
  if (octal) {
    reader.at = at + octal.length
    return Number.parseInt(octal, 8)
  }
  // Without the flag `u`, `\c` without a following letter is a backslash.
  if (next === 'c') reader.at = at
  if (next === 'c') return 0x5c
  const code = source.codePointAt(at)!
  if (code > 0xffff) reader.at++
  return code
}

/** Reads `[…]`. */
export function readClass(reader: Reader, mode: InClass): CharacterSet {
  const { source } = reader
  const isNegated = source[reader.at + 1] === '^'
  reader.at += isNegated ? 2 : 1
  const ranges: Range[] = []
  const caseless: Range[] = []
  let properties = ''
  while (source[reader.at] !== ']') {
    if (reader.isSets && SETS.test(source.slice(reader.at, reader.at + 2))) mode.refuse('it has classes in a class')
    const from = member(reader, mode)
    // Whether a hyphen forms a range here. Not before a class: `[a-\d]` has three members.
    const to =
      typeof from === 'number' &&
      reader.source[reader.at] === '-' &&
      reader.source[reader.at + 1] !== ']' &&
      !/^\\[dDsSwWpP]/.test(reader.source.slice(reader.at + 1, reader.at + 3))
        ? rangeEnd(reader, mode)
        : null
    if (typeof from === 'number') ranges.push([from, to ?? from])
    else if (from.properties) properties += from.properties
    else caseless.push(...from.ranges)
  }
  reader.at++
  return { ranges: [...ranges, ...caseless], properties, isNegated, isCaseless: !ranges.length }
}

const SETS = /^(?:\[|--|&&|\\q)/

function rangeEnd(reader: Reader, mode: Mode): number | null {
  reader.at++
  const end = member(reader, mode)
  return typeof end === 'number' ? end : null
}

function member(reader: Reader, mode: Mode): number | CharacterSet {
  const { source } = reader
  if (source[reader.at] === '\\') {
    if (source[reader.at + 1] === 'b') {
      reader.at += 2
      return 8
    }
    const found = readEscape(reader, mode)
    const [first] = found.ranges
    return found.isCaseless || found.properties || first![0] !== first![1] ? found : first![0]
  }
  const code = source.codePointAt(reader.at)!
  reader.at += code > 0xffff ? 2 : 1
  return code
}
