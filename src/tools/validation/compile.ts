import Ajv, { type ErrorObject, type ValidateFunction } from 'ajv/dist/2020'
import canonicalize from 'canonicalize'
import { LRUCache } from 'lru-cache'
import type { JsonSchema } from '../../engines'
import { sha256Hex } from '../../kernel/crypto'
import { nextTurn } from '../../kernel/turns'
import { explain } from './explain'
import { OutOfFuel, refuel, spend, spent } from './fuel'
import { readPattern } from './pattern'
import { mapSchemas } from './walk'

/** What is wrong with a value, in one sentence that names the path and the rule; null when it fits. */
export type Check = (value: unknown) => string | null

const MAX_CACHED = 1_000
const byContent = new LRUCache<string, Check>({ max: MAX_CACHED })
const bySchema = new WeakMap<JsonSchema, Check>()
/** A check that took more than about five milliseconds once. */
const slow = new WeakSet<Check>()
const SLOW_STEPS = 100_000

/** The check of a schema that was found sound; compiled on first use, and once for all that read the same. */
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
 * Compiles a schema that is not compiled yet, in a turn of its own: the largest takes tens of milliseconds, and
 * a turn of calls may bring sixteen (I28).
 */
export async function compileInTurn(schema: JsonSchema): Promise<void> {
  if (bySchema.has(schema)) return
  if (!byContent.has(contentOf(schema))) await nextTurn()
  validatorOf(schema)
}

/** Whether checking against it took long before: then the next check needs a turn of its own, too. */
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

/** Null for what the look at the definition could not see, such as two anchors of one name. */
function compiled(schema: JsonSchema): ValidateFunction | null {
  try {
    return newAjv().compile(mapSchemas(schema, metered))
  } catch {
    return null
  }
}

/** Every part of the schema pays when it is asked; names and addresses that reach out of it are left away. */
function metered({ $id, $schema, $comment, ...schema }: JsonSchema): JsonSchema {
  const listed = Array.isArray(schema.enum) ? schema.enum.length : 0
  return { costs: 4 + listed, ...schema }
}

/** One for each schema: what a validator has compiled it never forgets. It has no way to load anything. */
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

/** By what they say, each written once: comparing each with each would take a day for a long list. */
function areUnique(wanted: boolean, list: unknown[]): boolean {
  if (!wanted) return true
  spend(list.length * 20)
  return new Set(list.map((entry) => canonicalize(entry))).size === list.length
}
