import type { Ask } from '../ask'

type Brought = Pick<Ask, 'tools' | 'functions'>

/** What somebody wrote into tools: `prose` explains and may be shortened, `fixed` are names and values that mean themselves. */
export type ToolWords = { prose: string[]; fixed: string[] }

/** Members of a schema that explain. */
const PROSE = new Set(['description', 'title', '$comment'])
/** Members whose own members bear names that somebody chose. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])
/** Members that hold values and no schemas. */
const VALUES = new Set(['enum', 'const', 'default', 'examples', 'example'])
const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']
const FORMATS = ['date', 'date-time', 'time', 'email', 'uri', 'uuid', 'hostname']
const BOUNDS = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'multipleOf', 'uniqueItems']
const CHOICES = ['anyOf', 'oneOf', 'allOf', 'not']
/** Words of the language itself, which nobody wrote. */
const LANGUAGE = new Set([
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
/** A number as long as this may be somebody's. */
const LONG_NUMBER = 1_000_000

/** Every word of the caller in the tools of a request, each once. */
export function wordsOfTools(brought: Brought): ToolWords {
  const [prose, fixed] = [new Set<string>(), new Set<string>()]
  withProse(brought, {
    prose: (text) => {
      prose.add(text)
      return text
    },
    fixed: (text) => LANGUAGE.has(text) || fixed.add(text),
  })
  prose.delete('')
  return { prose: [...prose], fixed: [...fixed] }
}

/** The same tools with other explanations. */
export function withProse({ tools, functions }: Brought, visit: Visit): Brought {
  return {
    tools: tools.map((tool) => {
      visit.fixed(tool.name)
      const { description, input_schema: schema } = tool
      return {
        ...tool,
        description: visit.prose(description),
        ...(schema ? { input_schema: schemaWith(schema, visit) } : {}),
      }
    }),
    functions: functions && {
      ...functions,
      tools: functions.tools.map((tool) => {
        visit.fixed(tool.name)
        const { description, parameters } = tool
        return {
          ...tool,
          parameters: schemaWith(parameters, visit),
          ...(description === undefined ? {} : { description: visit.prose(description) }),
        }
      }),
    },
  }
}

type Visit = { prose(text: string): string; fixed(text: string): unknown }

function schemaWith<Schema>(schema: Schema, visit: Visit): Schema {
  if (Array.isArray(schema)) return schema.map((one) => schemaWith(one, visit)) as Schema
  if (typeof schema !== 'object' || schema === null) {
    valueIn(schema, visit)
    return schema
  }
  const members = Object.entries(schema).map(([name, value]): [string, unknown] => {
    visit.fixed(name)
    if (PROSE.has(name) && typeof value === 'string') return [name, visit.prose(value)]
    if (VALUES.has(name)) valueIn(value, visit)
    return [name, VALUES.has(name) ? value : NAMED.has(name) ? namedWith(value, visit) : schemaWith(value, visit)]
  })
  return Object.fromEntries(members) as Schema
}

/** Schemas by names that may be any, `description` and `default` included. */
function namedWith(named: unknown, visit: Visit): unknown {
  if (typeof named !== 'object' || named === null || Array.isArray(named)) return schemaWith(named, visit)
  return Object.fromEntries(
    Object.entries(named).map(([name, schema]) => {
      visit.fixed(name)
      return [name, schemaWith(schema, visit)]
    }),
  )
}

function valueIn(value: unknown, visit: Visit): void {
  if (typeof value === 'string') visit.fixed(value)
  else if (typeof value === 'number' && Math.abs(value) >= LONG_NUMBER) visit.fixed(String(value))
  else if (typeof value === 'object' && value !== null) {
    for (const [name, inside] of Object.entries(value)) {
      if (!Array.isArray(value)) visit.fixed(name)
      valueIn(inside, visit)
    }
  }
}
