import { type AST, RegExpParser } from '@eslint-community/regexpp'
import { classOfMarked } from './ecma-lines'
import {
  classMembers,
  complement,
  DIGITS,
  inAnyCase,
  LAST,
  literal,
  only,
  type Range,
  SPACE,
  WORD,
} from './ecma-ranges'

/** Thrown for syntax that RE2 cannot run: look-around, back-references and the like. The message is half a sentence. */
export class NotLinear extends Error {
  override name = 'NotLinear'
  constructor(why: string) {
    super(`is not a pattern this server runs (on RE2, without look-around and back-references): ${why}`)
  }
}

/** An ECMAScript pattern in RE2's syntax, with its flags written into it. */
export type Translated = {
  source: string
  /** `^` or `$` matches at lines. Texts must be passed through `withLinesMarked` first. */
  isOfLines: boolean
  /** `\b` counts the long s and the Kelvin sign as letters, but RE2 does not. Replace them by s and k first. */
  foldsWords: boolean
}

/** The flags that a group can change. */
type Mode = { ignoreCase: boolean; multiline: boolean; dotAll: boolean }

type Reading = {
  isUnicode: boolean
  isOfLines: boolean
  hasWordEdge: boolean
  codeOf(character: AST.Character): number
}

/** The characters that one position of a pattern matches. */
type CharacterSet = {
  ranges: readonly Range[]
  /** Unicode properties in RE2's syntax, as members of a class. */
  properties?: string
  isNegated?: boolean
  /** The set needs no case folding: it contains both cases already, or no letters. */
  isCaseless?: boolean
}

const ALL: readonly Range[] = [[0, LAST]]
const NOT_NEWLINES: CharacterSet = {
  ranges: [only(0x0a), only(0x0d), [0x2028, 0x2029]],
  isNegated: true,
  isCaseless: true,
}
/** Syntax that only makes sense with the flag `u`. A pattern that contains it is parsed as if the flag were set. */
const MEANS_CHARACTERS = /\\[pP]\{|\\u\{/

const parser = new RegExpParser()

/** Parses an ECMAScript pattern. Throws for an invalid one. */
export const parsePattern = (source: string, flags: { unicode?: boolean; unicodeSets?: boolean } = {}): AST.Pattern =>
  parser.parsePattern(source, 0, source.length, flags)

/**
 * Translates an ECMAScript pattern to RE2's syntax. Two meanings differ: a character is always a whole code point, and
 * `\p{…}` and `\u{…}` have the same meaning with and without the flag `u`.
 * @throws NotLinear for what RE2 cannot run, Error with half a sentence (`does not compile: …`) for an invalid pattern
 */
export function translated(source: string, flags = ''): Translated {
  assertExpression(source, flags)
  const plain = flags.replace(/[uv]/g, '')
  const isUnicode = /[uv]/.test(flags) || (MEANS_CHARACTERS.test(source) && isExpression(source, `${plain}u`))
  const has = (flag: string) => flags.includes(flag)
  const isOfLines = (has('m') || /\(\?[a-z]*m/.test(source)) && /[$^]/.test(source)
  const { prepared, codeOf } = prepare(source, isUnicode)
  const reading: Reading = { isUnicode, isOfLines, hasWordEdge: false, codeOf }
  const pattern = parsePattern(prepared, { unicode: isUnicode && !has('v'), unicodeSets: has('v') })
  const mode = { ignoreCase: has('i'), multiline: has('m'), dotAll: has('s') }
  const body = alternatives(pattern, reading, mode)
  const folds = isUnicode && (mode.ignoreCase || /\(\?[a-z]*i/.test(source))
  return {
    source: mode.ignoreCase ? `(?i:${body})` : body,
    isOfLines,
    foldsWords: folds && reading.hasWordEdge,
  }
}

/** Escaped characters outside ASCII, other escapes, and surrogate pairs as characters or as two escapes. */
const WHOLE =
  /\\([^\0-\x7f])|\\[^u]|[\u{10000}-\u{10ffff}]|\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})/gu

/**
 * Prepares a source for the parser, which refuses escapes outside ASCII with the flag `u` and reads halves of surrogate
 * pairs without it. The escapes lose their sign. Each pair becomes a letter that is not in the source, and `codeOf`
 * gives the code point that it stands for.
 */
function prepare(source: string, isUnicode: boolean) {
  const letters = new Map<string, string>()
  let next = 0x4e00
  const unused = () => {
    while (source.includes(String.fromCharCode(next))) next++
    return String.fromCharCode(next++)
  }
  const prepared = source.replace(WHOLE, (found, escaped?: string, high?: string, low?: string) => {
    const whole = escaped ?? (high ? String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low!, 16)) : found)
    const isPair = whole.length === 2 && !whole.startsWith('\\')
    return isPair && !isUnicode ? letters.getOrInsertComputed(whole, unused) : whole
  })
  const codes = new Map([...letters].map(([whole, letter]) => [letter, whole.codePointAt(0)!]))
  return { prepared, codeOf: ({ raw, value }: AST.Character) => codes.get(raw) ?? value }
}

const alternatives = (branch: { alternatives: AST.Alternative[] }, reading: Reading, mode: Mode): string =>
  branch.alternatives
    .map(({ elements }) => elements.map((element) => translatedElement(element, reading, mode)).join(''))
    .join('|')

function translatedElement(element: AST.Element, reading: Reading, mode: Mode): string {
  switch (element.type) {
    case 'Quantifier': {
      const times = element.raw.slice(element.element.end - element.start)
      return translatedElement(element.element, reading, mode) + times
    }
    // All groups become non-capturing, because no caller uses captures.
    case 'CapturingGroup':
      return `(?:${alternatives(element, reading, mode)})`
    case 'Group': {
      const { add, remove } = element.modifiers ?? {}
      const is = (flag: keyof Mode) => (mode[flag] || add?.[flag] === true) && !remove?.[flag]
      const own = { ignoreCase: is('ignoreCase'), multiline: is('multiline'), dotAll: is('dotAll') }
      const folds = own.ignoreCase !== mode.ignoreCase
      return `(?${folds ? (own.ignoreCase ? 'i' : '-i') : ''}:${alternatives(element, reading, own)})`
    }
    case 'Assertion':
      if (element.kind === 'lookahead' || element.kind === 'lookbehind') throw new NotLinear('it looks around')
      if (element.kind === 'word') {
        reading.hasWordEdge = true
        return element.negate ? '\\B' : '\\b'
      }
      if (mode.multiline) return `(?m:${element.raw})`
      return element.kind === 'start' ? '\\A' : '\\z'
    case 'Backreference':
      throw new NotLinear('it refers back to a group')
    case 'Character':
      return characterSet(reading, mode, { ranges: [only(reading.codeOf(element))] })
    case 'CharacterSet':
      return characterSet(reading, mode, setOf(element, reading, mode))
    default:
      return characterSet(reading, mode, classSetOf(element, reading, mode))
  }
}

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

/** The set of `.`, of an escape such as `\d`, and of a property. */
function setOf(set: AST.CharacterSet, { isUnicode }: Reading, { ignoreCase, dotAll }: Mode): CharacterSet {
  if (set.kind === 'any') return dotAll ? { ranges: ALL, isCaseless: true } : NOT_NEWLINES
  const of = (ranges: readonly Range[]) => ({ ranges: set.negate ? complement(ranges) : ranges, isCaseless: true })
  switch (set.kind) {
    case 'digit':
      return of(DIGITS)
    case 'space':
      return of(SPACE)
    case 'word':
      // With the flags `i` and `u`, `\w` also contains the long s and the Kelvin sign.
      return of(isUnicode && ignoreCase ? [...WORD, only(0x17f), only(0x212a)] : WORD)
    case 'property': {
      const { key, value, negate } = set
      if (key === 'ASCII') return { ...of([[0, 127]]), isCaseless: false }
      const isPlain = value === null || /^(?:General_Category|gc|Script|sc)$/.test(key)
      const name = isPlain ? (value ?? key) : `${key}=${value}`
      return { ranges: [], properties: `\\${negate ? 'P' : 'p'}{${SHORT[name] ?? name}}` }
    }
  }
}

/** The set of a class in brackets. */
function classSetOf(
  set: AST.CharacterClass | AST.ExpressionCharacterClass,
  reading: Reading,
  mode: Mode,
): CharacterSet {
  if (set.type === 'ExpressionCharacterClass') throw new NotLinear('it has classes in a class')
  const [ranges, caseless]: [Range[], Range[]] = [[], []]
  let properties = ''
  for (const member of set.elements) {
    if (member.type === 'Character') ranges.push(only(reading.codeOf(member)))
    else if (member.type === 'CharacterClassRange')
      ranges.push([reading.codeOf(member.min), reading.codeOf(member.max)])
    else if (member.type === 'CharacterSet') {
      const found = setOf(member, reading, mode)
      properties += found.properties ?? ''
      caseless.push(...found.ranges)
    } else throw new NotLinear('it has classes in a class')
  }
  return { ranges: [...ranges, ...caseless], properties, isNegated: set.negate, isCaseless: !ranges.length }
}

/**
 * Writes one character set. Without `u`, ECMAScript folds fewer letters than RE2, so sets are written with both cases
 * and with folding off. RE2 folds single ASCII letters, so that it still sees literal words.
 */
function characterSet(reading: Reading, { ignoreCase }: Mode, found: CharacterSet): string {
  const isWritten = ignoreCase && !reading.isUnicode
  const [first] = found.ranges
  if (isWritten && !reading.isOfLines && isOne(found) && first![0] < 128 && !FOLDED_FARTHER.has(first![0])) {
    return literal(first![0])
  }
  if (!isWritten) return classOf(reading, found)
  const ranges = found.isCaseless ? found.ranges : inAnyCase(found.ranges)
  return `(?-i:${classOf(reading, { ...found, ranges })})`
}

/** RE2 folds K with the Kelvin sign and S with the long s. */
const FOLDED_FARTHER: ReadonlySet<number> = new Set([...'kKsS'].map((letter) => letter.charCodeAt(0)))

const isOne = ({ ranges, properties = '', isNegated = false }: CharacterSet): boolean =>
  !properties && !isNegated && ranges.length === 1 && ranges[0]![0] === ranges[0]![1]

function classOf({ isOfLines }: Reading, found: CharacterSet): string {
  const { ranges, properties = '', isNegated = false } = found
  if (isOfLines) {
    const marked = classOfMarked(ranges, properties, isNegated)
    if (marked === null) throw new NotLinear('a property with ends of lines in it, and the flag m')
    return marked
  }
  if (isOne(found)) return literal(ranges[0]![0])
  const members = classMembers(ranges) + properties
  if (members) return `[${isNegated ? '^' : ''}${members}]`
  return `[${isNegated ? '' : '^'}${classMembers(ALL)}]`
}

function assertExpression(source: string, flags: string): void {
  try {
    new RegExp(source, flags)
  } catch (error) {
    const why = (error as Error).message.replace(/^Invalid regular expression: /, '')
    throw new Error(`does not compile: ${openIn(source, why) ?? why.slice(0, 120)}`)
  }
}

/** Half a sentence that names the unclosed bracket and its position, counted from one. Null for any other fault. */
function openIn(source: string, why: string): string | null {
  const missing = /^missing (?:terminating )?([)\]])/.exec(why)?.[1]
  if (!missing) return null
  const open: number[] = []
  let bracket = -1
  for (const { 0: sign, index } of source.matchAll(/\\.|[()[\]]/gsu)) {
    if (bracket < 0 && sign === '[') bracket = index
    else if (sign === ']') bracket = -1
    else if (bracket < 0 && sign === '(') open.push(index)
    else if (bracket < 0 && sign === ')') open.pop()
  }
  const place = missing === ']' ? bracket : (open.at(-1) ?? -1)
  return place < 0 ? null : `the "${source[place]}" at position ${place + 1} is not closed`
}

function isExpression(source: string, flags: string): boolean {
  try {
    new RegExp(source, flags)
    return true
  } catch {
    return false
  }
}
