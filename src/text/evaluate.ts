import { type Comparison, compileMatch, type Expression, ExpressionFault, type Path } from './expression'

/** What paths read: the values of a run by their first names (contract 10). */
export type RunValues = Readonly<Record<string, unknown>>

/** The longest text that a pattern is tried on, to bound its time. Of a part of a text it could say the wrong thing. */
const MAX_MATCHED_CHARS = 50_000

/** The value at a path; undefined when it is not there. Only own members are read. */
export function valueAt(values: RunValues, path: Path): unknown {
  let value: unknown = values
  for (const member of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, member)) return undefined
    value = (value as Record<string | number, unknown>)[member]
  }
  return value
}

/**
 * Evaluates an expression (contract 10). It is total: a missing path is null, and values that cannot be compared are
 * not equal, smaller or larger. A number and a text that is one compare as numbers. `contains` and `matches` take any
 * case. Throws ExpressionFault for a computed pattern that is none, and for a text too long for a pattern.
 */
export function evaluate(expression: Expression, values: RunValues): unknown {
  switch (expression.kind) {
    case 'literal':
      return expression.value
    case 'path':
      return valueAt(values, expression.path) ?? null
    case 'not':
      return !isTrue(evaluate(expression.of, values))
    case 'join': {
      const left = isTrue(evaluate(expression.left, values))
      if (left === (expression.op === '||')) return left
      return isTrue(evaluate(expression.right, values))
    }
    case 'compare':
      return compare(expression.op, evaluate(expression.left, values), evaluate(expression.right, values))
  }
}

/** Whether a value counts as true: all but `false`, `null`, `0` and the empty text. */
export const isTrue = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== false && value !== 0 && value !== ''

function compare(op: Comparison, left: unknown, right: unknown): boolean {
  switch (op) {
    case '==':
      return isEqual(left, right)
    case '!=':
      return !isEqual(left, right)
    case 'contains':
      return holds(left, right)
    case 'matches':
      return isMatch(left, right)
    default:
      return isOrdered(op, left, right)
  }
}

function isEqual(left: unknown, right: unknown): boolean {
  const numbers = asNumbers(left, right)
  if (numbers) return numbers[0] === numbers[1]
  return left === right || (isComposite(left) && isComposite(right) && Bun.deepEquals(left, right))
}

function isOrdered(op: '<' | '<=' | '>' | '>=', left: unknown, right: unknown): boolean {
  const [a, b] = asNumbers(left, right) ?? [left, right]
  const isComparable = typeof a === typeof b && (typeof a === 'number' || typeof a === 'string')
  if (!isComparable) return false
  const [x, y] = [a as string, b as string]
  return op === '<' ? x < y : op === '<=' ? x <= y : op === '>' ? x > y : x >= y
}

/** Both as numbers, when one is a number and the other one, or a text that is one. */
function asNumbers(left: unknown, right: unknown): [number, number] | null {
  if (typeof left !== 'number' && typeof right !== 'number') return null
  const [a, b] = [toNumber(left), toNumber(right)]
  return a === null || b === null ? null : [a, b]
}

const toNumber = (value: unknown): number | null => {
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || value.trim() === '') return null
  const number = Number(value)
  return Number.isNaN(number) ? null : number
}

function holds(whole: unknown, part: unknown): boolean {
  if (Array.isArray(whole)) return whole.some((one) => isEqual(one, part))
  if (typeof whole === 'object' && whole !== null) return Object.hasOwn(whole, String(part))
  if (whole === null || part === null) return false
  return String(whole).toLowerCase().includes(String(part).toLowerCase())
}

function isMatch(text: unknown, pattern: unknown): boolean {
  if (text === null || isComposite(text)) return false
  if (typeof pattern !== 'string') throw new ExpressionFault('what stands after "matches" is no text')
  const whole = String(text)
  if (whole.length > MAX_MATCHED_CHARS) {
    const most = MAX_MATCHED_CHARS.toLocaleString('en')
    throw new ExpressionFault(`the text before "matches" has ${whole.length} characters; patterns read at most ${most}`)
  }
  return compileMatch(pattern).test(whole)
}

const isComposite = (value: unknown): boolean => typeof value === 'object' && value !== null
