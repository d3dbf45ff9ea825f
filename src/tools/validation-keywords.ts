import type { JsonSchema } from '../engines'

/** Keywords that contain schemas (JSON Schema 2020-12, and `definitions` of older drafts). */
const ONE_SCHEMA: ReadonlySet<string> = new Set([
  'not',
  'if',
  'then',
  'else',
  'contains',
  'items',
  'propertyNames',
  'contentSchema',
  'additionalProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
])
export const LIST_OF_SCHEMAS: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
export const MAP_OF_SCHEMAS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
])

/** Keywords that do not affect validation. */
export const ANNOTATIONS: ReadonlySet<string> = new Set([
  ...['title', 'description', 'default', 'examples', 'format', 'readOnly', 'writeOnly', 'deprecated'],
  ...['$id', '$schema', '$comment', '$anchor', '$dynamicAnchor'],
])

export const REFERENCES: ReadonlySet<string> = new Set(['$ref', '$dynamicRef'])

const COUNTS = [
  'maxLength',
  'minLength',
  'maxItems',
  'minItems',
  'maxProperties',
  'minProperties',
  'maxContains',
  'minContains',
]
const NUMBERS = ['maximum', 'minimum', 'exclusiveMaximum', 'exclusiveMinimum']
const WORDS = [
  'title',
  'description',
  'format',
  'pattern',
  '$ref',
  '$dynamicRef',
  '$anchor',
  '$dynamicAnchor',
  '$id',
  '$schema',
]

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']

const isText = (value: unknown) => typeof value === 'string'
const isListOf = (fits: (value: unknown) => boolean) => (value: unknown) => Array.isArray(value) && value.every(fits)

type Form = { fits(value: unknown): boolean; wanted: string }

const each = (names: readonly string[], form: Form) => Object.fromEntries(names.map((name) => [name, form]))

/** The required form of a keyword's value, for keywords that contain no schemas. */
export const FORMS: Readonly<Record<string, Form>> = {
  ...each(COUNTS, {
    fits: (value) => Number.isInteger(value) && (value as number) >= 0,
    wanted: 'a whole number from 0',
  }),
  ...each(NUMBERS, { fits: (value) => typeof value === 'number', wanted: 'a number' }),
  ...each(WORDS, { fits: isText, wanted: 'a string' }),
  multipleOf: { fits: (value) => typeof value === 'number' && value > 0, wanted: 'a number above 0' },
  uniqueItems: { fits: (value) => typeof value === 'boolean', wanted: 'true or false' },
  required: { fits: isListOf(isText), wanted: 'a list of strings' },
  enum: { fits: (value) => Array.isArray(value) && value.length > 0, wanted: 'a list with at least one entry' },
  type: {
    fits: (value) => [value].flat().length > 0 && [value].flat().every((name) => TYPES.includes(name as string)),
    wanted: `${TYPES.slice(0, -1).join(', ')} or null, or a list of these`,
  },
  dependentRequired: {
    fits: (value) =>
      typeof value === 'object' && value !== null && Object.values(value).every((names) => isListOf(isText)(names)),
    wanted: 'an object of lists of strings',
  },
}

/** A subschema with its path. `value` is unchecked and may not be a schema. */
export type Held = { path: string; value: unknown }

export const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The subschemas of one keyword. Empty for keywords that contain no schemas. */
export function heldBy(keyword: string, value: unknown, path: string): Held[] {
  if (ONE_SCHEMA.has(keyword)) return [{ path, value }]
  if (LIST_OF_SCHEMAS.has(keyword) && Array.isArray(value)) {
    return value.map((entry, at) => ({ path: `${path}[${at}]`, value: entry as unknown }))
  }
  if (MAP_OF_SCHEMAS.has(keyword) && isSchema(value)) {
    return Object.entries(value).map(([name, entry]) => ({ path: `${path}.${name}`, value: entry }))
  }
  return []
}

/** Applies `change` to the schema and all its subschemas, innermost first. Boolean schemas stay unchanged. */
export function mapSchemas(schema: JsonSchema, change: (part: JsonSchema) => JsonSchema): JsonSchema {
  const inside = (value: unknown): unknown => (isSchema(value) ? mapSchemas(value, change) : value)
  const entries = Object.entries(schema).map(([keyword, value]) => [keyword, mapped(keyword, value, inside)])
  return change(Object.fromEntries(entries))
}

function mapped(keyword: string, value: unknown, inside: (value: unknown) => unknown): unknown {
  if (ONE_SCHEMA.has(keyword)) return inside(value)
  if (LIST_OF_SCHEMAS.has(keyword) && Array.isArray(value)) return value.map(inside)
  if (!MAP_OF_SCHEMAS.has(keyword) || !isSchema(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, inside(entry)]))
}
