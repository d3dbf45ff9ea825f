import type { JsonSchema } from '../../engines'
import { readPattern, type SizeOf, sizeIfWritten } from './pattern'
import { isSchema, mapSchemas } from './walk'

/** For schemas whose patterns are run here where RE2 runs them, and by somebody else where it does not. */
export const sizeIfRunOrWritten: SizeOf = (source) => (isRun(source) ? readPattern(source).size : sizeIfWritten(source))

/** The same schema without the patterns this server does not run: what is left of it can be checked here. */
export const withoutForeignPatterns = (schema: JsonSchema): JsonSchema => mapSchemas(schema, withoutForeign)

function withoutForeign({ pattern, patternProperties, ...rest }: JsonSchema): JsonSchema {
  const names = isSchema(patternProperties) ? Object.entries(patternProperties) : []
  const known = names.filter(([source]) => isRun(source))
  return {
    ...rest,
    ...(typeof pattern === 'string' && isRun(pattern) ? { pattern } : {}),
    ...(known.length ? { patternProperties: Object.fromEntries(known) } : {}),
    // A name that a dropped pattern may have allowed is not refused for it.
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
