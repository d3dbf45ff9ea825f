import type { CompletionRequest } from '../request'

type Brought = Pick<CompletionRequest, 'tools' | 'functions'>

/**
 * The texts that the caller wrote into tool definitions. `prose` may be redacted; names and values are `fixed`, because
 * redacting a part would change their meaning.
 */
export type ToolWords = { prose: string[]; fixed: string[] }

/** Members of a JSON Schema that are prose. */
const PROSE = new Set(['description', 'title', '$comment'])
/** Members of a schema that hold schemas by name; the caller chose the names. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])
/** Members of a schema that hold plain values. */
const VALUES = new Set(['enum', 'const', 'default', 'examples', 'example'])
const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']
const FORMATS = ['date', 'date-time', 'time', 'email', 'uri', 'uuid', 'hostname']
const BOUNDS = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'multipleOf', 'uniqueItems']
const CHOICES = ['anyOf', 'oneOf', 'allOf', 'not']
/** Keywords of JSON Schema, which need no check. */
const KEYWORDS = new Set([
  'type',
  'required',
  'items',
  'format',
  'additionalProperties',
  'pattern',
  'strict',
  'exclusiveMinimum',
  'exclusiveMaximum',
  '$schema',
  '$ref',
  'nullable',
  '',
  ...TYPES,
  ...FORMATS,
  ...BOUNDS,
  ...CHOICES,
  ...PROSE,
  ...NAMED,
  ...VALUES,
])
/** Smaller numbers are too short for phone numbers, cards or ids. */
const LONG_NUMBER = 1_000_000

/** Every text that the caller wrote into the tools of a request, without repeats. */
export function wordsOfTools(brought: Brought): ToolWords {
  const [prose, fixed] = [new Set<string>(), new Set<string>()]
  rewriteTools(brought, {
    prose: (text) => {
      prose.add(text)
      return text
    },
    fixed: (text) => KEYWORDS.has(text) || fixed.add(text),
  })
  prose.delete('')
  return { prose: [...prose], fixed: [...fixed] }
}

/** The tools with every prose text replaced by the result of `visit.prose`; `visit.fixed` gets all other texts. */
export function rewriteTools({ tools, functions }: Brought, visit: Visit): Brought {
  return {
    tools: tools.map((tool) => {
      visit.fixed(tool.name)
      const { description, input_schema: schema } = tool
      return {
        ...tool,
        description: visit.prose(description),
        ...(schema ? { input_schema: rewriteSchema(schema, visit) } : {}),
      }
    }),
    functions: functions && {
      ...functions,
      tools: functions.tools.map((tool) => {
        visit.fixed(tool.name)
        const { description, parameters } = tool
        return {
          ...tool,
          parameters: rewriteSchema(parameters, visit),
          ...(description === undefined ? {} : { description: visit.prose(description) }),
        }
      }),
    },
  }
}

type Visit = { prose(text: string): string; fixed(text: string): unknown }

function rewriteSchema<Schema>(schema: Schema, visit: Visit): Schema {
  if (Array.isArray(schema)) return schema.map((one) => rewriteSchema(one, visit)) as Schema
  if (typeof schema !== 'object' || schema === null) {
    visitValue(schema, visit)
    return schema
  }
  const members = Object.entries(schema).map(([name, value]): [string, unknown] => {
    visit.fixed(name)
    if (PROSE.has(name) && typeof value === 'string') return [name, visit.prose(value)]
    if (VALUES.has(name)) visitValue(value, visit)
    return [name, VALUES.has(name) ? value : NAMED.has(name) ? rewriteNamed(value, visit) : rewriteSchema(value, visit)]
  })
  return Object.fromEntries(members) as Schema
}

/** Schemas by name. A name may be anything, also `description` or `default`. */
function rewriteNamed(named: unknown, visit: Visit): unknown {
  if (typeof named !== 'object' || named === null || Array.isArray(named)) return rewriteSchema(named, visit)
  return Object.fromEntries(
    Object.entries(named).map(([name, schema]) => {
      visit.fixed(name)
      return [name, rewriteSchema(schema, visit)]
    }),
  )
}

function visitValue(value: unknown, visit: Visit): void {
  if (typeof value === 'string') visit.fixed(value)
  else if (typeof value === 'number' && Math.abs(value) >= LONG_NUMBER) visit.fixed(String(value))
  else if (typeof value === 'object' && value !== null) {
    for (const [name, inside] of Object.entries(value)) {
      if (!Array.isArray(value)) visit.fixed(name)
      visitValue(inside, visit)
    }
  }
}
