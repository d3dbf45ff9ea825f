import type { AST } from '@eslint-community/regexpp'
import { parsePattern } from './ecma'

/** A pattern without look-ahead, and whether it must match or must not match. */
type Demand = { source: string; isMet: boolean }

/** The pattern outside may refer to a group inside a look-ahead. */
const REFERENCE = /\\[1-9k]/

/**
 * Splits a pattern with look-aheads at its start into patterns without look-ahead that are equivalent together:
 * `^(?=.*\d)(?!admin)\w+$` becomes `^(?:.*\d)`, not `^(?:admin)`, and `^(?:\w+$)`. Libraries write e-mail addresses and
 * passwords in this form. Returns any other pattern unchanged.
 */
export function demandsOf(source: string): Demand[] {
  const [only, ...others] = alternativesOf(source)
  const [start, ...elements] = only?.elements ?? []
  const after = elements.findIndex((element) => !isLookahead(element))
  const looks = (after < 0 ? elements : elements.slice(0, after)).filter(isLookahead)
  const next = elements[looks.length]
  // A look-ahead that is repeated may be left out.
  const isRepeated = next?.type === 'Quantifier' && isLookahead(next.element)
  if (others.length || start?.raw !== '^' || !looks.length || isRepeated || REFERENCE.test(source))
    return [{ source, isMet: true }]
  const demands = looks.map(({ raw, negate }) => ({ source: `^(?:${raw.slice(3, -1)})`, isMet: !negate }))
  return [...demands, { source: `^(?:${source.slice(looks.at(-1)!.end)})`, isMet: true }]
}

/** None for an invalid pattern. */
function alternativesOf(source: string): AST.Alternative[] {
  try {
    return parsePattern(source).alternatives
  } catch {
    return []
  }
}

const isLookahead = (element: AST.Element): element is AST.LookaheadAssertion =>
  element.type === 'Assertion' && element.kind === 'lookahead'
