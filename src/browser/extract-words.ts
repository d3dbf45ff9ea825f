import type { JsonSchema } from '../engines'

export const plain = (text: string): string =>
  text
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
export const words = (text: string): string[] => plain(text).split(' ').filter(Boolean)
const singular = (word: string): string => word.replace(/(?:ies)$/, 'y').replace(/(?<!s)s$/, '')

/** Words that stand for the same in the pages of the world. */
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

export const MONEY = /(?:[$€£¥]\s?\d[\d.,]*|\d[\d.,]{0,40}\s?(?:€|£|USD|EUR|GBP|CHF|kr))/i
const EMAIL = /[\w.+-]{1,64}@[\w-]{1,100}(?:\.[\w-]{1,60}){1,4}/
const DATE =
  /\b(?:\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d{1,2},? \d{4}|\d{1,2} (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d{4})\b/i

/** What a value of this name looks like wherever it stands. */
const LOOKS: Record<string, RegExp> = {
  price: MONEY,
  cost: MONEY,
  amount: MONEY,
  total: MONEY,
  email: EMAIL,
  mail: EMAIL,
  date: DATE,
}

export const isUrl = (key: string): boolean =>
  words(key).some((word) => ['url', 'link', 'href'].includes(singular(word)))
export const isTitle = (key: string): boolean => words(key).some((word) => kin('name').has(singular(word)))

export const looksOf = (key: string): RegExp | null =>
  words(key)
    .map((word) => LOOKS[singular(word)])
    .find(Boolean) ?? null

/** Whether a label or the words of an element mean a member of this name. */
export function names(label: string, key: string): boolean {
  const said = new Set(words(label).map(singular))
  const wanted = words(key)
  return wanted.length > 0 && wanted.every((word) => [...kin(word)].some((alike) => said.has(singular(alike))))
}

export const typeOf = (schema: JsonSchema): string => {
  const type = Array.isArray(schema.type) ? schema.type.find((word) => word !== 'null') : schema.type
  return typeof type === 'string' ? type : schema.properties ? 'object' : schema.items ? 'array' : 'string'
}

/** A text as the schema wants it; null for one that cannot be. */
export function cast(text: string | null, schema: JsonSchema): unknown {
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
