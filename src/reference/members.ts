import type { Resolve, Schema } from './operations'

/** One member of a body or an answer, as a row of a table; `name` is its path, such as `usage.total_tokens`. */
export type Member = { name: string; type: string; required: boolean; about: string }

/** Members within members are shown down to this depth. */
const DEPTH = 3

/** The members of an object schema, with those of objects in it. A schema that is no object has none. */
export function membersOf(schema: Schema, resolve: Resolve, prefix = '', depth = DEPTH): Member[] {
  const found = resolve(schema)
  const { properties = {}, required = [], anyOf, oneOf, allOf } = found
  const own = Object.entries(properties).flatMap(([name, part]) => {
    const at = `${prefix}${name}`
    const row: Member = {
      name: at,
      type: typeOf(part, resolve),
      required: required.includes(name),
      about: aboutOf(part, resolve),
    }
    return depth > 1 ? [row, ...within(part, resolve, at, depth - 1)] : [row]
  })
  if (own.length) return own
  const seen = new Set<string>()
  return [...(anyOf ?? []), ...(oneOf ?? []), ...(allOf ?? [])]
    .flatMap((choice) => membersOf(choice, resolve, prefix, depth))
    .filter(({ name }) => !seen.has(name) && seen.add(name))
}

function within(part: Schema, resolve: Resolve, at: string, depth: number): Member[] {
  const found = resolve(withoutNull(part, resolve))
  if (found.items) return membersOf(found.items, resolve, `${at}[].`, depth)
  return membersOf(found, resolve, `${at}.`, depth)
}

/** The one choice besides null; the schema itself when there are more. */
function withoutNull(schema: Schema, resolve: Resolve): Schema {
  const choices = (resolve(schema).anyOf ?? []).filter((choice) => choice.type !== 'null')
  return choices.length === 1 ? choices[0]! : schema
}

/** A schema's type in few words: `string`, `one of "a", "b"`, `list of object or null`. */
export function typeOf(schema: Schema, resolve: Resolve): string {
  const { type, enum: among, const: only, items, anyOf, oneOf } = resolve(schema)
  if (only !== undefined) return JSON.stringify(only)
  if (among) return among.map((one) => JSON.stringify(one)).join(', ')
  const choices = anyOf ?? oneOf
  if (choices) return [...new Set(choices.map((choice) => typeOf(choice, resolve)))].join(' or ')
  if (items) return `list of ${typeOf(items, resolve)}`
  return Array.isArray(type) ? type.join(' or ') : (type ?? 'any')
}

/** What a member is, with its bounds and its default. */
export function aboutOf(schema: Schema, resolve: Resolve): string {
  const found = resolve(withoutNull(schema, resolve))
  const description = schema.description ?? resolve(schema).description ?? found.description ?? ''
  const facts = [
    found.format,
    range('', found.minimum, found.maximum),
    range(' characters', found.minLength, found.maxLength),
    range(' items', found.minItems, found.maxItems),
    schema.default !== undefined || found.default !== undefined
      ? `default \`${JSON.stringify(schema.default ?? found.default)}\``
      : null,
  ].filter(Boolean)
  return [description, facts.join(', ')].filter(Boolean).join('; ')
}

function range(unit: string, least: number | undefined, most: number | undefined): string | null {
  if (least !== undefined && most !== undefined) return `${least}–${most}${unit}`
  if (most !== undefined) return `at most ${most}${unit}`
  return least !== undefined && least > 0 ? `at least ${least}${unit}` : null
}
