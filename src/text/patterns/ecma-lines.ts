import { classMembers, covers, LAST, only, type Range, without } from './ecma-ranges'

/**
 * ECMAScript has four line terminators and RE2 has one. For patterns with the flag `m`, each terminator in the text is
 * replaced by `\n`, a mark that identifies it, and another `\n`. RE2 then sees lines begin and end there, and classes
 * can still distinguish the four.
 */
const ENDS = [0x0a, 0x0d, 0x2028, 0x2029]
/** Marks are Unicode noncharacters. One that already occurs in the text is replaced by NO_MARK. */
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

/** Maps positions in the marked text back to positions in the original. Call it with ascending positions. */
export function offsetsWithout(marked: string): (index: number) => number {
  const mark = /[\ufdd0-\ufdd3]/g
  let passed = 0
  let next = mark.exec(marked)
  return (index) => {
    while (next && next.index < index) {
      passed++
      next = mark.exec(marked)
    }
    return index - WIDER * passed
  }
}

/** A class for marked texts. Null (not supported) when a positive class has line terminators in its `properties`. */
export function classOfMarked(ranges: readonly Range[], properties: string, isNegated: boolean): string | null {
  const among = properties === '' ? null : new RegExp(`[${properties}]`, 'u')
  if (!isNegated && among && [...ENDS, FIRST_MARK].some((code) => among.test(String.fromCharCode(code)))) return null
  const ends = ENDS.flatMap((code, index) =>
    (covers(ranges, code) || (among?.test(String.fromCharCode(code)) ?? false)) === isNegated
      ? []
      : [only(FIRST_MARK + index)],
  )
  const rest = isNegated
    ? `[^${classMembers([...ranges, ...TAKEN])}${properties}]`
    : bracketed(classMembers(without(ranges, TAKEN)) + properties)
  if (!ends.length) return rest || `[^${classMembers([[0, LAST]])}]`
  return `(?:${rest ? `${rest}|` : ''}\\n[${classMembers(ends)}]\\n)`
}

const bracketed = (members: string): string => (members ? `[${members}]` : '')
