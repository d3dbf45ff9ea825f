import { endOfAtom } from './size'

/** A pattern without look-ahead; whether it must match, or must not. */
export type Demand = { source: string; isMet: boolean }

const LOOK = /\(\?[=!]/y
const QUANTIFIER = /[*+?{]/
/** A group in a look-ahead may be referred to from outside of it. */
const REFERENCE = /\\[1-9k]/

/**
 * The patterns without look-ahead that together say what one does whose look-aheads are at its beginning:
 * `^(?=.*\d)(?!admin)\w+$` is `^(?:.*\d)`, not `^(?:admin)`, and `^(?:\w+$)`. Libraries write e-mail addresses and
 * passwords so. Any other pattern is returned as it is.
 */
export function demandsOf(source: string): Demand[] {
  const demands: Demand[] = []
  let at = 1
  while (source.startsWith('^') && startsLook(source, at)) {
    const end = endOfGroup(source, at)
    if (end === null || QUANTIFIER.test(source[end] ?? '')) return [{ source, isMet: true }]
    demands.push({ source: `^(?:${source.slice(at + 3, end - 1)})`, isMet: source[at + 2] === '=' })
    at = end
  }
  const rest = source.slice(at)
  if (!demands.length || REFERENCE.test(source) || hasBranches(rest)) return [{ source, isMet: true }]
  return [...demands, { source: `^(?:${rest})`, isMet: true }]
}

function startsLook(source: string, at: number): boolean {
  LOOK.lastIndex = at
  return LOOK.test(source)
}

/** The index after the group that begins at `at`; null when it does not end. */
function endOfGroup(source: string, at: number): number | null {
  let depth = 0
  for (let index = at; index < source.length; index = endOfAtom(source, index)) {
    if (source[index] === '(') depth++
    if (source[index] === ')' && --depth === 0) return index + 1
  }
  return null
}

/** Whether a `|` stands outside of all groups: then the `^` before it is not for all of the pattern. */
function hasBranches(source: string): boolean {
  let depth = 0
  for (let index = 0; index < source.length; index = endOfAtom(source, index)) {
    if (source[index] === '(') depth++
    if (source[index] === ')') depth--
    if (source[index] === '|' && depth <= 0) return true
  }
  return false
}
