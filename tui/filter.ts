/** The filter language of lists. The dashboard and `--filter` share it (docs/operating.md 3.4). */
import { nearest } from '../src/kernel/nearest'

/** The values of a row that a filter can test, by field name. */
export type Fields<Row> = Readonly<Record<string, (row: Row) => string | number | null | undefined>>

type Test = { field: string | null; negated: boolean; holds(value: string | number | null | undefined): boolean }
export type Filter<Row> = {
  /** Field names in the filter that do not exist. */
  wrong: { field: string; meant: string | null }[]
  matches(row: Row): boolean
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const MAX_CHARS = 200

/** Parses a filter: words for any column, `field:value`, `a,b`, `>=400`, `*glob*`, `!` to negate, and quotes. */
export function readFilter<Row>(text: string, fields: Fields<Row>): Filter<Row> {
  const tests = wordsOf(text.slice(0, MAX_CHARS)).map(readTest)
  const unknown = tests.flatMap(({ field }) => (field !== null && !fields[field] ? [field] : []))
  const names = Object.keys(fields)
  return {
    wrong: unknown.map((field) => ({ field, meant: nearest(field, names) })),
    matches: (row) =>
      tests.every(({ field, negated, holds }) => {
        const read = field === null ? null : fields[field]
        if (field !== null && !read) return true
        const found = read ? holds(read(row)) : names.some((name) => holds(fields[name]!(row)))
        return found !== negated
      }),
  }
}

/** Why a text is not a valid filter: an unclosed quote or parenthesis. Null for a valid filter. */
export function brokenFilter(text: string): string | null {
  const open: { char: string; at: number }[] = []
  for (const [at, char] of [...text].entries()) {
    const last = open.at(-1)
    if (char === '"') last?.char === '"' ? open.pop() : open.push({ char, at })
    else if (last?.char === '"') continue
    else if (char === '(') open.push({ char, at })
    else if (char === ')' && !open.pop()) return `the ")" at position ${at + 1} has no matching "("`
  }
  const left = open.at(-1)
  return left ? `the ${left.char === '"' ? 'quote' : '"("'} at position ${left.at + 1} is not closed` : null
}

/** Splits at blanks outside quotes. An unclosed quote extends to the end. */
function wordsOf(text: string): string[] {
  const words: string[] = []
  let word = ''
  let quoted = false
  for (const char of text) {
    if (char === '"') quoted = !quoted
    else if (char === ' ' && !quoted) {
      if (word) words.push(word)
      word = ''
    } else word += char
  }
  return word ? [...words, word] : words
}

function readTest(word: string): Test {
  const negated = word.startsWith('!')
  const bare = negated ? word.slice(1) : word
  const colon = bare.indexOf(':')
  const isField = colon > 0 && /^[a-zA-Z_.]+$/.test(bare.slice(0, colon))
  const field = isField ? bare.slice(0, colon) : null
  const wanted = isField ? bare.slice(colon + 1) : bare
  const tests = (isField ? wanted.split(',') : [wanted]).map((one) => matcherOf(one, isField))
  return { field, negated, holds: (value) => tests.some((test) => test(value)) }
}

function matcherOf(wanted: string, exact: boolean): Test['holds'] {
  const [, sign, amount] = /^(>=|<=|>|<)(.+)$/.exec(wanted) ?? []
  if (exact && sign && amount) return compared(sign, amountOf(amount))
  const lower = wanted.toLowerCase()
  if (lower.includes('*')) {
    const parts = lower.split('*')
    return (value) => value !== null && value !== undefined && globbed(String(value).toLowerCase(), parts)
  }
  return (value) => {
    if (value === null || value === undefined) return false
    const text = String(value).toLowerCase()
    return exact && typeof value === 'number' ? text === lower : text.includes(lower)
  }
}

function compared(sign: string, limit: number): Test['holds'] {
  return (value) => {
    const number = typeof value === 'number' ? value : Number.NaN
    if (Number.isNaN(number) || Number.isNaN(limit)) return false
    if (sign === '>=') return number >= limit
    if (sign === '<=') return number <= limit
    return sign === '>' ? number > limit : number < limit
  }
}

/** Parses `400` or `5m`. Durations are in milliseconds. */
function amountOf(word: string): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(word) ?? []
  return amount === undefined ? Number.NaN : Number(amount) * (unit ? UNITS[unit]! : 1)
}

/** Matches the parts in order, the first at the start, the last at the end. Linear: others write the rows. */
function globbed(text: string, parts: readonly string[]): boolean {
  const [first, last] = [parts[0]!, parts.at(-1)!]
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false
  let at = first.length
  const end = text.length - last.length
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at)
    if (found < 0 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}
