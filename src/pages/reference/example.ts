import type { Resolve, Schema } from './operations'

/** Objects within objects are written down to this depth, so that an example stays readable. */
const DEPTH = 4

/** Texts that fit the patterns of the schemas, the first that matches is taken. */
const TEXTS = [
  'example',
  'acme-notes',
  'completion.created',
  'id_0123456789abcdefABCDEFGH',
  '2026-11-21',
  '2026-11-21T09',
  '1.0.0',
  '60s',
  'https://example.com/page',
  'ada@example.com',
  '#1d4ed8',
  'MIT',
  '0'.repeat(64),
]

const FORMATS: Record<string, string> = {
  'date-time': '2026-11-21T09:30:00.000Z',
  uuid: '3f0c9a52-7b1e-4c57-9d7a-2f6f1b1c8e10',
  email: 'ada@example.com',
  uri: 'https://example.com/page',
}

/** Texts by the member's name, where a word alone would say little. */
const NAMED: Record<string, string> = {
  prompt: 'Count to five slowly',
  url: 'https://example.com/hook',
  name: 'My first one',
  email: 'ada@example.com',
  password: 'correct horse battery',
  content: 'Tides follow the moon.',
  text: 'Tides follow the moon.',
  reason: 'Asked for by the team',
}

type Options = { /** Members that are not required are written too. */ whole: boolean }

/** A value that fits a schema; the same one each time. */
export function exampleOf(schema: Schema, resolve: Resolve, { whole }: Options, name = '', depth = DEPTH): unknown {
  const found = resolve(schema)
  const given = schema.examples?.[0] ?? found.examples?.[0] ?? found.const ?? schema.default ?? found.default
  if (given !== undefined) return given
  if (found.enum) return found.enum[0]
  const choices = found.anyOf ?? found.oneOf
  if (choices) {
    const choice = choices.find(({ type }) => type !== 'null') ?? choices[0]!
    return exampleOf(choice, resolve, { whole }, name, depth)
  }
  if (found.allOf) {
    const parts = found.allOf.map((part) => exampleOf(part, resolve, { whole }, name, depth))
    return Object.assign({}, ...parts)
  }
  const type = Array.isArray(found.type) ? found.type[0] : found.type
  if (type === 'string') return textFor(found, name)
  if (type === 'integer' || type === 'number') return numberFor(found)
  if (type === 'boolean') return false
  if (type === 'null') return null
  if (type === 'array') {
    const isShort = depth <= 1 && !found.minItems
    return isShort || !found.items
      ? []
      : [exampleOf(found.items, resolve, { whole }, name.replace(/s$/, ''), depth - 1)]
  }
  return objectFor(found, resolve, whole, depth)
}

function objectFor({ properties = {}, required = [] }: Schema, resolve: Resolve, whole: boolean, depth: number) {
  const shown = Object.entries(properties).filter(([name]) => required.includes(name) || (whole && depth > 1))
  return Object.fromEntries(shown.map(([name, part]) => [name, exampleOf(part, resolve, { whole }, name, depth - 1)]))
}

function textFor({ pattern, format, minLength = 0, maxLength = 1_000 }: Schema, name: string): string {
  if (format && FORMATS[format]) return FORMATS[format]
  const fits = (text: string) =>
    text.length >= minLength && text.length <= maxLength && (!pattern || new RegExp(pattern, 'u').test(text))
  const prefixed = /^\^([a-z_]+_)\[0-9A-Za-z\]\{24\}\$$/.exec(pattern ?? '')
  if (prefixed) return `${prefixed[1]}0123456789abcdefABCDEFGH`
  const named = NAMED[name]
  if (named && fits(named)) return named
  return TEXTS.find(fits) ?? 'example'.padEnd(minLength, 'x').slice(0, maxLength)
}

function numberFor({ minimum, maximum }: Schema): number {
  const min = minimum ?? 0
  return maximum !== undefined && min > maximum ? maximum : min
}
