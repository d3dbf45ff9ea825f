import { utcDay } from '../../kernel/clock'
import { isStopWord, sentencesOf } from '../../text'
import type { JsonSchema } from '../engine'
import { isVerb, phraseFor, wordsOfName } from './acting-phrases'
import { readDate } from './dates'
import { type EntityKind, findEntities } from './entities'
import { factFor, labelledFacts, readNumber } from './words'

/** Facts in sentences without labels: names are found by their capitals, numbers by the noun they count. */
type Prose = {
  /** A name, a place or a role for a text field; undefined when the text names none or several people. */
  words(field: string): string | undefined
  /** `34 years old`, `64 cores`, `2 Nobel prizes`. */
  number(field: string): number | undefined
  /** `is active`, `not married`, `backups are disabled`. */
  flag(field: string): boolean | undefined
  /** All people in the text, for a field that lists people; empty for any other field. */
  list(field: string): string[]
}

/** Limits the time of a fill, because every field of a schema searches the whole text. */
const MAX_READ_CHARS = 8_000

const PERSON =
  /^(?:name|person|author|customer|client|user|contact|owner|employee|patient|student|candidate|applicant|speaker|buyer|guest|who)$/

const PEOPLE = /^(?:names|people|persons|participants|attendees|guests|members|authors|speakers|students|employees)$/

const ROLE = /^(?:role|job|occupation|profession|title)$/

const QUANTITY = /^(?:quantity|qty|units|pieces|items|count)$/

/** Capitalised words that are not names, such as months, titles and first words of sentences. */
const NO_NAMES = new Set(
  `january february march april may june july august september october november december monday tuesday wednesday thursday
   friday saturday sunday contact call meet dear hello hi invoice order meeting customer client user person name extract
   classify mr mrs ms dr prof yes`.split(/\s+/),
)

const CAPITALISED = /\p{Lu}[\p{L}'’-]+(?:\s+\p{Lu}[\p{L}'’-]+){0,4}/gu

/** What follows a name at the start of a sentence: a verb, a comma or another name. */
const AFTER_NAME = /^(?:,|['’]s\b|\s+(?:and|is|was|are|were|has|had|will|can|said|[a-z]{2,14}(?:s|ed))\b)/

const BEFORE_PLACE = /\b(?:in|at|near|to|from|of|on|around)\s+(?:the\s+)?$/i

const BEFORE_CHARS = 12

type People = () => string[]

const ROLE_STATED =
  /\b(?:is|was|am|works as|worked as)\s+an?\s+([\p{L}-]+(?:\s+[\p{L}-]+){0,3}?)(?=\s+(?:at|in|for|from|and|who|of)\b|[.,;!?\n]|$)/u

const AGE =
  /\b(\d{1,3})[\s-]*(?:years?|yrs?)[\s-]*old\b|\b(?:aged?|turned)\s+(\d{1,3})\b|\b(?:is|am|[Ii]'m)\s+(\d{1,3})(?=\s*(?:[.,;!?\n]|and\b|$))|,\s*(\d{1,3})(?=\s*(?:[,)]|$))/

const SPELLED_AGE = /\b(?:is|am|aged?|turned)\s+([a-z]+(?:-[a-z]+)?)\b/g

const BOUGHT = /\b(?:order(?:ed)?|buys?|bought|purchased?|sold|sells?|needs?|wants?)\s+(\d{1,9})\b(?!\s*(?:%|[$€£]))/i

const MAX_DEPTH = 12
const MAX_FIELDS = 2_000

type Source = {
  text: string
  facts: ReadonlyMap<string, string>
  prose: Prose
  root: JsonSchema
  /** Epoch milliseconds from which `tomorrow` is counted. */
  now: number
  /** Fields that may still be visited: a schema that refers to itself would otherwise never end. */
  budget: { left: number }
}

/**
 * Fills a JSON schema from a text with labelled facts, values of the form that a field's name or format implies,
 * statements in sentences, and enum words that occur. Never guesses: what the text does not state is left out when
 * optional, null when that is allowed, and otherwise an empty text, list or object. No number, flag or word to choose
 * is empty: a required one is left out, so that the answer does not fit and is refused by its name (docs/api.md 4).
 */
export function fillSchema(schema: JsonSchema, text: string, now: number): unknown {
  const source = { ...about(text), root: schema, now, budget: { left: MAX_FIELDS } }
  return fill(schema, '', source, 0) ?? smallestValue(schema, source, 0) ?? null
}

const about = (text: string) => ({ text, facts: labelledFacts(text), prose: readProse(text) })

const isSpent = ({ budget }: Source, depth: number): boolean => depth > MAX_DEPTH || budget.left-- <= 0

/** The value that the text states for a field; undefined when it states none. */
function fill(unresolved: JsonSchema, name: string, source: Source, depth: number): unknown {
  if (isSpent(source, depth)) return undefined
  const schema = resolve(unresolved, source.root)
  if ('const' in schema) return schema.const
  if (Array.isArray(schema.enum)) return fillEnum(schema.enum, name, source)
  switch (typeOf(schema)) {
    case 'object':
      return fillObject(schema, source, depth)
    case 'array':
      return fillArray(schema, name, source, depth)
    case 'integer':
    case 'number':
      return fillNumber(schema, name, source)
    case 'boolean':
      return statedFlag(name, source) ?? source.prose.flag(name)
    case 'string':
      return fillString(schema, name, source)
    default:
      return undefined
  }
}

/** Undefined for an inner object without any stated value: the caller knows whether it is required. */
function fillObject(schema: JsonSchema, source: Source, depth: number): Record<string, unknown> | undefined {
  const found = propertiesOf(schema).flatMap(([key, property]): [string, unknown][] => {
    const value = fill(property, key, source, depth + 1)
    return value === undefined ? [] : [[key, value]]
  })
  if (found.length === 0 && depth > 0) return undefined
  return { ...emptyObject(schema, source, depth), ...Object.fromEntries(found) }
}

/** The required properties only, each with its emptiest value; without those that have none. */
function emptyObject(schema: JsonSchema, source: Source, depth: number): Record<string, unknown> {
  const required = new Set((schema.required ?? []) as string[])
  const needed = propertiesOf(schema).filter(([key]) => required.has(key))
  const filled = needed.map(([key, property]) => [key, smallestValue(property, source, depth + 1)] as const)
  return Object.fromEntries(filled.filter(([, value]) => value !== undefined))
}

export const propertiesOf = (schema: JsonSchema): [string, JsonSchema][] =>
  Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>)

function fillArray(schema: JsonSchema, name: string, source: Source, depth: number): unknown[] | undefined {
  const items = resolve((schema.items ?? {}) as JsonSchema, source.root)
  const kind = kindOf(name, items)
  const stated = factFor(name, source.facts)
    ?.split(/[,;]|\band\b/)
    .map((item) => item.trim())
    .filter(Boolean)
  const words = kind ? findEntities(kind, source.text) : (stated ?? source.prose.list(name))
  if (!words?.length) return undefined
  const max = typeof schema.maxItems === 'number' ? schema.maxItems : MAX_FIELDS
  return words
    .slice(0, max)
    .map((word) => fill(items, '', { ...source, ...about(word), facts: new Map([['', word]]) }, depth + 1))
    .filter((value) => value !== undefined)
}

function fillNumber(schema: JsonSchema, name: string, { text, facts, prose }: Source): number | undefined {
  const stated = factFor(name, facts)
  const kind = /price|amount|total|cost|sum|fee/i.test(name) ? 'amounts' : 'numbers'
  const word = stated ?? (name === '' || kind === 'amounts' ? findEntities(kind, text)[0] : undefined)
  const digits = /-?\d[\d,]*(?:\.\d+)?/.exec(word ?? '')?.[0].replaceAll(',', '')
  const value = digits === undefined ? name && prose.number(name) : Number(digits)
  if (typeof value !== 'number' || !isWithin(value, schema)) return undefined
  return typeOf(schema) === 'integer' ? Math.round(value) : value
}

/** Whether a number is within the limits of a schema. */
export const isWithin = (value: number, { minimum, maximum }: JsonSchema): boolean =>
  !(typeof minimum === 'number' && value < minimum) && !(typeof maximum === 'number' && value > maximum)

function statedFlag(name: string, { facts }: Source): boolean | undefined {
  const stated = factFor(name, facts)?.toLowerCase()
  if (stated === undefined) return undefined
  return /^(?:yes|true|on|1|enabled|y)\b/.test(stated)
    ? true
    : /^(?:no|false|off|0|disabled|n)\b/.test(stated)
      ? false
      : undefined
}

function fillString(schema: JsonSchema, name: string, { text, facts, prose, now }: Source): string | undefined {
  const kind = kindOf(name, schema)
  const formed = kind ? findEntities(kind, text)[0] : undefined
  const stated = (name ? factFor(name, facts) : text) ?? formed ?? (kind === 'dates' ? DAY.exec(text)?.[0] : undefined)
  const found = stated ?? (kind ? undefined : prose.words(name))
  const max = typeof schema.maxLength === 'number' ? schema.maxLength : undefined
  // Text that is not one certain date stays as it is.
  const at = /^date(?:-time)?$/.test(String(schema.format)) ? readDate(found, now) : null
  const formatted = at === null ? found : `${utcDay(at)}${schema.format === 'date' ? '' : 'T00:00:00Z'}`
  return formatted?.slice(0, max)
}

const DAY =
  /\b(?:today|tonight|tomorrow|yesterday|(?:(?:next|this|last)\s+)?(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b/i

function fillEnum(values: readonly unknown[], name: string, { text, facts }: Source): unknown {
  const searched = (factFor(name, facts) ?? text).toLowerCase()
  const words = values.filter((value) => typeof value === 'string')
  return words.find((word) =>
    new RegExp(`(?<!\\p{L})${word.toLowerCase().replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')}(?!\\p{L})`, 'u').test(
      searched,
    ),
  )
}

/** The kind of entity that a field holds, by its format or its name. */
export function kindOf(name: string, { format }: JsonSchema): EntityKind | null {
  const hint = `${String(format ?? '')} ${name}`.toLowerCase()
  if (/e-?mail/.test(hint)) return 'emails'
  if (/\b(?:uri|url)|link|website/.test(hint)) return 'urls'
  if (/phone|mobile|\btel\b/.test(hint)) return 'phones'
  if (/date|deadline|\bday\b/.test(hint)) return 'dates'
  if (/price|amount|total|cost/.test(hint)) return 'amounts'
  if (/hashtag/.test(hint)) return 'hashtags'
  if (/numbers?$/.test(hint) && !/number$/.test(name)) return 'numbers'
  return null
}

const NOTHING = /^(?:unknown|none|other|neutral|unspecified|unclear|undefined|n\/?a)$/i
const saysNothing = (value: unknown): boolean => typeof value === 'string' && NOTHING.test(value)

/** The emptiest value a schema allows; undefined where each would state something that the text does not. */
function smallestValue(unresolved: JsonSchema, source: Source, depth: number): unknown {
  if (isSpent(source, depth)) return null
  const schema = resolve(unresolved, source.root)
  if ('const' in schema) return schema.const
  if (allowsNull(unresolved) || allowsNull(schema)) return null
  // Null, a word that says nothing, or the only word there is.
  if (Array.isArray(schema.enum))
    return schema.enum.length === 1 ? schema.enum[0] : schema.enum.includes(null) ? null : schema.enum.find(saysNothing)
  switch (typeOf(schema)) {
    case 'object':
      return emptyObject(schema, source, depth)
    case 'array':
      return Array.from({ length: Math.min(Number(schema.minItems ?? 0), source.budget.left) }, () =>
        smallestValue((schema.items ?? {}) as JsonSchema, source, depth + 1),
      ).filter((item) => item !== undefined)
    case 'integer':
    case 'number':
    case 'boolean':
      return undefined
    case 'string':
      return Number(schema.minLength ?? 0) > 0 ? undefined : ''
    default:
      return null
  }
}

export function typeOf({ type, properties }: JsonSchema): unknown {
  if (Array.isArray(type)) return type.find((one) => one !== 'null')
  return type ?? (properties ? 'object' : undefined)
}

const allowsNull = ({ type, anyOf }: JsonSchema): boolean =>
  type === 'null' ||
  (Array.isArray(type) && type.includes('null')) ||
  (Array.isArray(anyOf) && anyOf.some((one: JsonSchema) => one.type === 'null'))

/** Follows local references, and takes the first branch of a union that is not null. */
export function resolve(schema: JsonSchema, root: JsonSchema): JsonSchema {
  let current = schema
  for (let hops = 0; hops < MAX_DEPTH; hops++) {
    const union = (current.anyOf ?? current.oneOf) as JsonSchema[] | undefined
    if (typeof current.$ref === 'string') current = followed(current.$ref, root)
    else if (Array.isArray(union)) current = union.find(({ type }) => type !== 'null') ?? {}
    else break
  }
  return current
}

function followed(ref: string, root: JsonSchema): JsonSchema {
  let at: unknown = ref.startsWith('#/') || ref === '#' ? root : {}
  for (const step of ref.split('/').slice(1)) {
    at = typeof at === 'object' && at !== null && Object.hasOwn(at, step) ? (at as Record<string, unknown>)[step] : {}
  }
  return (at ?? {}) as JsonSchema
}

function readProse(whole: string): Prose {
  const text = whole.slice(0, MAX_READ_CHARS)
  let known: string[] | undefined
  const people: People = () => (known ??= peopleIn(text))
  return {
    words: once((field) => wordsFor(field, text, people)),
    number: once((field) => numberFor(field, text)),
    flag: once((field) => flagFor(field, text)),
    list: (field) => (PEOPLE.test(wordsOfName(field).at(-1) ?? '') ? people() : []),
  }
}

/** Caches a search by field, because a schema may name the same field many times. */
function once<Found>(look: (field: string) => Found): (field: string) => Found {
  const known = new Map<string, Found>()
  return (field) => known.getOrInsertComputed(field, look)
}

/** People that a text names, without repeats, in order: capitalised words where a name can stand. */
function peopleIn(text: string): string[] {
  const found = sentencesOf(text).flatMap((sentence) =>
    [...sentence.matchAll(CAPITALISED)].flatMap(({ 0: words, index }) => {
      const parts = words.split(/\s+/).map((part) => ({ part, low: part.toLowerCase() }))
      const first = parts.findIndex(({ low }) => !(NO_NAMES.has(low) || isStopWord(low) || isVerb(low)))
      const named = first < 0 ? [] : parts.slice(first)
      const name = named.some(({ low }) => NO_NAMES.has(low)) ? '' : named.map(({ part }) => part).join(' ')
      if (!name || BEFORE_PLACE.test(sentence.slice(Math.max(0, index - BEFORE_CHARS), index))) return []
      const opens = index === 0 && name === words && !name.includes(' ')
      return opens && !AFTER_NAME.test(sentence.slice(name.length)) ? [] : [name]
    }),
  )
  return [...new Set(found)]
}

function wordsFor(name: string, text: string, people: People): string | undefined {
  const words = wordsOfName(name)
  const last = words.at(-1) ?? ''
  const meant = PERSON.test(last) ? people() : []
  const full = meant.filter((name) => name.includes(' '))
  // The only person, or the only one with a full name. None when several people could be meant.
  const person = full.length === 1 ? full[0] : meant.length === 1 ? meant[0] : undefined
  if (person && /^(?:first|given)$/.test(words[0]!)) return person.split(' ')[0]
  if (person && /^(?:last|family|sur)$/.test(words[0]!)) return person.split(' ').slice(1).join(' ') || undefined
  if (/^surname$/.test(last)) return wordsFor('last_name', text, people)
  const introduced = sentencesOf(text).map((sentence) => phraseFor(last, { text: sentence }))
  const phrase = introduced.find((one) => one !== null) ?? undefined
  return (
    (last === 'name' ? (phrase ?? person) : (person ?? phrase)) ??
    (ROLE.test(last) ? ROLE_STATED.exec(text)?.[1] : undefined)
  )
}

function numberFor(name: string, text: string): number | undefined {
  const words = wordsOfName(name)
  const last = words.at(-1) ?? ''
  if (last === 'age') return ageIn(text)
  if (QUANTITY.test(last) && BOUGHT.test(text)) return Number(BOUGHT.exec(text)?.[1])
  const counted = words.map((word) => RegExp.escape(word.replace(/s$/, ''))).join('\\s+')
  const byName = new RegExp(
    `(?<![\\p{L}\\d.,])(-?\\d[\\d,]{0,20}(?:\\.\\d+)?)\\s{1,3}(?:\\p{L}{1,20}\\s{1,3}){0,2}${counted}s?(?!\\p{L})|(?<!\\p{L})${counted}s?\\s{0,3}(?:of|is|=|:|to)?\\s{0,3}(-?\\d[\\d,]{0,20}(?:\\.\\d+)?)`,
    'iu',
  ).exec(text)
  const digits = byName?.[1] ?? byName?.[2]
  return digits === undefined ? undefined : (readNumber(digits) ?? undefined)
}

function ageIn(text: string): number | undefined {
  const [, ...digits] = AGE.exec(text) ?? []
  const age = digits.find(Boolean)
  if (age !== undefined) return Number(age)
  const spelled = [...text.matchAll(SPELLED_AGE)].map(([, word]) => readNumber(word!)).find((age) => age !== null)
  return spelled ?? undefined
}

function flagFor(name: string, text: string): boolean | undefined {
  const words = wordsOfName(name).filter((word) => !/^(?:is|has|include|with|enable|use|should|are|was)$/.test(word))
  if (!words.length) return undefined
  const phrase = words.map((word) => RegExp.escape(word)).join('\\s+')
  if (!new RegExp(`(?<![\\p{L}-])${phrase}(?!\\p{L})`, 'iu').test(text)) return undefined
  const before = new RegExp(
    `(?:\\b(?:no|not|never|without|neither)|n['’]t)\\b[^.,;\\n]{0,30}(?<!\\p{L})${phrase}`,
    'iu',
  )
  const after = new RegExp(
    `${phrase}[^.,;\\n]{0,30}\\s(?:is|are|was|were)\\s+(?:not|off|false|disabled|missing|unavailable)\\b`,
    'iu',
  )
  return !before.test(text) && !after.test(text)
}
