/** Keywords that contain schemas (JSON Schema 2020-12, and `definitions` of older drafts). */
export const ONE_SCHEMA: ReadonlySet<string> = new Set([
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
