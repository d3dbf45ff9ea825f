import type { JsonSchema } from '../engines'
import { LIST_OF_SCHEMAS, MAP_OF_SCHEMAS, ONE_SCHEMA } from './validation-keywords'

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
