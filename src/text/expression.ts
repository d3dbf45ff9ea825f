import { compileLinear, type LinearPattern } from './patterns/linear'

/** The syntax tree of a condition such as `a.b > 1 && !(c contains "x")` (docs/api.md 10). Never compiled to code. */
export type Expression =
  | { kind: 'literal'; value: string | number | boolean | null }
  | { kind: 'path'; path: Path }
  | { kind: 'not'; of: Expression }
  | { kind: 'join'; op: '&&' | '||'; left: Expression; right: Expression }
  | { kind: 'compare'; op: Comparison; left: Expression; right: Expression }

/** The path of a value: `steps["Summary"].output.text` is `['steps', 'Summary', 'output', 'text']`. */
export type Path = readonly (string | number)[]
export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'contains' | 'matches'

/** Why a text is not an expression, in one sentence with the position. */
export class ExpressionFault extends Error {
  override name = 'ExpressionFault'
}

const MAX_CHARS = 2_000
const MAX_DEPTH = 32
const MAX_PATTERN_CHARS = 512
const MAX_PATTERN_SIZE = 600

/** The permitted first names of a path: the values of a run (docs/api.md 10). */
const ROOTS = ['trigger', 'steps', 'previous', 'run', 'workflow', 'now']
const COMPARISONS = new Set(['==', '!=', '<', '<=', '>', '>=', 'contains', 'matches'])
const CONSTANTS = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
])

const TOKEN =
  /\s*(?:(?<number>-?\d{1,15}(?:\.\d{1,15})?)|(?<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?<word>[\p{ID_Start}$_](?:[\p{ID_Continue}$-]|\u200c|\u200d)*)|(?<sign>&&|\|\||==|!=|<=|>=|\{\{|\}\}|[<>!().[\]]))/uy

type Token = { kind: 'number' | 'text' | 'word' | 'sign' | 'end'; text: string; at: number }

/**
 * Parses an expression: paths, literals, `== != < <= > >=`, `&& || !`, `contains`, `matches` and parentheses.
 * A path may be in double braces, as in a template.
 * @throws ExpressionFault
 */
export function parseExpression(text: string): Expression {
  if (text.length > MAX_CHARS) throw new ExpressionFault(`it is longer than ${MAX_CHARS} characters`)
  const reader = createReader(text)
  const expression = readOr(reader, 0)
  const rest = reader.peek()
  if (rest.kind !== 'end') throw unexpected(rest)
  return expression
}

/** Parses the content of template braces: one path. Throws ExpressionFault. */
export function parsePath(text: string): Path {
  const parsed = parseExpression(text)
  if (parsed.kind !== 'path') throw new ExpressionFault('only a path such as trigger.name may stand in double braces')
  return parsed.path
}

/** Compiles the pattern after `matches`: ECMAScript, case-insensitive, in linear time. Throws ExpressionFault. */
export function compileMatch(pattern: string): LinearPattern {
  try {
    return compileLinear(pattern, { flags: 'i', maxChars: MAX_PATTERN_CHARS, maxSize: MAX_PATTERN_SIZE })
  } catch (error) {
    throw new ExpressionFault(`the pattern after "matches" ${(error as Error).message}`)
  }
}

/** All paths that an expression reads. */
export function pathsOf(expression: Expression): Path[] {
  switch (expression.kind) {
    case 'literal':
      return []
    case 'path':
      return [expression.path]
    case 'not':
      return pathsOf(expression.of)
    default:
      return [...pathsOf(expression.left), ...pathsOf(expression.right)]
  }
}

type Reader = ReturnType<typeof createReader>

/** Tokenizes on demand, so that reading stops at the first error. */
function createReader(text: string) {
  const end = text.trimEnd().length
  let index = 0
  let current = read()

  function read(): Token {
    if (index >= end) return { kind: 'end', text: '', at: end }
    TOKEN.lastIndex = index
    const groups = TOKEN.exec(text)?.groups
    if (!groups) throw new ExpressionFault(`character ${index + 1} starts nothing that is known here`)
    index = TOKEN.lastIndex
    const kind = groups.sign ? 'sign' : groups.word ? 'word' : groups.text ? 'text' : 'number'
    const word = groups[kind]!
    return { kind, text: word, at: index - word.length }
  }

  const next = (): Token => {
    const token = current
    current = read()
    return token
  }
  /** Consumes the current token if it is `wanted`. */
  const takes = (wanted: string): boolean => {
    const isThis = current.text === wanted && current.kind !== 'text' && current.kind !== 'end'
    if (isThis) next()
    return isThis
  }
  const expect = (wanted: string): void => {
    if (!takes(wanted)) throw unexpected(current, wanted)
  }
  return { peek: () => current, next, takes, expect }
}

function unexpected({ kind, text, at }: Token, wanted?: string): ExpressionFault {
  const what = kind === 'end' ? 'it ends too early' : `"${text.slice(0, 40)}" at character ${at + 1} is out of place`
  return new ExpressionFault(wanted ? `${what}; "${wanted}" belongs there` : what)
}

function readOr(reader: Reader, depth: number): Expression {
  let left = readAnd(reader, depth)
  while (reader.takes('||')) left = { kind: 'join', op: '||', left, right: readAnd(reader, depth) }
  return left
}

function readAnd(reader: Reader, depth: number): Expression {
  let left = readComparison(reader, depth)
  while (reader.takes('&&')) left = { kind: 'join', op: '&&', left, right: readComparison(reader, depth) }
  return left
}

function readComparison(reader: Reader, depth: number): Expression {
  const left = readOperand(reader, depth)
  const { kind, text } = reader.peek()
  if (kind === 'text' || !COMPARISONS.has(text)) return left
  reader.next()
  const right = readOperand(reader, depth)
  // A literal pattern is checked at parse time. A computed one is only known at run time.
  if (text === 'matches' && right.kind === 'literal') compileMatch(String(right.value))
  return { kind: 'compare', op: text as Comparison, left, right }
}

function readOperand(reader: Reader, depth: number): Expression {
  if (depth > MAX_DEPTH) throw new ExpressionFault(`it is nested deeper than ${MAX_DEPTH} levels`)
  if (reader.takes('!')) return { kind: 'not', of: readOperand(reader, depth + 1) }
  if (reader.takes('(')) {
    const inner = readOr(reader, depth + 1)
    reader.expect(')')
    return inner
  }
  if (reader.takes('{{')) {
    const path = readPath(reader, reader.next())
    reader.expect('}}')
    return path
  }
  const token = reader.next()
  if (token.kind === 'number') return { kind: 'literal', value: Number(token.text) }
  if (token.kind === 'text') return { kind: 'literal', value: unquoted(token.text) }
  const constant = token.kind === 'word' ? CONSTANTS.get(token.text) : undefined
  return constant === undefined ? readPath(reader, token) : { kind: 'literal', value: constant }
}

function readPath(reader: Reader, root: Token): Expression {
  if (root.kind !== 'word') throw unexpected(root)
  if (!ROOTS.includes(root.text)) {
    const at = `"${root.text.slice(0, 40)}" at character ${root.at + 1}`
    throw new ExpressionFault(`${at} is no value of a run; paths begin with ${ROOTS.join(', ')}`)
  }
  const path: (string | number)[] = [root.text]
  for (;;) {
    if (reader.takes('.')) path.push(memberOf(reader.next()))
    else if (reader.takes('[')) {
      path.push(memberOf(reader.next()))
      reader.expect(']')
    } else return { kind: 'path', path }
  }
}

function memberOf(token: Token): string | number {
  if (token.kind === 'word') return token.text
  if (token.kind === 'text') return unquoted(token.text)
  if (token.kind === 'number' && /^\d+$/.test(token.text)) return Number(token.text)
  throw unexpected(token)
}

const unquoted = (text: string): string => text.slice(1, -1).replace(/\\(.)/gs, '$1')
