import { parse } from '@babel/parser'
import type { Mutation } from './mutations'

type Node = { type: string; start: number; end: number; [member: string]: unknown }

/** Helpers of drizzle, each with one that says almost the same. */
const SIBLINGS: Record<string, string> = {
  eq: 'ne',
  ne: 'eq',
  gt: 'gte',
  gte: 'gt',
  lt: 'lte',
  lte: 'lt',
  asc: 'desc',
  desc: 'asc',
  isNull: 'isNotNull',
  isNotNull: 'isNull',
  and: 'or',
  or: 'and',
}
/** Operators in SQL, each with one that says almost the same. */
const SQL_OPERATORS: [RegExp, string][] = [
  [/ \+ /g, ' - '],
  [/ - /g, ' + '],
  [/ >= /g, ' > '],
  [/ <= /g, ' < '],
  [/ > /g, ' >= '],
  [/ < /g, ' <= '],
  [/ <> /g, ' = '],
  [/ = /g, ' <> '],
  [/ AND /gi, ' OR '],
  [/ OR /gi, ' AND '],
  [/ IS NULL/gi, ' IS NOT NULL'],
  [/ IS NOT NULL/gi, ' IS NULL'],
]
/** Up to here a number becomes the next one; a larger one is doubled, which a test that counts would see. */
const SMALL = 10

/** What Stryker has no mutator for: numbers, statements that are left out, conditions of queries and SQL text. */
export function storeMutations(file: string, text: string): Mutation[] {
  const found: Mutation[] = []
  const add = (node: { start: number; end: number }, by: string, kind: string) =>
    found.push({ file, start: node.start, end: node.end, by, kind })
  walk(parse(text, { sourceType: 'module', plugins: ['typescript'] }).program as unknown as Node, (node) => {
    if (node.type === 'NumericLiteral') {
      const value = node.value as number
      add(node, String(value <= SMALL ? value + 1 : value * 2), 'Number')
    }
    if (node.type === 'ExpressionStatement' && !isPlainAssignment(node)) add(node, ';', 'StatementLeftOut')
    if (node.type === 'CallExpression') ofCall(node, text, add)
    if (node.type === 'TaggedTemplateExpression' && (node.tag as Node).name === 'sql') ofSql(node, text, add)
  })
  return found
}

type Add = (node: { start: number; end: number }, by: string, kind: string) => void

function ofCall(node: Node, text: string, add: Add): void {
  const [callee, args] = [node.callee as Node, node.arguments as Node[]]
  const sibling = callee.type === 'Identifier' ? SIBLINGS[callee.name as string] : undefined
  // Only where it is imported: a name that is not there would be found by any test.
  if (sibling && new RegExp(`import \\{[^}]*\\b${sibling}\\b[^}]*\\} from 'drizzle-orm'`).test(text)) {
    add(callee, sibling, 'QueryHelper')
  }
  if (callee.name !== 'and' || args.length < 2) return
  for (const [place, left] of args.entries()) {
    const rest = args.filter((_, at) => at !== place).map(({ start, end }) => text.slice(start, end))
    add(node, `and(${rest.join(', ')})`, `ConditionLeftOut ${text.slice(left.start, left.end)}`)
  }
}

function ofSql(node: Node, text: string, add: Add): void {
  for (const { start, end } of (node.quasi as { quasis: Node[] }).quasis) {
    for (const [operator, by] of SQL_OPERATORS) {
      for (const { index, 0: match } of text.slice(start, end).matchAll(operator)) {
        add({ start: start + index, end: start + index + match.length }, by, 'SqlOperator')
      }
    }
  }
}

/** Left out, such a one is mostly a variable without a value, which the types refuse. */
const isPlainAssignment = ({ expression }: Node): boolean =>
  (expression as Node).type === 'AssignmentExpression' && ((expression as Node).right as Node).type === 'Identifier'

function walk(node: Node, visit: (node: Node) => void): void {
  // A type is gone when the code runs.
  if (/^TS(?!NonNull|As|Satisfies)/.test(node.type) || node.type === 'ImportDeclaration') return
  visit(node)
  for (const value of Object.values(node)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && typeof one === 'object' && typeof (one as Node).type === 'string') walk(one as Node, visit)
    }
  }
}
