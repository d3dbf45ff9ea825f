/**
 * Evaluates arithmetic without `eval`: numbers, + - * / ^ % ! ( ), some functions and constants, by recursive descent.
 * Null for text that is not one whole expression, and for results that are not finite numbers.
 */
export function evaluate(text: string): number | null {
  const tokens = tokenize(text)
  if (!tokens || tokens.length === 0 || tokens.length > MAX_TOKENS) return null
  const reader: Reader = { tokens, at: 0, depth: 0 }
  const value = sum(reader)
  return value !== null && reader.at === tokens.length && Number.isFinite(value) ? value : null
}

const MAX_TOKENS = 500
const MAX_DEPTH = 60

type Reader = { tokens: string[]; at: number; depth: number }

const FUNCTIONS = new Map<string, (value: number) => number>([
  ['sqrt', Math.sqrt],
  ['cbrt', Math.cbrt],
  ['abs', Math.abs],
  ['round', Math.round],
  ['floor', Math.floor],
  ['ceil', Math.ceil],
  ['ln', Math.log],
  ['log', Math.log10],
  ['exp', Math.exp],
  ['sin', Math.sin],
  ['cos', Math.cos],
  ['tan', Math.tan],
])
const CONSTANTS = new Map([
  ['pi', Math.PI],
  ['e', Math.E],
])

function tokenize(text: string): string[] | null {
  const normal = text
    .replace(/[²³]/g, (power) => `^${power === '²' ? 2 : 3}`)
    // Full-width signs, and digits of other scripts.
    .normalize('NFKC')
    // The ten digits of a script begin at a code that ends in 0 or 6.
    .replace(/[^\P{Nd}\d]/gu, (digit) => {
      const code = digit.codePointAt(0)!
      return String((code % 16) - (/\p{Nd}/u.test(String.fromCodePoint(code - (code % 16))) ? 0 : 6))
    })
    .toLowerCase()
    .replace(/√/g, 'sqrt')
    // As others group thousands: 1'234 and 1 234.
    .replace(/(?<=\d)['’\s](?=\d{3}(?!\d))/g, '')
    // As most of Europe writes it: 1.234,56 and 12,5.
    .replace(
      /(?<![\d.,])(\d{1,3}(?:\.\d{3}){0,6}|\d{1,18}),(\d{1,2})(?![\d.,])/g,
      (_, whole: string, rest: string) => `${whole.replaceAll('.', '')}.${rest}`,
    )
    .replace(/[×·]/g, '*')
    .replace(/÷/g, '/')
    .replace(/[−–]/g, '-')
    .replace(/\*\*/g, '^')
    .replace(/π/g, 'pi')
  const tokens = normal.match(/\d+(?:,\d{3})+(?:\.\d+)?|\d*\.?\d+(?:e[+-]?\d+)?|[a-z]+|[-+*/^%()!]|\S/g) ?? []
  const known = (token: string) =>
    /^(?:[\d.,]+(?:e[+-]?\d+)?|[-+*/^%()!])$/.test(token) || FUNCTIONS.has(token) || CONSTANTS.has(token)
  return tokens.every(known) ? tokens : null
}

const peek = (reader: Reader): string | undefined => reader.tokens[reader.at]

function take(reader: Reader, ...wanted: string[]): string | null {
  const token = peek(reader)
  if (token === undefined || !wanted.includes(token)) return null
  reader.at += 1
  return token
}

function sum(reader: Reader): number | null {
  let left = product(reader)
  for (let sign = take(reader, '+', '-'); sign && left !== null; sign = take(reader, '+', '-')) {
    const right = product(reader)
    left = right === null ? null : sign === '+' ? left + right : left - right
  }
  return left
}

function product(reader: Reader): number | null {
  let left = signed(reader)
  for (let sign = take(reader, '*', '/', '%'); sign && left !== null; sign = take(reader, '*', '/', '%')) {
    const right = signed(reader)
    left = right === null ? null : sign === '*' ? left * right : sign === '/' ? left / right : left % right
  }
  return left
}

function signed(reader: Reader): number | null {
  const sign = take(reader, '-', '+')
  if (!sign) return power(reader)
  const value = deeper(reader, signed)
  return value === null ? null : sign === '-' ? -value : value
}

/** `^` is right-associative and binds tighter than a sign on its left: 2^3^2 is 512, -2^2 is -4. */
function power(reader: Reader): number | null {
  let value = atom(reader)
  while (value !== null && take(reader, '!')) value = factorialOf(value)
  const base = value
  if (base === null || !take(reader, '^')) return base
  const exponent = deeper(reader, signed)
  return exponent === null ? null : base ** exponent
}

function factorialOf(value: number): number | null {
  if (!Number.isInteger(value) || value < 0 || value > 170) return null
  let result = 1
  for (let factor = 2; factor <= value; factor++) result *= factor
  return result
}

function atom(reader: Reader): number | null {
  const token = peek(reader)
  if (token === undefined) return null
  reader.at += 1
  if (token === '(') {
    const inner = deeper(reader, sum)
    return take(reader, ')') ? inner : null
  }
  const apply = FUNCTIONS.get(token)
  if (apply) {
    const argument = deeper(reader, atom)
    return argument === null ? null : apply(argument)
  }
  const value = CONSTANTS.get(token) ?? Number(token.replaceAll(',', ''))
  return Number.isNaN(value) ? null : value
}

function deeper(reader: Reader, rule: (reader: Reader) => number | null): number | null {
  if (reader.depth >= MAX_DEPTH) return null
  reader.depth += 1
  const value = rule(reader)
  reader.depth -= 1
  return value
}

/** Sums, products, powers and factorials of whole numbers that a double cannot hold. Null for any other text. */
export function exactOf(expression: string): string | null {
  const [, base, exponent] = /^\s*(\d{1,9})\s*\^\s*(\d{1,3})\s*$/.exec(expression) ?? []
  if (base) return String(BigInt(base) ** BigInt(exponent!))
  const factors = /^\s*(\d{1,3})\s*!\s*$/.exec(expression)?.[1]
  if (factors)
    return String(
      Array.from({ length: Number(factors) }, (_, at) => BigInt(at + 1)).reduce((all, one) => all * one, 1n),
    )
  if (!/^\s*\d{1,99}(?:\s*[-+*]\s*\d{1,99}){1,20}\s*$/.test(expression)) return null
  const terms = expression.replace(/\s/g, '').match(/[-+]?[\d*]+/g) ?? []
  return String(terms.reduce((sum, term) => sum + term.split('*').reduce((all, one) => all * BigInt(one), 1n), 0n))
}
