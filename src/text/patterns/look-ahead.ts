import { endOfAtom } from './size'

/** A pattern without look-ahead, and whether it must match or must not match. */
export type Demand = { source: string; isMet: boolean }

const LOOK = /\(\?[=!]/y
const QUANTIFIER = /[*+?{]/
/** The pattern outside may refer to a group inside a look-ahead. */
const REFERENCE = /\\[1-9k]/

/**
 * Splits a pattern with look-aheads at its start into patterns without look-ahead that are equivalent together:
 * `^(?=.*\d)(?!admin)\w+$` becomes `^(?:.*\d)`, not `^(?:admin)`, and `^(?:\w+$)`. Libraries write e-mail addresses and
 * passwords in this form. Returns any other pattern unchanged.
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

/** The index after the group that begins at `at`. Null when the group does not end. */
function endOfGroup(source: string, at: number): number | null {
  let depth = 0
  for (let index = at; index < source.length; index = endOfAtom(source, index)) {
    if (source[index] === '(') depth++
    if (source[index] === ')' && --depth === 0) return index + 1
  }
  return null
}

/** Whether a `|` is outside all groups. Then the `^` before it does not apply to the whole pattern. */
function hasBranches(source: string): boolean {
  let depth = 0
  for (let index = 0; index < source.length; index = endOfAtom(source, index)) {
    if (source[index] === '(') depth++
    if (source[index] === ')') depth--
    if (source[index] === '|' && depth <= 0) return true
  }
  return false
}
