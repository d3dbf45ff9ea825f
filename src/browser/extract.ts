import type { JsonSchema } from '../engines'
import type { PageContent, Part } from './in-page'

const plain = (text: string): string =>
  text
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

const words = (text: string): string[] => plain(text).split(' ').filter(Boolean)

const singular = (word: string): string => word.replace(/(?:ies)$/, 'y').replace(/(?<!s)s$/, '')

/** Groups of words that mean the same on web pages. */
const ALIKE: readonly (readonly string[])[] = [
  ['name', 'title', 'heading', 'product', 'label', 'headline'],
  ['price', 'cost', 'amount', 'total'],
  ['url', 'link', 'href', 'address'],
  ['author', 'by', 'writer', 'user'],
  ['date', 'time', 'published', 'posted'],
  ['quantity', 'qty', 'count', 'stock', 'number'],
  ['description', 'summary', 'text', 'body', 'excerpt'],
  ['rating', 'stars', 'score'],
]

const kin = (word: string): ReadonlySet<string> => {
  const root = singular(word)
  return new Set([root, word, ...(ALIKE.find((group) => group.includes(root)) ?? [])])
}

const MONEY = /(?:[$€£¥]\s?\d[\d.,]*|\d[\d.,]{0,40}\s?(?:€|£|USD|EUR|GBP|CHF|kr))/i

const EMAIL = /[\w.+-]{1,64}@[\w-]{1,100}(?:\.[\w-]{1,60}){1,4}/

const DATE =
  /\b(?:\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d{1,2},? \d{4}|\d{1,2} (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d{4})\b/i

/** The look of a value with this name, wherever it appears. */
const LOOKS: Record<string, RegExp> = {
  price: MONEY,
  cost: MONEY,
  amount: MONEY,
  total: MONEY,
  email: EMAIL,
  mail: EMAIL,
  date: DATE,
}

const isUrl = (key: string): boolean => words(key).some((word) => ['url', 'link', 'href'].includes(singular(word)))

const isTitle = (key: string): boolean => words(key).some((word) => kin('name').has(singular(word)))

const looksOf = (key: string): RegExp | null =>
  words(key)
    .map((word) => LOOKS[singular(word)])
    .find(Boolean) ?? null

const typeOf = (schema: JsonSchema): string => {
  const type = Array.isArray(schema.type) ? schema.type.find((word) => word !== 'null') : schema.type
  return typeof type === 'string' ? type : schema.properties ? 'object' : schema.items ? 'array' : 'string'
}

/** The extracted data, and whether the built-in reader is sure that it matches the request. */
export type Extracted = { data: unknown; sure: boolean }

type Named = { name: string; schema: JsonSchema }

/**
 * Fills a JSON Schema from a page's content, by the names of its members: lists from repeated groups and from tables,
 * single values from labels. Without a schema, the instruction names the data: `every price`, `the title`.
 */
export function extract(content: PageContent, instruction: string, schema: JsonSchema | undefined): Extracted {
  if (schema) {
    const data = fill(content, { name: '', schema }, instruction)
    return { data, sure: isFull(data) }
  }
  return extractNamed(content, instruction)
}

function fill(content: PageContent, { name, schema }: Named, instruction: string): unknown {
  const type = typeOf(schema)
  if (type === 'array') return fillList(content, name, (schema.items ?? {}) as JsonSchema, instruction)
  if (type !== 'object') return cast(single(content, name || instruction, schema), schema)
  const members = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>)
  return Object.fromEntries(members.map(([key, of]) => [key, fill(content, { name: key, schema: of }, instruction)]))
}

function fillList(content: PageContent, name: string, items: JsonSchema, instruction: string): unknown[] {
  if (typeOf(items) !== 'object') {
    return valuesOf(content, name || instruction)
      .map((text) => cast(text, items))
      .filter((value) => value !== null)
  }
  const members = Object.entries((items.properties ?? {}) as Record<string, JsonSchema>)
  const tables = content.tables.map((table) => ofTable(table, members))
  const lists = content.lists.map((list) => list.map((parts) => ofParts(parts, members)).filter(isAny))
  const best = [...tables, ...lists]
    .map((rows) => ({ rows, score: fullness(rows) }))
    .sort((a, b) => b.score - a.score)[0]
  return best && best.score > 0 ? best.rows : []
}

type Members = [string, JsonSchema][]
type Item = Record<string, unknown>

function ofTable({ headers, rows }: PageContent['tables'][number], members: Members): Item[] {
  const at = members.map(([key, schema]) => ({
    key,
    schema,
    column: headers.findIndex((header) => names(header, key)),
  }))
  if (at.every(({ column }) => column < 0)) return []
  return rows.map((row) =>
    Object.fromEntries(at.map(({ key, schema, column }) => [key, cast(row[column] ?? null, schema)])),
  )
}

function ofParts(parts: readonly Part[], members: Members): Item {
  const left = [...parts]
  const item: Item = {}
  // Members recognizable by their look come first, so that a name does not take the price.
  const order = [...members].sort(([a], [b]) => Number(looksOf(b) !== null) - Number(looksOf(a) !== null))
  for (const [key, schema] of order) {
    const part = partFor(left, key)
    if (part && part.href === null) left.splice(left.indexOf(part), 1)
    item[key] = part ? cast(isUrl(key) && part.href ? part.href : taken(part.text, key), schema) : null
  }
  return Object.fromEntries(members.map(([key]) => [key, item[key] ?? null]))
}

function partFor(parts: readonly Part[], key: string): Part | undefined {
  if (isUrl(key)) return parts.find(({ href }) => href)
  const looks = looksOf(key)
  return (
    parts.find(({ hints }) => names(hints, key)) ??
    (looks ? parts.find(({ text }) => looks.test(text)) : undefined) ??
    parts.find(
      ({ text }) =>
        new RegExp(`^${plain(key).replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}\\b`, 'i').test(plain(text)) &&
        text.length > key.length + 1,
    ) ??
    (isTitle(key)
      ? (parts.find(({ tag }) => /^H[1-6]$/.test(tag)) ??
        parts.find(({ tag }) => tag === 'A') ??
        parts.find(({ text }) => !MONEY.test(text)))
      : undefined)
  )
}

/** Of `Price: $5` takes only `$5`. */
function taken(text: string, key: string): string {
  const looks = looksOf(key)?.exec(text)
  if (looks) return looks[0]
  const [, label, value] = /^([^:]{1,40}):\s*(\S.*)$/.exec(text) ?? []
  return label && value && names(label, key) ? value : text
}

function single(content: PageContent, name: string, schema: JsonSchema): string | null {
  const key = request(name)
  const exact = content.pairs.find(([label, value]) => value && plain(label) === plain(key))
  if (exact) return taken(exact[1], key)
  const labelled = content.pairs.find(([label, value]) => value && names(label, key))
  if (labelled) return taken(labelled[1], key)
  for (const { rows } of content.tables) {
    const row = rows.find(([label]) => label && names(label, key))
    if (row?.[1]) return row[1]
  }
  const looks = looksOf(key)?.exec(content.text)
  if (looks) return looks[0]
  if (isUrl(key)) return content.url
  if (isTitle(key)) return content.headings[0] ?? content.title
  if (words(key).includes('heading')) return content.headings[0] ?? null
  return typeOf(schema) === 'boolean' ? String(content.text.toLowerCase().includes(plain(key))) : null
}

/** All values for a name: of a table column, of each list item, or wherever a text has the right look. */
function valuesOf(content: PageContent, name: string): string[] {
  const key = request(name)
  for (const { headers, rows } of content.tables) {
    const column = headers.findIndex((header) => names(header, key))
    if (column >= 0) return rows.map((row) => row[column] ?? '').filter(Boolean)
  }
  if (/^links?$|^urls?$/.test(plain(key))) return content.links.map(({ url }) => url)
  if (/^headings?$/.test(plain(key))) return content.headings
  const lists = content.lists.map((list) =>
    list.map((parts) => partFor(parts, key)).filter((part) => part !== undefined),
  )
  const best = lists.sort((a, b) => b.length - a.length)[0] ?? []
  const looks = looksOf(key)
  const shown = looks ? [...content.text.matchAll(new RegExp(looks.source, 'gi'))].map(([text]) => text) : []
  return best.length >= shown.length ? best.map(({ text }) => taken(text, key)) : shown
}

const ASK =
  /^(?:please )?(?:extract|get|list|read|return|find|give me|collect|what (?:is|are)|show)?\s*(?:me )?(?:all|every|each|the)?(?: of)?(?: the)?\s*/i

const MAX_ELEMENT_REQUESTS = 1_000

/** Turns `extract every price on this page` into `price`. */
function request(instruction: string): string {
  return instruction
    .slice(0, MAX_ELEMENT_REQUESTS)
    .replace(ASK, '')
    .replace(/(?<!\s)\s+(?:on|of|from|in|for)\s+(?:this|the|each|every|all)\b.*$/i, '')
    .replace(/(?<![?.!])[?.!]+$/, '')
    .trim()
}

function extractNamed(content: PageContent, instruction: string): Extracted {
  const every = /\b(?:all|every|each|list)\b/i.test(instruction)
  const keys = request(instruction)
    .split(/,\s*(?:and )?|(?<!\s)\s+and\s+(?:the )?/)
    .map((key) => key.trim())
    .filter(Boolean)
  if (every && keys.length > 1) {
    const members: Members = keys.map((key) => [plain(key).replace(/ /g, '_'), { type: 'string' }])
    const items = fillList(content, '', { type: 'object', properties: Object.fromEntries(members) }, instruction)
    return { data: items, sure: items.length > 0 }
  }
  if (every || (keys.length === 1 && /[^s]s$/i.test(keys[0] ?? ''))) {
    const values = valuesOf(content, instruction)
    return { data: values, sure: values.length > 0 }
  }
  const found = Object.fromEntries(keys.map((key) => [plain(key).replace(/ /g, '_'), single(content, key, {})]))
  const sure = Object.values(found).every((value) => value !== null)
  return { data: keys.length === 1 ? (Object.values(found)[0] ?? null) : found, sure: sure && keys.length > 0 }
}

const isAny = (item: Item): boolean => Object.values(item).some((value) => value !== null && value !== '')

/** Score of a group by the number of filled members. The group with most of the requested data wins. */
const fullness = (rows: readonly Item[]): number => {
  const full = rows.map((row) => Object.values(row).filter((value) => value !== null && value !== '').length)
  const max = Math.max(0, ...rows.map((row) => Object.keys(row).length))
  const whole = full.filter((count) => count === max).length
  return whole * 10 + full.reduce((sum, count) => sum + count, 0) / Math.max(1, rows.length)
}

function isFull(data: unknown): boolean {
  if (data === null || data === undefined) return false
  if (Array.isArray(data)) return data.length > 0 && data.every(isFull)
  if (typeof data === 'object') return Object.values(data).every(isFull)
  return data !== ''
}

/** True if a label or the words of an element mean a member of this name. */
function names(label: string, key: string): boolean {
  const labelWords = new Set(words(label).map(singular))
  const wanted = words(key)
  return wanted.length > 0 && wanted.every((word) => [...kin(word)].some((alike) => labelWords.has(singular(alike))))
}

/** Converts a text to the schema's type. Null if that is impossible. */
function cast(text: string | null, schema: JsonSchema): unknown {
  if (text === null) return null
  const type = typeOf(schema)
  if (type === 'boolean') return /^(?:true|yes|in stock|available|on)$/i.test(text.trim())
  if (type !== 'number' && type !== 'integer') return text.trim()
  const [digits] = /-?\d[\d.,\s]*/.exec(text) ?? []
  if (!digits) return null
  const number = Number(
    digits
      .replace(/\s/g, '')
      .replace(/,(?=\d{3}(?:\D|$))/g, '')
      .replace(/,(\d{1,2})$/, '.$1'),
  )
  if (!Number.isFinite(number)) return null
  return type === 'integer' ? Math.round(number) : number
}
