import { utcDay } from '../../kernel/clock'
import type { EngineTool, JsonSchema } from '../engine'
import {
  type Clause,
  codeIn,
  idFor,
  nameBehind,
  phraseFor,
  placesFor,
  restOf,
  tellingWords,
  wordsOfName,
} from './acting-phrases'
import { readDate } from './dates'
import { isWithin, kindOf, propertiesOf, resolve, typeOf } from './schema-fill'
import { factFor, readNumber } from './words'

/** A value, and the words of the request that it was read from. */
type Found = { value: unknown; from: string }

/** Words already used for a value, so that no two properties are filled from the same words. */
type Claims = { taken: string[] }

const next = (words: readonly string[], { taken }: Claims): string | undefined =>
  words.find((word) => !taken.includes(word))

/** Properties that take the whole question. */
const ASKS = /^(?:question|query|prompt|input)$/

/** Properties that take only a value of their form, such as code or a URL, and never the rest of a sentence. */
const mustBeMarked = (name: string, schema: JsonSchema): boolean =>
  kindOf(name, schema) !== null || isCode(wordsOfName(name).at(-1) ?? '')

const isCode = (last: string): boolean => /^(?:code|script|program|source|sql)$/.test(last)

const asFound = (text: string | null | undefined): Found | null => (text ? { value: text, from: text } : null)

const NEAR = /\b(?:today|tomorrow|yesterday)\b/i

const COUNTS = /^(?:count|limit|max|top|n|k|size|results)$/

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
    const nameWords = [...wordsOfName(tool.name), ...tellingWords(wordsOfName(tool.name)), ...wordsOfName(left)]
    const property = resolve(properties(root)[left]!, root)
    const rest =
      found?.slice(0, typeof property.maxLength === 'number' ? property.maxLength : MAX_HANDED_ON) ??
      restOf(clause, nameWords, claims.taken)
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
    if (type === 'number' || type === 'integer') {
      // The next number that no property has used, in digits or in words.
      const spelled = clause.text.match(/[\p{L}-]+/gu)?.filter((word) => readNumber(word) !== null) ?? []
      const number = next(clause.entities('numbers'), claims) ?? next(spelled, claims)
      put(name, number === undefined ? null : numberFrom(number, property))
    }
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

/** A string found by the property's name or format, a label or a quotation; null leaves it to the rest of the text. */
function findString(name: string, schema: JsonSchema, clause: Clause, claims: Claims): Found | null {
  const words = wordsOfName(name)
  const last = words.at(-1) ?? ''
  if (isCode(last)) return asFound(codeIn(clause.text))
  const stated = factFor(name, clause.facts)
  if (stated !== undefined) return { value: stated, from: stated }
  const kind = kindOf(name, schema)
  if (kind === 'dates') return findDate(schema, clause)
  if (kind) return asFound(next(clause.entities(kind), claims))
  const found =
    next(clause.quoted, claims) ?? idFor(words, clause) ?? nameBehind(words, clause) ?? phraseFor(last, clause)
  return asFound(found ?? (ASKS.test(last) && clause.isQuestion ? clause.text : null))
}

/** A day as `2026-03-05`, with a time where the schema wants one. */
function findDate({ format }: JsonSchema, { text, now, entities }: Clause): Found | null {
  const date = entities('dates')[0] ?? NEAR.exec(text)?.[0]
  const exact = /\b\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:\d{2})/.exec(text)?.[0]
  if (exact && format !== 'date') return { value: exact, from: exact }
  const at = readDate(date, now)
  if (date === undefined || at === null) return null
  return { value: format === 'date-time' ? `${utcDay(at)}T00:00:00Z` : utcDay(at), from: date }
}

/** A number with the label of the property or beside its name, such as `limit 5` or `top 5`. */
function findNumber(name: string, schema: JsonSchema, clause: Clause): Found | null {
  const words = wordsOfName(name)
  const byName = new RegExp(
    `\\b${words.join('\\s+')}s?\\s*(?:of|is|=|:|to)?\\s*(-?[\\d.,]*\\d)|(-?[\\d.,]*\\d)\\s+${words.join('\\s+')}`,
    'i',
  ).exec(clause.text)
  const counted = words.some((word) => COUNTS.test(word))
    ? /\b(?:top|first|last)\s+(\d+)/i.exec(clause.text)?.[1]
    : undefined
  const text = factFor(name, clause.facts) ?? byName?.[1] ?? byName?.[2] ?? counted
  return text === undefined ? null : numberFrom(text, schema)
}

function numberFrom(text: string, schema: JsonSchema): Found | null {
  const value = readNumber(/-?\d[\d,]*(?:\.\d+)?/.exec(text)?.[0] ?? text)
  if (value === null || (schema.type === 'integer' && !Number.isInteger(value))) return null
  return isWithin(value, schema) ? { value, from: text } : null
}

/** `with details`, `without details`, `details: yes`. */
function findBoolean(name: string, { facts, text, words }: Clause): Found | null {
  const stated = factFor(name, facts)
  if (stated !== undefined) return { value: /^(?:yes|true|on|1)\b/i.test(stated), from: stated }
  const own = wordsOfName(name).filter((word) => !/^(?:is|has|include|with|enable|use|should)$/.test(word))
  if (own.length === 0 || !own.every((word) => words.has(word))) return null
  const denied = new RegExp(`\\b(?:no|not|without|never|don'?t)\\b[^.,;]{0,30}\\b${own[0]}`, 'i').test(text)
  return { value: !denied, from: '' }
}

/** The first value of the enum that occurs in the text. */
function findEnum(values: readonly unknown[], { text }: Clause): Found | null {
  const lowercase = text.toLowerCase()
  const value = values.find((one) => {
    const word = String(one).toLowerCase().replaceAll('_', ' ')
    return new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(word)}(?![\\p{L}\\p{N}])`, 'u').test(lowercase)
  })
  return value === undefined ? null : { value, from: String(value) }
}
