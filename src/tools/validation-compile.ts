import Ajv, { type ErrorObject, type ValidateFunction } from 'ajv/dist/2020'
import canonicalize from 'canonicalize'
import { LRUCache } from 'lru-cache'
import type { JsonSchema } from '../engines'
import { sha256Hex } from '../kernel/crypto'
import { quoted } from '../kernel/errors'
import { nextTurn } from '../kernel/loop'
import { mapSchemas } from './validation-keywords'
import { OutOfFuel, readPattern, refuel, spend, spent } from './validation-pattern'

const depth = ({ instancePath }: ErrorObject): number => instancePath.split('/').length

/** Checks a value. Returns one sentence that names the path and the rule, or null when the value fits. */
export type Check = (value: unknown) => string | null

const MAX_CACHED = 1_000
const byContent = new LRUCache<string, Check>({ max: MAX_CACHED })
const bySchema = new WeakMap<JsonSchema, Check>()
/** Checks that once took longer than about five milliseconds. */
const slow = new WeakSet<Check>()
const SLOW_STEPS = 100_000

/** The check of a schema that `problemsOf` accepted. Compiled on first use, shared by schemas of equal content. */
export function validatorOf(schema: JsonSchema): Check {
  const known = bySchema.get(schema)
  if (known) return known
  const content = contentOf(schema)
  const check = byContent.get(content) ?? compile(schema)
  byContent.set(content, check)
  bySchema.set(schema, check)
  return check
}

/**
 * Compiles a schema in its own turn of the event loop unless it is cached, because a large one takes tens of
 * milliseconds, and an engine may request sixteen calls at once (docs/promises.md I28).
 */
export async function compileInTurn(schema: JsonSchema): Promise<void> {
  if (bySchema.has(schema)) return
  if (!byContent.has(contentOf(schema))) await nextTurn()
  validatorOf(schema)
}

/** Whether an earlier check against this schema was slow. Then the next one waits for a new event loop turn. */
export const isSlow = (schema: JsonSchema): boolean => slow.has(bySchema.get(schema)!)

const contentOf = (schema: JsonSchema): string => sha256Hex(JSON.stringify(schema))

const TOO_COSTLY = 'The arguments take too long to check against the input_schema; make them smaller.'
const UNUSABLE = "The tool's input_schema cannot be used, so it was not run."

function compile(schema: JsonSchema): Check {
  const validate = compiled(schema)
  if (!validate) return () => UNUSABLE
  const check: Check = (value) => {
    refuel()
    try {
      return validate(value) ? null : explain(validate.errors as ErrorObject[])
    } catch (error) {
      if (error instanceof OutOfFuel || error instanceof RangeError) return TOO_COSTLY
      throw error
    } finally {
      if (spent() > SLOW_STEPS) slow.add(check)
    }
  }
  return check
}

/** Null for a fault that `problemsOf` cannot see, such as two anchors with the same name. */
function compiled(schema: JsonSchema): ValidateFunction | null {
  try {
    return newAjv().compile(mapSchemas(schema, metered))
  } catch {
    return null
  }
}

/**
 * Adds a fuel cost to every subschema, and drops `$id`, `$schema` and `$comment`, because an `$id` could lead
 * references outside the schema.
 */
function metered({ $id, $schema, $comment, ...schema }: JsonSchema): JsonSchema {
  const listed = Array.isArray(schema.enum) ? schema.enum.length : 0
  return { costs: 4 + listed, ...schema }
}

/** A new Ajv per schema, because an instance never forgets what it compiled. It cannot load remote schemas. */
function newAjv(): Ajv {
  const regExp = Object.assign((source: string) => readPattern(source), { code: 'readPattern' })
  const ajv = new Ajv({
    strict: false,
    meta: false,
    validateSchema: false,
    validateFormats: false,
    allErrors: false,
    inlineRefs: false,
    logger: false,
    code: { optimize: false, regExp },
  })
  ajv.removeKeyword('uniqueItems')
  ajv.addKeyword({ keyword: 'uniqueItems', type: 'array', schemaType: 'boolean', validate: areUnique, errors: false })
  ajv.addKeyword({
    keyword: 'costs',
    schemaType: 'number',
    before: '$ref',
    errors: false,
    validate(steps: number) {
      spend(steps)
      return true
    },
  })
  return ajv
}

/** Compares canonical JSON in a set, because Ajv compares every pair, which is quadratic. */
function areUnique(wanted: boolean, list: unknown[]): boolean {
  if (!wanted) return true
  spend(list.length * 20)
  return new Set(list.map((entry) => canonicalize(entry))).size === list.length
}

/** The most specific error as a sentence for the engine: path (`items[3].name`) and rule. */
function explain(errors: readonly ErrorObject[]): string {
  const deepest = errors.toSorted((a, b) => depth(b) - depth(a))[0]
  if (!deepest) return 'The arguments do not fit the input_schema.'
  return `${whereOf(deepest)} ${ruleOf(deepest)}.`
}

function whereOf({ instancePath, keyword }: ErrorObject): string {
  if (instancePath === '') return keyword === 'type' ? 'The arguments' : 'The arguments together'
  const steps = instancePath
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  const path = steps.map((step, at) => (/^\d+$/.test(step) ? `[${step}]` : `${at ? '.' : ''}${step}`)).join('')
  return `"${quoted(path)}"`
}

function ruleOf({ keyword, params, message }: ErrorObject): string {
  switch (keyword) {
    case 'required':
      return `must have "${quoted(params.missingProperty)}" (required)`
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return `must not have "${quoted(params.additionalProperty ?? params.unevaluatedProperty)}" (${keyword})`
    case 'enum':
      return `must be one of ${quoted(params.allowedValues)} (enum)`
    case 'const':
      return `must be ${quoted(params.allowedValue)} (const)`
    case 'minLength':
      return params.limit === 1 ? 'must not be empty' : `must have at least ${params.limit} characters`
    case 'maxLength':
      return `must have at most ${params.limit} characters`
    case 'minItems':
      return params.limit === 1 ? 'must not be an empty list' : `must have at least ${params.limit} entries`
    case 'maxItems':
      return params.limit === 1 ? 'must have at most one entry' : `must have at most ${params.limit} entries`
    case 'uniqueItems':
      return 'must not have duplicate entries (uniqueItems)'
    default:
      return `${message ?? 'does not fit'} (${keyword})`
  }
}
