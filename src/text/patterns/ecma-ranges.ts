/** First and last code point, inclusive. */
export type Range = readonly [number, number]

/** The last code point of Unicode. */
export const LAST = 0x10ffff

export const DIGITS: readonly Range[] = [[48, 57]]
export const WORD: readonly Range[] = [...DIGITS, [65, 90], [95, 95], [97, 122]]
/** White space and line terminators of ECMAScript. The `\s` of RE2 has only five ASCII characters. */
export const SPACE: readonly Range[] = [
  [0x09, 0x0d],
  ...[0x20, 0xa0, 0x1680].map((code): Range => [code, code]),
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  ...[0x202f, 0x205f, 0x3000, 0xfeff].map((code): Range => [code, code]),
]

export const only = (code: number): Range => [code, code]

export const covers = (ranges: readonly Range[], code: number): boolean =>
  ranges.some(([first, last]) => first <= code && code <= last)

export function complement(ranges: readonly Range[]): Range[] {
  const remaining: Range[] = []
  let next = 0
  for (const [first, last] of ranges.toSorted((a, b) => a[0] - b[0])) {
    if (first > next) remaining.push([next, first - 1])
    next = Math.max(next, last + 1)
  }
  return next <= LAST ? [...remaining, [next, LAST]] : remaining
}

export const without = (ranges: readonly Range[], taken: readonly Range[]): Range[] =>
  complement([...complement(ranges), ...taken])

/** Writes the ranges as the content of an RE2 character class, without the brackets. */
export const classMembers = (ranges: readonly Range[]): string =>
  ranges.map(([first, last]) => (first === last ? literal(first) : `${literal(first)}-${literal(last)}`)).join('')

/** One code point in RE2's syntax, inside or outside a class. */
export const literal = (code: number): string =>
  PLAIN.test(String.fromCharCode(code)) && code < 128 ? String.fromCharCode(code) : `\\x{${code.toString(16)}}`

const PLAIN = /[a-z0-9 ]/i

/** Adds the other case of letters by ECMAScript's rules without the flag `u`, because RE2 would fold more letters. */
export function inAnyCase(ranges: readonly Range[]): readonly Range[] {
  const isAscii = ranges.every(([, last]) => last < 128)
  const others = isAscii ? [...otherCase(ranges, 65, 32), ...otherCase(ranges, 97, -32)] : beyondAscii(ranges)
  return others.length ? [...ranges, ...others] : ranges
}

/** The other case of those of the 26 letters from `start` that the ranges contain. `by` is the case distance. */
function otherCase(ranges: readonly Range[], start: number, by: number): Range[] {
  const met = ranges.map(([first, last]) => [Math.max(first, start), Math.min(last, start + 25)] as const)
  return met.filter(([first, last]) => first <= last).map(([first, last]) => [first + by, last + by])
}

function beyondAscii(ranges: readonly Range[]): Range[] {
  caseGroups ??= groupByCase()
  const met = caseGroups.filter((group) => group.some((code) => covers(ranges, code)))
  return met.flatMap((group) => group.filter((code) => !covers(ranges, code)).map(only))
}

let caseGroups: readonly (readonly number[])[] | null = null

/** Groups UTF-16 units that differ only in case. Built on first use, because it scans all 65,536 units. */
function groupByCase(): (readonly number[])[] {
  const groups = new Map<number, number[]>()
  for (let code = 0; code <= 0xffff; code++) {
    const upper = canonical(code)
    const known = groups.get(upper)
    if (known) known.push(code)
    else groups.set(upper, [code])
  }
  return [...groups.values()].filter(({ length }) => length > 1)
}

/**
 * Canonicalize of ECMA-262 without the flag `u`: the unit in upper case. A unit is unchanged when its upper case is
 * longer than one unit, or is ASCII while the unit is not.
 */
function canonical(code: number): number {
  const upper = String.fromCharCode(code).toUpperCase()
  const to = upper.charCodeAt(0)
  return upper.length !== 1 || (code >= 128 && to < 128) ? code : to
}
