import type { JsonSchema } from '../../engines'
import { readPattern, type SizeOf, sizeIfWritten } from './pattern'
import { isSchema, mapSchemas } from './walk'

/**
 * For schemas that somebody else validates too: patterns RE2 cannot run are accepted when they are valid JavaScript.
 */
export const sizeIfRunOrWritten: SizeOf = (source) => (isRun(source) ? readPattern(source).size : sizeIfWritten(source))

/** The schema without the patterns RE2 cannot run, so that the rest of it can be checked here. */
export const withoutForeignPatterns = (schema: JsonSchema): JsonSchema => mapSchemas(schema, withoutForeign)

function withoutForeign({ pattern, patternProperties, ...rest }: JsonSchema): JsonSchema {
  const names = isSchema(patternProperties) ? Object.entries(patternProperties) : []
  const known = names.filter(([source]) => isRun(source))
  return {
    ...rest,
    ...(typeof pattern === 'string' && isRun(pattern) ? { pattern } : {}),
    ...(known.length ? { patternProperties: Object.fromEntries(known) } : {}),
    // A dropped pattern may have allowed further names, so unknown names are not refused.
    ...(known.length < names.length ? { additionalProperties: true, unevaluatedProperties: true } : {}),
  }
}

function isRun(source: string): boolean {
  try {
    readPattern(source)
    return true
  } catch {
    return false
  }
}
