import type { EngineTool, JsonSchema } from '../../engines'
import { propertiesOf, resolve, typeOf } from '../schema-fill'
import type { Clause } from './clause'
import { placesFor, restOf } from './phrases'
import {
  type Claims,
  type Found,
  findBoolean,
  findEnum,
  findNumber,
  findString,
  mustBeMarked,
  nextNumber,
} from './values'
import { tellingWords, wordsOfName } from './vocabulary'

export type Filled = {
  args: Record<string, unknown>
  /** Required properties that the request does not state. */
  missing: string[]
  /** How many properties were found by form, name or place, without those filled with the rest of the request. */
  told: number
  /** A property with several values; each of them becomes a call of its own. */
  spread: { name: string; values: string[] } | null
}

const MAX_PROPERTIES = 40
const MAX_DEPTH = 4

/**
 * Fills a tool's schema from the request, never with a guess. `found` is the result of an earlier step; it is used
 * in place of the words that remain of the request.
 */
export function fillArguments(tool: EngineTool, clause: Clause, found?: string): Filled {
  const root = tool.parameters
  const claims: Claims = { taken: [] }
  const filled = fillObject(root, root, clause, claims, 0)
  const left = leftOver(root, filled)
  if (left) {
    const said = [...wordsOfName(tool.name), ...tellingWords(wordsOfName(tool.name)), ...wordsOfName(left)]
    const property = resolve(properties(root)[left]!, root)
    const rest = found?.slice(0, mostOf(property)) ?? restOf(clause, said, claims.taken)
    if (rest && fitsLength(rest, property)) {
      filled.args[left] = rest
      filled.missing = filled.missing.filter((name) => name !== left)
    }
  }
  return filled
}

function fillObject(schema: JsonSchema, root: JsonSchema, clause: Clause, claims: Claims, depth: number): Filled {
  const filled: Filled = { args: {}, missing: [], told: 0, spread: null }
  const all = propertiesOf(schema).slice(0, MAX_PROPERTIES)
  const needed = new Set((schema.required ?? []) as string[])
  const put = (name: string, found: Found | null): void => {
    if (!found) return
    filled.args[name] = found.value
    filled.told += 1
    if (found.from) claims.taken.push(found.from)
  }
  for (const [name, given] of all) {
    const property = resolve(given, root)
    const values =
      typeOf(property) === 'string' && !property.enum ? placesFor(wordsOfName(name).at(-1) ?? '', clause) : []
    if (values.length > 1 && !filled.spread) filled.spread = { name, values }
    put(name, find(name, property, root, clause, claims, depth))
  }
  for (const [name, given] of all) {
    if (name in filled.args || !needed.has(name)) continue
    const property = resolve(given, root)
    const type = typeOf(property)
    if (type === 'number' || type === 'integer') put(name, nextNumber(property, clause, claims))
    if (!(name in filled.args)) filled.missing.push(name)
  }
  return filled
}

function find(
  name: string,
  schema: JsonSchema,
  root: JsonSchema,
  clause: Clause,
  claims: Claims,
  depth: number,
): Found | null {
  if ('const' in schema) return { value: schema.const, from: '' }
  if (Array.isArray(schema.enum)) return findEnum(schema.enum, clause)
  switch (typeOf(schema)) {
    case 'string': {
      const found = findString(name, schema, clause, claims)
      return found && fitsLength(String(found.value), schema) ? found : null
    }
    case 'integer':
    case 'number':
      return findNumber(name, schema, clause)
    case 'boolean':
      return findBoolean(name, clause)
    case 'array':
      return findList(name, resolve((schema.items ?? {}) as JsonSchema, root), clause, claims)
    case 'object': {
      if (depth >= MAX_DEPTH) return null
      const inner = fillObject(schema, root, clause, claims, depth + 1)
      return inner.told && !inner.missing.length ? { value: inner.args, from: '' } : null
    }
    default:
      return null
  }
}

const MAX_LISTED = 50

/** All values of the items' form, all quotations, or the items after a colon: `add to the list: milk and eggs`. */
function findList(name: string, items: JsonSchema, clause: Clause, claims: Claims): Found | null {
  const type = typeOf(items)
  if (type === 'number' || type === 'integer') {
    const values = clause.entities('numbers').map((word) => Number(word.replaceAll(',', '')))
    return values.length ? { value: values.slice(0, MAX_LISTED), from: '' } : null
  }
  if (type !== 'string') return null
  const values: unknown[] = []
  const inner: Claims = { taken: [...claims.taken] }
  for (let found = findString(name, items, clause, inner); found && mustBeMarked(name, items); ) {
    values.push(found.value)
    inner.taken.push(found.from)
    found = values.length < MAX_LISTED ? findString(name, items, clause, inner) : null
  }
  const listed = behindColon(clause.text)?.replace(/[.!?]$/, '')
  const all = values.length
    ? values
    : clause.quoted.length
      ? [...clause.quoted]
      : (listed?.split(/,?(?<!\s)\s+and\s+|,\s*/) ?? [])
  return all.length ? { value: all.slice(0, MAX_LISTED), from: '' } : null
}

/** What stands behind the first colon of the last line, or on that line when the one before ends in a colon. */
function behindColon(text: string): string | undefined {
  const start = text.lastIndexOf('\n') + 1
  const line = text.slice(start)
  if (line.trim() && text.slice(0, start).trimEnd().endsWith(':')) return line.trimStart()
  return /:\s+(\S.*)/s.exec(line)?.[1]
}

const MAX_HANDED_ON = 2_000

const mostOf = ({ maxLength }: JsonSchema): number => (typeof maxLength === 'number' ? maxLength : MAX_HANDED_ON)

const properties = (schema: JsonSchema) => (schema.properties ?? {}) as Record<string, JsonSchema>

/** The string property that may take the rest of the request: the only one missing, or the only one there is. */
function leftOver(schema: JsonSchema, { args, missing }: Filled): string | null {
  const isText = (name: string): boolean => {
    const property = resolve(properties(schema)[name] ?? {}, schema)
    return typeOf(property) === 'string' && !property.enum && !mustBeMarked(name, property)
  }
  if (missing.length > 0) return missing.length === 1 && isText(missing[0]!) ? missing[0]! : null
  if (Array.isArray(schema.required) && schema.required.length) return null
  const texts = Object.keys(properties(schema)).filter(isText)
  return texts.length === 1 && !(texts[0]! in args) ? texts[0]! : null
}

const fitsLength = (text: string, { minLength, maxLength }: JsonSchema): boolean =>
  !(typeof minLength === 'number' && text.length < minLength) &&
  !(typeof maxLength === 'number' && text.length > maxLength)
