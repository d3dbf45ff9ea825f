import type { CompletionRequest } from '../completions'
import { validatorOf } from '../tools'
import { assertSchema } from './assert-schema'
import type { ChatOrder } from './schema'

type Form = Pick<CompletionRequest, 'json' | 'checkJson'>

const SCHEMA_PATH = 'response_format.json_schema.schema'

/**
 * The form that `response_format` asks for (contract 4). Throws 400 `validation_error` on a schema that cannot be
 * checked here: too large, with external references or patterns that RE2 cannot run, or not JSON Schema.
 */
export function formatOf({ response_format: format }: ChatOrder): Form {
  if (!format || format.type === 'text') return { json: false, checkJson: null }
  if (!('json_schema' in format)) return { json: true, checkJson: (content) => problemOf(content, isObject) }
  const { schema, name, strict } = format.json_schema
  const form = formOfSchema(schema, SCHEMA_PATH)
  return { ...form, json: { schema, ...(name ? { name } : {}), ...(strict == null ? {} : { strict }) } }
}

/** The form of a JSON Schema; `path` is where it stands in the request. Throws as {@link formatOf}. */
export function formOfSchema(schema: Record<string, unknown>, path: string): Form {
  assertSchema(schema, path)
  return { json: { schema }, checkJson: (content) => problemOf(content, validatorOf(schema)) }
}

const isObject = (value: unknown): string | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? null : 'it is not an object'

/** One sentence on what is wrong with the content, or null. */
function problemOf(content: string, check: (value: unknown) => string | null): string | null {
  let value: unknown
  try {
    value = JSON.parse(content)
  } catch {
    return 'The engine did not answer with JSON.'
  }
  // The validator is shared with tools, so its sentences begin with "The arguments".
  const problem = check(value)?.replace(/^The arguments(?: together)?/, 'it')
  return problem ? `The answer does not fit the response format: ${problem}` : null
}
