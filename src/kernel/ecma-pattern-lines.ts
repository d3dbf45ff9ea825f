import { covers, LAST, only, type Range, without, written } from './ecma-pattern-ranges'

/**
 * RE2 knows one end of a line and ECMAScript four. Where `^` and `$` mean lines, each of the four stands in the text
 * as RE2's own, a mark that says which it was, and RE2's own again: so lines begin and end there, and nothing that
 * takes an end of a line for a character mistakes one for another.
 */
const ENDS = [0x0a, 0x0d, 0x2028, 0x2029]
/** No characters, by Unicode's word: those in a text are read as the one that is no mark. */
const FIRST_MARK = 0xfdd0
const NO_MARK = '\ufdd4'
const MARKS: Range = [FIRST_MARK, FIRST_MARK + ENDS.length - 1]
const TAKEN = [...ENDS.map(only), MARKS]
const MARKED = /[\n\r\u2028\u2029]/g
const WIDER = 2

export function withLinesMarked(text: string): string {
  const plain = text.replace(/[\ufdd0-\ufdd3]/g, NO_MARK)
  return plain.replace(MARKED, (end) => `\n${String.fromCharCode(FIRST_MARK + ENDS.indexOf(end.charCodeAt(0)))}\n`)
}

/** Where a place in the marked text is in the text itself; asked from left to right. */
export function placesWithout(marked: string): (place: number) => number {
  const mark = /[\ufdd0-\ufdd3]/g
  let passed = 0
  let next = mark.exec(marked)
  return (place) => {
    while (next && next.index < place) {
      passed++
      next = mark.exec(marked)
    }
    return place - WIDER * passed
  }
}

/** A class of these, where ends of lines are marked. Null for a positive one whose `properties` have ends in them. */
export function classOfMarked(ranges: readonly Range[], properties: string, isNegated: boolean): string | null {
  const among = properties === '' ? null : new RegExp(`[${properties}]`, 'u')
  const has = (code: number) => covers(ranges, code) || (among?.test(String.fromCharCode(code)) ?? false)
  if (!isNegated && among && [...ENDS, FIRST_MARK].some((code) => among.test(String.fromCharCode(code)))) return null
  const ends = ENDS.flatMap((code, place) => (has(code) === isNegated ? [] : [only(FIRST_MARK + place)]))
  const rest = isNegated
    ? `[^${written([...ranges, ...TAKEN])}${properties}]`
    : bracketed(written(without(ranges, TAKEN)) + properties)
  if (!ends.length) return rest || `[^${written([[0, LAST]])}]`
  return `(?:${rest ? `${rest}|` : ''}\\n[${written(ends)}]\\n)`
}

const bracketed = (members: string): string => (members ? `[${members}]` : '')
