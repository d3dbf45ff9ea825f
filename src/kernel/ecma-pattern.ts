import { classOfMarked } from './ecma-pattern-lines'
import { inAnyCase, LAST, only, type Range, sign, written } from './ecma-pattern-ranges'
import { readClass, readEscape, type Signs } from './ecma-pattern-signs'

/** RE2 cannot run it, however small: look-around, back-references and the like. The message is half a sentence. */
export class NotLinear extends Error {
  override name = 'NotLinear'
  constructor(why: string) {
    super(`is not a pattern this server runs (on RE2, without look-around and back-references): ${why}`)
  }
}

/** An ECMAScript pattern in RE2's syntax; it takes no flags, they are written out in it. */
export type Translated = {
  source: string
  /** Its `^` and `$` mean lines: it is for texts whose lines are marked. */
  isOfLines: boolean
  /** Its `\b` knows two letters more than RE2's: it is for texts in which they are written as the plain ones. */
  foldsWords: boolean
}

/** What of it can change from group to group. */
type Mode = { ignoreCase: boolean; multiline: boolean; dotAll: boolean }

type Reader = {
  source: string
  at: number
  /** Read with the flag `u` or `v`. */
  isUnicode: boolean
  /** Read with the flag `v`. */
  isSets: boolean
  isOfLines: boolean
  /** How many groups a number can refer back to; all, where names do. */
  groups: number
  hasNames: boolean
  hasWordEdge: boolean
}

const NEWLINES: readonly Range[] = [only(0x0a), only(0x0d), [0x2028, 0x2029]]
const ALL: readonly Range[] = [[0, LAST]]
const COUNT = /\{\d+(?:,\d*)?\}/y
const OPENING = /\(\?(?:(?<look><?[=!])|<(?<name>[^>]+)>|(?<on>[a-z]*)(?:-(?<off>[a-z]*))?:)/y
/** What says of a pattern that whole characters are meant, whether or not `u` stands with it. */
const MEANS_CHARACTERS = /\\[pP]\{|\\u\{/

/**
 * The meaning that a pattern has in ECMAScript, in RE2's syntax. Characters are whole ones always, and `\p{…}` and
 * `\u{…}` are what they say with the flag `u` even where it is not given.
 * @throws NotLinear, and Error with half a sentence (`does not compile: …`) when it is none
 */
export function translated(source: string, flags = ''): Translated {
  assertExpression(source, flags)
  const plain = flags.replace(/[uv]/g, '')
  const isUnicode = /[uv]/.test(flags) || (MEANS_CHARACTERS.test(source) && isExpression(source, `${plain}u`))
  const has = (flag: string) => flags.includes(flag)
  const isOfLines = (has('m') || /\(\?[a-z]*m/.test(source)) && /[$^]/.test(source)
  const reader: Reader = {
    source,
    at: 0,
    isUnicode,
    isSets: has('v'),
    isOfLines,
    hasWordEdge: false,
    groups: groupsIn(source),
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

/** Up to the end of the group it stands in. */
function sequence(reader: Reader, mode: Mode): string {
  const { source } = reader
  let out = ''
  while (reader.at < source.length && source[reader.at] !== ')') {
    const here = source[reader.at]!
    if (here === '(') out += group(reader, mode)
    else if ('*+?|'.includes(here)) out += source[reader.at++]
    else if (here === '{') out += count(reader) ?? one(reader, mode)
    else out += one(reader, mode)
  }
  return out
}

/** As it stands; null where the brace is one, as sloppy patterns may have it. */
function count(reader: Reader): string | null {
  COUNT.lastIndex = reader.at
  const [text] = COUNT.exec(reader.source) ?? []
  reader.at += text?.length ?? 0
  return text ?? null
}

/** No group is asked for by its number here, so none is kept. */
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

/** What stands for one character, or for a place. */
function one(reader: Reader, mode: Mode): string {
  const { source } = reader
  const here = source[reader.at]!
  if (here === '^' || here === '$') {
    reader.at++
    if (mode.multiline) return `(?m:${here})`
    return here === '^' ? '\\A' : '\\z'
  }
  if (here === '.') {
    reader.at++
    return signs(reader, mode, mode.dotAll ? { ranges: ALL, isCaseless: true } : NOT_NEWLINES)
  }
  if (here === '[') return signs(reader, mode, readClass(reader, { ...mode, refuse }))
  if (here === '\\') return escaped(reader, mode)
  const code = source.codePointAt(reader.at)!
  reader.at += code > 0xffff ? 2 : 1
  return signs(reader, mode, { ranges: [only(code)] })
}

const NOT_NEWLINES: Signs = { ranges: NEWLINES, isNegated: true, isCaseless: true }

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
  return signs(reader, mode, readEscape(reader, mode))
}

function refersBack({ source, at, isUnicode, groups, hasNames }: Reader, next: string): boolean {
  if (next === 'k') return isUnicode || hasNames
  return next >= '1' && next <= '9' && (isUnicode || Number.parseInt(source.slice(at + 1, at + 6), 10) <= groups)
}

/**
 * One character of these. Without `u`, ECMAScript takes fewer letters for the same in any case than RE2 does: all that
 * differ are written out. Plain letters stand as they are, so that RE2 sees the words they make.
 */
function signs(reader: Reader, { ignoreCase }: Mode, found: Signs): string {
  const isWritten = ignoreCase && !reader.isUnicode
  const [first] = found.ranges
  if (isWritten && !reader.isOfLines && isOne(found) && first![0] < 128 && !FOLDED_FARTHER.has(first![0])) {
    return sign(first![0])
  }
  if (!isWritten) return classOf(reader, found)
  const ranges = found.isCaseless ? found.ranges : inAnyCase(found.ranges)
  return `(?-i:${classOf(reader, { ...found, ranges })})`
}

/** K and S, which RE2 takes for the sign of Kelvin and the long s, too. */
const FOLDED_FARTHER: ReadonlySet<number> = new Set([...'kKsS'].map((letter) => letter.charCodeAt(0)))

const isOne = ({ ranges, properties = '', isNegated = false }: Signs): boolean =>
  !properties && !isNegated && ranges.length === 1 && ranges[0]![0] === ranges[0]![1]

function classOf({ isOfLines }: Reader, found: Signs): string {
  const { ranges, properties = '', isNegated = false } = found
  if (isOfLines) {
    const marked = classOfMarked(ranges, properties, isNegated)
    if (marked === null) throw new NotLinear('a property with ends of lines in it, and the flag m')
    return marked
  }
  if (isOne(found)) return sign(ranges[0]![0])
  const members = written(ranges) + properties
  if (members) return `[${isNegated ? '^' : ''}${members}]`
  return `[${isNegated ? '' : '^'}${written(ALL)}]`
}

function groupsIn(source: string): number {
  const outside = source.replace(/\\./gsu, '').replace(/\[[^\]]*\]/g, '')
  return outside.match(/\((?!\?)|\(\?<[^=!]/g)?.length ?? 0
}

function assertExpression(source: string, flags: string): void {
  try {
    new RegExp(source, flags)
  } catch (error) {
    const why = (error as Error).message.replace(/^Invalid regular expression: /, '')
    throw new Error(`does not compile: ${openIn(source, why) ?? why.slice(0, 120)}`)
  }
}

/** What is not closed, and where it stands, counted from one. */
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
