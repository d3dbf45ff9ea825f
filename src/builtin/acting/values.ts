import type { JsonSchema } from '../../engines'
import { utcDay } from '../../kernel/clock'
import { readDate } from '../dates'
import { factFor } from '../labels'
import { kindOf } from '../schema-fill'
import { readNumber } from '../words'
import type { Clause } from './clause'
import { codeIn, idFor, nameBehind, phraseFor } from './phrases'
import { wordsOfName } from './vocabulary'

/** A value, and the words of the request that it was read from. */
export type Found = { value: unknown; from: string }

/** Words already used for a value, so that no two properties are filled from the same words. */
export type Claims = { taken: string[] }

const next = (words: readonly string[], { taken }: Claims): string | undefined =>
  words.find((word) => !taken.includes(word))

/** A string found by the property's name or format, a label or a quotation; null leaves it to the rest of the text. */
export function findString(name: string, schema: JsonSchema, clause: Clause, claims: Claims): Found | null {
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

/** Properties that take the whole question. */
const ASKS = /^(?:question|query|prompt|input)$/

/** Properties that take only a value of their form, such as code or a URL, and never the rest of a sentence. */
export const mustBeMarked = (name: string, schema: JsonSchema): boolean =>
  kindOf(name, schema) !== null || isCode(wordsOfName(name).at(-1) ?? '')

const isCode = (last: string): boolean => /^(?:code|script|program|source|sql)$/.test(last)

const asFound = (text: string | null | undefined): Found | null => (text ? { value: text, from: text } : null)

const NEAR = /\b(?:today|tomorrow|yesterday)\b/i

/** A day as `2026-03-05`, with a time where the schema wants one. */
function findDate({ format }: JsonSchema, { text, now, entities }: Clause): Found | null {
  const said = entities('dates')[0] ?? NEAR.exec(text)?.[0]
  const exact = /\b\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:\d{2})/.exec(text)?.[0]
  if (exact && format !== 'date') return { value: exact, from: exact }
  const at = readDate(said, now)
  if (said === undefined || at === null) return null
  return { value: format === 'date-time' ? `${utcDay(at)}T00:00:00Z` : utcDay(at), from: said }
}

const COUNTS = /^(?:count|limit|max|top|n|k|size|results)$/

/** A number with the label of the property or beside its name, such as `limit 5` or `top 5`. */
export function findNumber(name: string, schema: JsonSchema, clause: Clause): Found | null {
  const words = wordsOfName(name)
  const byName = new RegExp(
    `\\b${words.join('\\s+')}s?\\s*(?:of|is|=|:|to)?\\s*(-?[\\d.,]*\\d)|(-?[\\d.,]*\\d)\\s+${words.join('\\s+')}`,
    'i',
  ).exec(clause.text)
  const counted = words.some((word) => COUNTS.test(word))
    ? /\b(?:top|first|last)\s+(\d+)/i.exec(clause.text)?.[1]
    : undefined
  const said = factFor(name, clause.facts) ?? byName?.[1] ?? byName?.[2] ?? counted
  return said === undefined ? null : numberFrom(said, schema)
}

/** The next number that no property has used, in digits or in words. */
export function nextNumber(schema: JsonSchema, { entities, text }: Clause, claims: Claims): Found | null {
  const spelled = text.match(/[\p{L}-]+/gu)?.filter((word) => readNumber(word) !== null) ?? []
  const said = next(entities('numbers'), claims) ?? next(spelled, claims)
  return said === undefined ? null : numberFrom(said, schema)
}

function numberFrom(said: string, { type, minimum, maximum }: JsonSchema): Found | null {
  const value = readNumber(/-?\d[\d,]*(?:\.\d+)?/.exec(said)?.[0] ?? said)
  if (value === null || (type === 'integer' && !Number.isInteger(value))) return null
  const fits = !(typeof minimum === 'number' && value < minimum) && !(typeof maximum === 'number' && value > maximum)
  return fits ? { value, from: said } : null
}

/** `with details`, `without details`, `details: yes`. */
export function findBoolean(name: string, { facts, text, words }: Clause): Found | null {
  const stated = factFor(name, facts)
  if (stated !== undefined) return { value: /^(?:yes|true|on|1)\b/i.test(stated), from: stated }
  const own = wordsOfName(name).filter((word) => !/^(?:is|has|include|with|enable|use|should)$/.test(word))
  if (own.length === 0 || !own.every((word) => words.has(word))) return null
  const denied = new RegExp(`\\b(?:no|not|without|never|don'?t)\\b[^.,;]{0,30}\\b${own[0]}`, 'i').test(text)
  return { value: !denied, from: '' }
}

/** The first value of the enum that occurs in the text. */
export function findEnum(values: readonly unknown[], { text }: Clause): Found | null {
  const said = text.toLowerCase()
  const value = values.find((one) => {
    const word = String(one).toLowerCase().replaceAll('_', ' ')
    return new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(word)}(?![\\p{L}\\p{N}])`, 'u').test(said)
  })
  return value === undefined ? null : { value, from: String(value) }
}
