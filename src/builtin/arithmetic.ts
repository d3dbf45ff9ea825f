import { evaluate } from './expression'
import type { Skill } from './question'
import { readNumber, showNumber } from './words'

const ASKING =
  /^(?:please\s+)?(?:(?:what(?:'s| is| are| does)|how much is|calculate|compute|evaluate|work out|solve|find|tell me)\s+)?(?:the\s+(?:value|result|answer)\s+(?:of|to)\s+)?/i

/** Phrases and the operators they stand for, applied in order to lower-case text. */
const PHRASES: [RegExp, string][] = [
  [/(?<![\d.,])([\d.,]+)\s*(?:%|percent)\s+of\s+/g, '$1/100*'],
  [/\b(?:the\s+)?square root of\s+/g, 'sqrt '],
  [/\b(?:the\s+)?cube root of\s+/g, 'cbrt '],
  [/\bhalf of\s+/g, '0.5*'],
  [/\b(?:to the power of|raised to the power of|raised to)\b/g, '^'],
  [/(?:(?<!\s)\s+)?\bfactorial\b/g, '!'],
  [/\bsquared\b/g, '^2'],
  [/\bcubed\b/g, '^3'],
  [/\bplus\b|\band\b(?=\s+\d)/g, '+'],
  [/\bminus\b/g, '-'],
  [/\b(?:times|multiplied by)\b|(?<=\d)\s*x\s*(?=\d)/g, '*'],
  [/\b(?:divided by|over)\b/g, '/'],
  [/\bmod(?:ulo)?\b/g, '%'],
]

/** `What is 12 * 7 + 3?`, `15% of 80`, `three plus four`, `the average of 2, 4 and 9`. */
export const arithmetic: Skill = ({ prompt }) => {
  const asked = withoutEnd(prompt.replace(ASKING, ''))
  if (asked.length === 0) return null
  const listed = overList(asked)
  if (listed) return listed

  const expression = inSigns(asked)
  // A number alone is not a calculation, and neither is a date such as 2026-01-02.
  if (/^[\d.,\s]*$/.test(expression) || /^\d{4}-\d{2}-\d{2}$/.test(expression.trim())) return null
  const value = evaluate(expression)
  return value === null ? null : `${asked.trim()} = ${showNumber(value)}`
}

/** Without ` = ?`, `?` or `.` at the end. */
const withoutEnd = (asked: string): string =>
  asked
    .trimEnd()
    .replace(/\??\.?$/, '')
    .trimEnd()
    .replace(/=$/, '')
    .trimEnd()

function inSigns(asked: string): string {
  const digits = asked.toLowerCase().replace(/\b[a-z]+(?:-[a-z]+)?\b/g, (word) => String(readNumber(word) ?? word))
  return PHRASES.reduce((text, [phrase, signs]) => text.replace(phrase, signs), digits)
}

const LISTS = new Map<string, (values: number[]) => number>([
  ['sum', (values) => values.reduce((total, value) => total + value, 0)],
  ['total', (values) => values.reduce((total, value) => total + value, 0)],
  ['product', (values) => values.reduce((total, value) => total * value, 1)],
  ['average', (values) => values.reduce((total, value) => total + value, 0) / values.length],
  ['mean', (values) => values.reduce((total, value) => total + value, 0) / values.length],
  ['median', median],
  ['maximum', (values) => Math.max(...values)],
  ['minimum', (values) => Math.min(...values)],
])

function overList(asked: string): string | null {
  const found = /^(?:the\s+)?(sum|total|product|average|mean|median|maximum|minimum)\s+of\s+(\S.*)$/i.exec(asked)
  if (!found) return null
  const values = found[2]!
    .split(/\s*(?:,\s*and|,|;|\band\b|\s)\s*/)
    .filter(Boolean)
    .map(readNumber)
  if (values.length < 2 || values.some((value) => value === null)) return null
  const name = found[1]!.toLowerCase()
  return `The ${name} of ${found[2]!.trim()} is ${showNumber(LISTS.get(name)!(values as number[]))}.`
}

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
