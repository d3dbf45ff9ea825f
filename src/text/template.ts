import { parsedJson } from '../kernel/json'
import { type Comparison, compileMatch, type Expression, ExpressionFault, type Path, parsePath } from './expression'
import { folded } from './words'

/** The values of a run that paths read, by their first names (docs/api.md 10). */
export type RunValues = Readonly<Record<string, unknown>>

/** Maximum length of a text for a pattern, to bound the time. Matching only a part could give a wrong result. */
const MAX_MATCHED_CHARS = 50_000

/** Whether a value counts as true: all except `false`, `null`, `0` and the empty text. */
export const isTrue = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== false && value !== 0 && value !== ''

const toNumber = (value: unknown): number | null => {
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || value.trim() === '') return null
  const number = Number(value)
  return Number.isNaN(number) ? null : number
}

const isComposite = (value: unknown): boolean => typeof value === 'object' && value !== null

/** A text with placeholders: `Dear {{trigger.name}}!` is `['Dear ', {path}, '!']`. */
type Part = string | { path: Path; text: string }

/** Maximum number of characters that filling one value may produce. */
const MAX_FILLED_CHARS = 1_000_000

/** A template that became too large when filled in. */
export class TooMuchText extends Error {
  override name = 'TooMuchText'
}

/** The paths in a text's placeholders. Unclosed braces are text. Throws ExpressionFault. */
export const placeholdersOf = (text: string): Path[] =>
  partsOf(text).flatMap((part) => (typeof part === 'string' ? [] : [part.path]))

/** All texts in a value, without member names. */
export function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsIn)
}

/**
 * Fills in the placeholders of a value's texts (docs/api.md 10). A placeholder that is the whole text keeps the type of
 * its value. Within a text it is written as text, percent-encoded in the path, query and fragment of a URL and in a form
 * (`isForm`), and escaped in a quoted text of JSON. A missing value is empty, and `missing` is called with its name.
 * Throws TooMuchText, and ExpressionFault for a value that would lead out of the path of a URL.
 */
export function fillIn<Value>(value: Value, values: RunValues, missing: (name: string) => void, isForm = false): Value {
  let remaining = MAX_FILLED_CHARS
  return filled(value) as Value

  function filled(part: unknown): unknown {
    if (typeof part === 'string') return filledText(part)
    if (Array.isArray(part)) return part.map(filled)
    if (typeof part !== 'object' || part === null) return part
    return Object.fromEntries(Object.entries(part).map(([name, member]) => [name, filled(member)]))
  }

  function filledText(text: string): unknown {
    const parts = partsOf(text)
    const [only] = parts
    if (parts.length === 1 && only !== undefined && typeof only !== 'string') {
      const found = lookUp(only)
      if (typeof found !== 'string') take(JSON.stringify(found).length)
      else take(found.length)
      return found
    }
    const isUrl = !isForm && URL_TEXT.test(parts.map((part) => (typeof part === 'string' ? part : '{}')).join(''))
    const isJson = !isUrl && isJsonOf(parts)
    let whole = ''
    let hasLiteral = false
    let isQuoted = false
    for (const part of parts) {
      const isEncoded: boolean = isForm || (isUrl && hasLiteral && HAS_ORIGIN.test(whole))
      const piece: string = typeof part === 'string' ? part : pieceOf(part, isEncoded, isJson && isQuoted)
      if (isUrl && piece !== part && /^\.{1,2}$/.test(piece) && /^[^?#]*[/.]$/.test(whole))
        throw new ExpressionFault(`a value in the path of a URL is "${piece}", which leads elsewhere`)
      if (typeof part === 'string')
        for (const [sign] of part.matchAll(/\\.|"/gs)) if (sign === '"') isQuoted = !isQuoted
      hasLiteral ||= typeof part === 'string'
      take(piece.length)
      whole += piece
    }
    return whole
  }

  function pieceOf(part: Exclude<Part, string>, isEncoded: boolean, isQuoted: boolean): string {
    const text = written(lookUp(part))
    // A text that is too long is rejected before encoding makes it longer.
    if (text.length > remaining) return text
    if (isQuoted) return JSON.stringify(text).slice(1, -1)
    return isEncoded ? encodeURIComponent(text.toWellFormed()) : text
  }

  function lookUp({ path, text }: Exclude<Part, string>): unknown {
    const found = valueAt(values, path)
    if (found !== undefined) return found
    missing(text)
    return ''
  }

  function take(chars: number): void {
    remaining -= chars
    if (remaining < 0) throw new TooMuchText(`filled in, it is longer than ${MAX_FILLED_CHARS} characters`)
  }
}

/** A text that is a URL as a whole. Placeholders at its start are its origin, or everything before a query. */
const URL_TEXT = /^(?:https?:\/\/|(?:\{\})+[/?#])\S*$/i
const HAS_ORIGIN = /^https?:\/\/[^/?#]{1,1000}[/?#]/i

/** Whether a text is an object or a list in JSON, once its placeholders are filled in. */
function isJsonOf(parts: readonly Part[]): boolean {
  if (typeof parts[0] !== 'string' || !/^\s*[[{]/.test(parts[0])) return false
  return typeof parsedJson(parts.map((part) => (typeof part === 'string' ? part : '0')).join('')) === 'object'
}

/** A value as text: texts unchanged, nothing for null, JSON for other values. */
export const written = (value: unknown): string =>
  typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value)

function partsOf(text: string): Part[] {
  const parts: Part[] = []
  let at = 0
  for (let open = text.indexOf('{{'); open >= 0; open = text.indexOf('{{', at)) {
    const close = text.indexOf('}}', open + 2)
    if (close < 0) break
    if (open > at) parts.push(text.slice(at, open))
    const inner = text.slice(open + 2, close)
    parts.push({ path: parsePath(inner), text: inner.trim() })
    at = close + 2
  }
  if (at < text.length) parts.push(text.slice(at))
  return parts
}

/** The value at a path, or undefined. Reads only own members. */
function valueAt(values: RunValues, path: Path): unknown {
  let value: unknown = values
  for (const member of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, member)) return undefined
    value = (value as Record<string | number, unknown>)[member]
  }
  return value
}

/**
 * Evaluates an expression (docs/api.md 10). Total: a missing path is null, and incomparable values are neither equal,
 * smaller nor larger. A number and a numeric text compare as numbers. `contains` and `matches` ignore case. Throws
 * ExpressionFault for an invalid computed pattern, and for a text too long for a pattern.
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

function compare(op: Comparison, left: unknown, right: unknown): boolean {
  switch (op) {
    case '==':
      return isEqual(left, right)
    case '!=':
      return !isEqual(left, right)
    case 'contains':
      if (Array.isArray(left)) return left.some((one) => isEqual(one, right))
      if (typeof left === 'object' && left !== null) return Object.hasOwn(left, String(right))
      if (left === null || right === null) return false
      return folded(String(left)).includes(folded(String(right)))
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

/** Both values as numbers, if one is a number and the other is a number or a numeric text. */
function asNumbers(left: unknown, right: unknown): [number, number] | null {
  if (typeof left !== 'number' && typeof right !== 'number') return null
  const [a, b] = [toNumber(left), toNumber(right)]
  return a === null || b === null ? null : [a, b]
}

function isMatch(text: unknown, pattern: unknown): boolean {
  if (text === null || isComposite(text)) return false
  if (typeof pattern !== 'string') throw new ExpressionFault('what stands after "matches" is no text')
  const whole = String(text)
  if (whole.length > MAX_MATCHED_CHARS) {
    const max = MAX_MATCHED_CHARS.toLocaleString('en')
    throw new ExpressionFault(`the text before "matches" has ${whole.length} characters; patterns read at most ${max}`)
  }
  return compileMatch(pattern).test(whole)
}
