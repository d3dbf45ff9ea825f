export type Json = Record<string, unknown>

/** Turns a schema of a room into the schema shown in the document. */
export type Hoist = (schema: unknown) => Json

/** Keywords whose value is data, not a schema. */
const VERBATIM = new Set(['enum', 'const', 'default', 'examples', 'required'])

/** Keywords whose value holds schemas by name; a name like `examples` is no keyword there. */
const BY_NAME = new Set(['properties', 'patternProperties', '$defs'])

/** Copies a schema; each part with an `$id` moves to `schemas` and is replaced by a reference. */
export function createHoister(schemas: Record<string, Json>): Hoist {
  const copy = (schema: Json): Json =>
    Object.fromEntries(
      Object.entries(schema)
        .filter(([key]) => !key.startsWith('~'))
        .map(([key, part]) => [key, VERBATIM.has(key) ? part : BY_NAME.has(key) ? walkEach(part) : walk(part)]),
    )

  const walkEach = (named: unknown): Json =>
    Object.fromEntries(Object.entries(named as Json).map(([name, part]) => [name, walk(part)]))

  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk)
    if (value === null || typeof value !== 'object') return value
    const { $id, ...rest } = value as Json & { $id?: string }
    if (typeof $id !== 'string') return copy(rest)
    schemas[$id] ??= copy(rest)
    return { $ref: `#/components/schemas/${$id}` }
  }
  return (schema) => walk(schema) as Json
}
