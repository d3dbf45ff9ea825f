import { type CharacterSet, readClass, readEscape } from './ecma-characters'
import { classOfMarked } from './ecma-lines'
import { classMembers, inAnyCase, LAST, literal, only, type Range } from './ecma-ranges'

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

type Reader = {
  source: string
  at: number
  /** Parsed with the flag `u` or `v`. */
  isUnicode: boolean
  /** Parsed with the flag `v`. */
  isSets: boolean
  isOfLines: boolean
  /** The number of capturing groups. `\1` up to this number are back-references. */
  groups: number
  hasNames: boolean
  hasWordEdge: boolean
}

const NEWLINES: readonly Range[] = [only(0x0a), only(0x0d), [0x2028, 0x2029]]
const ALL: readonly Range[] = [[0, LAST]]
const COUNT = /\{\d+(?:,\d*)?\}/y
const OPENING = /\(\?(?:(?<look><?[=!])|<(?<name>[^>]+)>|(?<on>[a-z]*)(?:-(?<off>[a-z]*))?:)/y
/** Syntax that only makes sense with the flag `u`. A pattern that contains it is parsed as if the flag were set. */
const MEANS_CHARACTERS = /\\[pP]\{|\\u\{/

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
  const outside = source.replace(/\\./gsu, '').replace(/\[[^\]]*\]/g, '')
  const reader: Reader = {
    source,
    at: 0,
    isUnicode,
    isSets: has('v'),
    isOfLines,
    hasWordEdge: false,
    groups: outside.match(/\((?!\?)|\(\?<[^=!]/g)?.length ?? 0,
    hasNames: /\(\?<[^=!]/.test(source),
  }
  const mode = { ignoreCase: has('i'), multiline: has('m'), dotAll: has('s') }
  const body = sequence(reader, mode)
  const folds = isUnicode && (mode.ignoreCase || /\(\?[a-z]*i/.test(source))
  return {
    source: mode.ignoreCase ? `(?i:${body})` : body,
    isOfLines,
    foldsWords: folds && reader.hasWordEdge,
  }
}

/** Translates up to the end of the current group, or of the pattern. */
function sequence(reader: Reader, mode: Mode): string {
  const { source } = reader
  let out = ''
  while (reader.at < source.length && source[reader.at] !== ')') {
    const char = source[reader.at]!
    if (char === '(') out += group(reader, mode)
    else if ('*+?|'.includes(char)) out += source[reader.at++]
    else if (char === '{') out += count(reader) ?? one(reader, mode)
    else out += one(reader, mode)
  }
  return out
}

/** A count `{n,m}`. Null if the brace is a literal, as it may be without the flag `u`. */
function count(reader: Reader): string | null {
  COUNT.lastIndex = reader.at
  const [text] = COUNT.exec(reader.source) ?? []
  reader.at += text?.length ?? 0
  return text ?? null
}

/** Translates a group. All groups become non-capturing, because no caller uses captures. */
function group(reader: Reader, mode: Mode): string {
  OPENING.lastIndex = reader.at
  const { 0: opening = '(', groups = {} } = OPENING.exec(reader.source) ?? {}
  if (groups.look) throw new NotLinear('it looks around')
  reader.at += opening.length
  const { on = '', off = '' } = groups
  const is = (flag: string, before: boolean) => (before || on.includes(flag)) && !off.includes(flag)
  const own = {
    ignoreCase: is('i', mode.ignoreCase),
    multiline: is('m', mode.multiline),
    dotAll: is('s', mode.dotAll),
  }
  const inner = sequence(reader, own)
  reader.at++
  const folds = own.ignoreCase !== mode.ignoreCase
  return `(?${folds ? (own.ignoreCase ? 'i' : '-i') : ''}:${inner})`
}

/** Translates one character, class or anchor. */
function one(reader: Reader, mode: Mode): string {
  const { source } = reader
  const char = source[reader.at]!
  if (char === '^' || char === '$') {
    reader.at++
    if (mode.multiline) return `(?m:${char})`
    return char === '^' ? '\\A' : '\\z'
  }
  if (char === '.') {
    reader.at++
    return characterSet(reader, mode, mode.dotAll ? { ranges: ALL, isCaseless: true } : NOT_NEWLINES)
  }
  if (char === '[') return characterSet(reader, mode, readClass(reader, { ...mode, refuse }))
  if (char === '\\') return escaped(reader, mode)
  const code = source.codePointAt(reader.at)!
  reader.at += code > 0xffff ? 2 : 1
  return characterSet(reader, mode, { ranges: [only(code)] })
}

const NOT_NEWLINES: CharacterSet = { ranges: NEWLINES, isNegated: true, isCaseless: true }

function refuse(why: string): never {
  throw new NotLinear(why)
}

function escaped(reader: Reader, mode: Mode): string {
  const next = reader.source[reader.at + 1]!
  if (next === 'b' || next === 'B') {
    reader.at += 2
    reader.hasWordEdge = true
    return `\\${next}`
  }
  if (refersBack(reader, next)) throw new NotLinear('it refers back to a group')
  return characterSet(reader, mode, readEscape(reader, mode))
}

function refersBack({ source, at, isUnicode, groups, hasNames }: Reader, next: string): boolean {
  if (next === 'k') return isUnicode || hasNames
  return next >= '1' && next <= '9' && (isUnicode || Number.parseInt(source.slice(at + 1, at + 6), 10) <= groups)
}

/**
 * Writes one character set. Without `u`, ECMAScript folds fewer letters than RE2, so sets are written with both cases
 * and with folding off. RE2 folds single ASCII letters, so that it still sees literal words.
 */
function characterSet(reader: Reader, { ignoreCase }: Mode, found: CharacterSet): string {
  const isWritten = ignoreCase && !reader.isUnicode
  const [first] = found.ranges
  if (isWritten && !reader.isOfLines && isOne(found) && first![0] < 128 && !FOLDED_FARTHER.has(first![0])) {
    return literal(first![0])
  }
  if (!isWritten) return classOf(reader, found)
  const ranges = found.isCaseless ? found.ranges : inAnyCase(found.ranges)
  return `(?-i:${classOf(reader, { ...found, ranges })})`
}

/** RE2 folds K with the Kelvin sign and S with the long s. */
const FOLDED_FARTHER: ReadonlySet<number> = new Set([...'kKsS'].map((letter) => letter.charCodeAt(0)))

const isOne = ({ ranges, properties = '', isNegated = false }: CharacterSet): boolean =>
  !properties && !isNegated && ranges.length === 1 && ranges[0]![0] === ranges[0]![1]

function classOf({ isOfLines }: Reader, found: CharacterSet): string {
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
