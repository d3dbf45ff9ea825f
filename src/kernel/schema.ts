import { type Static, type TObjectOptions, type TProperties, type TSchema, type TUnsafe, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import Format from 'typebox/format'
import { Value } from 'typebox/value'
import { hasAtLeast, hasAtMost, withAsciiHost } from './text'
import { findIssues, type Issue, type Request, withoutNulls } from './validation-issues'

export type { Issue }
/** The only module that imports TypeBox. Modules import `t` from here, routes `checked` and `described`. */
export { type Static, type TSchema, type TUnsafe, Type as t }

/** An object with a name of its own in the OpenAPI document, where every place that uses it refers to it. */
export const namedObject = <Properties extends TProperties>(
  $id: string,
  properties: Properties,
  options: TObjectOptions = {},
) => Type.Object(properties, { ...options, $id })

/** An object that may have these members only. */
export const strictObject = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false })

// The built-in rule of this format rejects hosts in other scripts.
Format.Set('email', (email) => Format.IsEmail(withAsciiHost(email)))

/** A schema wrapped as a Standard Schema. In this form, the web framework does not change values. */
export type Standard<T extends TSchema> = {
  readonly schema: T
  readonly '~standard': {
    readonly version: 1
    readonly vendor: 'svc'
    readonly types?: { readonly input: Static<T>; readonly output: Static<T> }
    validate(value: unknown): { value: Static<T> } | { issues: StandardIssue[] }
  }
}
type StandardIssue = { message: string; path: string[]; keyword: string; params: Record<string, unknown> }

/** Stands for an empty body. Unlike `undefined`, it does not make the framework read the body again. */
export const NO_BODY = Symbol('no body')

/** A body that does not match its schema. Thrown, because the framework's own error would serialize the whole body. */
export class SchemaRefusal extends Error {
  override name = 'SchemaRefusal'
  constructor(
    readonly issues: StandardIssue[],
    readonly value: unknown,
  ) {
    super('does not fit its schema')
  }
}

const compiled = new WeakMap<object, ReturnType<typeof Compile>>()

/** Compiles a schema, or a part of one, on first use. */
function compile(schema: object): ReturnType<typeof Compile> {
  const known = compiled.get(schema)
  if (known) return known
  const made = Compile(counted(schema) as TSchema)
  compiled.set(schema, made)
  return made
}

/** A schema whose length limits are custom checks: the library counts code points, people count characters. */
function counted(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(counted)
  if (typeof part !== 'object' || part === null) return part
  const copy = Object.fromEntries(Object.entries(part).map(([name, member]) => [name, counted(member)]))
  if (copy.type !== 'string') return copy
  const { minLength, maxLength, ...rest } = copy
  const checks = [
    typeof minLength === 'number' && check('minLength', (text) => hasAtLeast(text, minLength)),
    typeof maxLength === 'number' && check('maxLength', (text) => hasAtMost(text, maxLength)),
  ].filter((one) => one !== false)
  return checks.length ? { ...rest, '~refine': checks } : copy
}

/** Reports the keyword it replaces. */
const check = (keyword: 'minLength' | 'maxLength', fits: (text: string) => boolean) => ({
  check: (value: unknown) => typeof value !== 'string' || fits(value),
  error: () => keyword,
})

const request: Request = {
  fits: (schema, value) => compile(schema).Check(value),
  explain: (schema, value) =>
    compile(schema)
      .Errors(value)
      .map((error) => ({
        path: error.instancePath.slice(1).replaceAll('/', '.'),
        message: error.message,
        keyword: error.keyword === '~refine' ? error.params.message : error.keyword,
        params: {
          ...(error.params as Record<string, unknown>),
          ...lengthAt(schema, error),
          ...rangeAt(schema, error),
          ...allowedAt(schema, error),
        },
      })),
}

type Found = { keyword: string; schemaPath: string }

/** The limit that a length check concerns. */
function lengthAt(schema: object, { keyword, schemaPath, params }: Found & { params: object }): { limit?: unknown } {
  if (keyword !== '~refine') return {}
  const { message } = params as { message: string }
  return { limit: (partAt(schema, schemaPath) as Record<string, unknown>)[message] }
}

/** Both ends of a number's range, for a finding about one of them or the type, because error messages name both. */
function rangeAt(schema: object, { keyword, schemaPath }: Found): { range?: [number, number] } {
  if (keyword !== 'minimum' && keyword !== 'maximum' && keyword !== 'type') return {}
  const { minimum, maximum } = partAt(schema, schemaPath) as { minimum?: number; maximum?: number }
  return minimum === undefined || maximum === undefined ? {} : { range: [minimum, maximum] }
}

/** The allowed words of a text, or the allowed members of an object, for a finding about others. */
function allowedAt(schema: object, { keyword, schemaPath }: Found): { allowed?: string[]; allowedValues?: unknown[] } {
  const part = partAt(schema, schemaPath) as { properties?: object; enum?: unknown[] }
  if (keyword === 'type' && part.enum) return { allowedValues: part.enum }
  const isAboutMembers = keyword === 'additionalProperties' || keyword === 'required'
  return isAboutMembers && part.properties ? { allowed: Object.keys(part.properties) } : {}
}

/** The part of a schema that a finding concerns. */
const partAt = (schema: object, schemaPath: string): object =>
  schemaPath
    .split('/')
    .slice(1)
    .reduce<unknown>((node, part) => (node as Record<string, unknown> | undefined)?.[part], schema) ?? {}

/** Checks values against a schema. Compiled on first use. */
export function checker<T extends TSchema>(schema: T) {
  let known: ReturnType<typeof compile> | undefined
  return {
    is: (value: unknown): value is Static<T> => {
      known ??= compile(schema)
      return known.Check(value)
    },
    issues: (value: unknown): Issue[] => findIssues(schema, value, request),
  }
}

/** How a body is read where it does not fit its schema. */
type Reading = {
  /** `absent`: null leaves an optional member out. `refused`: a change, where null could be meant to clear it. */
  nulls?: 'absent' | 'refused'
  /** Names of the members that do not count in this body. */
  ignored?(body: Readonly<Record<string, unknown>>): readonly string[]
  /** `kept` for routes that warn about members of other services. Elsewhere no code may see undeclared members. */
  undeclared?: 'dropped' | 'kept'
}

/**
 * Validates a JSON body: nothing is coerced. Drops members that the schema does not declare, and null for an optional
 * member that has no null (docs/api.md 1.1, 1.4). An optional schema also accepts a missing body.
 * @throws SchemaRefusal
 */
export function checked<T extends TSchema>(
  schema: T,
  { nulls = 'absent', ignored, undeclared = 'dropped' }: Reading = {},
): Standard<T> {
  const check = checker(schema)
  const mayBeAbsent = Type.IsOptional(schema)
  const used = (value: Static<T>) => ({ value: undeclared === 'kept' ? value : declaredOf(schema, value) })
  return standard(schema, (value) => {
    const isAbsent = value === undefined || value === NO_BODY
    if (isAbsent && mayBeAbsent) return { value: undefined as Static<T> }
    if (check.is(value)) return used(value)
    const given = isAbsent ? null : value
    let left = nulls === 'absent' ? withoutNulls(schema, given, request.fits) : given
    if (ignored && typeof left === 'object' && left !== null) {
      const names = ignored(left as Record<string, unknown>)
      left = Object.fromEntries(Object.entries(left).filter(([name]) => !names.includes(name)))
    }
    if (left !== given && check.is(left)) return used(left)
    throw new SchemaRefusal(refuse(check.issues(left)).issues, isAbsent ? value : left)
  })
}

/** `prefix` begins the names of further members, which the schema does not list. */
type ObjectSchema = { properties?: object; prefix?: string; additionalProperties?: unknown }

/** The members that an object schema declares. Other schemas leave a value as it is. */
function declaredOf<T extends TSchema>(schema: T, value: Static<T>): Static<T> {
  const { properties, prefix, additionalProperties } = schema as ObjectSchema
  if (!properties || additionalProperties || typeof value !== 'object' || value === null) return value
  const isDeclared = (name: string) =>
    Object.hasOwn(properties, name) || (prefix !== undefined && name.startsWith(prefix))
  if (Object.keys(value).every(isDeclared)) return value
  return Object.fromEntries(Object.entries(value).filter(([name]) => isDeclared(name))) as Static<T>
}

/**
 * Validates a query string or path. Words become the numbers and booleans that the schema requires. Drops undeclared
 * members. Rejects NUL.
 */
export function checkedQuery<T extends TSchema>(schema: T): Standard<T> {
  const path = checkedPath(schema)
  return standard(schema, (value) => {
    const words = Object.entries(value as Record<string, unknown>)
    const unstorable = words.find(([, word]) => typeof word === 'string' && word.includes('\0'))
    // No stored text contains NUL, and Postgres rejects it even in a query.
    return unstorable === undefined
      ? path['~standard'].validate(value)
      : refuse([
          {
            path: unstorable[0],
            message: 'must not contain the character NUL',
            keyword: 'nul',
            params: {},
          },
        ])
  })
}

/** Like {@link checkedQuery}, but accepts NUL. For paths whose verb checks each id and answers 404 itself. */
export function checkedPath<T extends TSchema>(schema: T): Standard<T> {
  const check = checker(schema)
  return standard(schema, (value) => {
    const converted = Value.Default(schema, spelledOut(schema, value as Record<string, unknown>))
    return check.is(converted) ? { value: declaredOf(schema, converted) } : refuse(check.issues(converted))
  })
}

const WHOLE_NUMBER = /^-?\d{1,15}$/
const DECIMAL = /^-?\d{1,15}(\.\d{1,15})?$/

/** Converts words to the type of their member. A word that does not convert stays a string, which the check rejects. */
function spelledOut(schema: TSchema, words: Record<string, unknown>): Record<string, unknown> {
  const members = (schema as { properties?: Record<string, { type?: string }> }).properties ?? {}
  const read = (name: string, word: unknown): unknown => {
    const type = members[name]?.type
    if (typeof word !== 'string') return word
    if (type === 'integer' && WHOLE_NUMBER.test(word)) return Number(word)
    if (type === 'number' && DECIMAL.test(word)) return Number(word)
    if (type === 'boolean' && (word === 'true' || word === 'false')) return word === 'true'
    return word
  }
  return Object.fromEntries(Object.entries(words).map(([name, word]) => [name, read(name, word)]))
}

/** The schema of an answer: typed and documented, but not checked at run time. The tests check every answer. */
export const described = <T extends TSchema>(schema: T): Standard<T> =>
  standard(schema, (value) => ({ value: value as Static<T> }))

function standard<T extends TSchema>(schema: T, validate: Standard<T>['~standard']['validate']): Standard<T> {
  return { schema, '~standard': { version: 1, vendor: 'svc', validate } }
}

const refuse = (issues: Issue[]) => ({ issues: issues.map((issue) => ({ ...issue, path: issue.path.split('.') })) })

/** Schema of a string that is one of `words`. */
export const oneOf = <const Words extends readonly string[]>(words: Words, options: object = {}) =>
  Type.Unsafe<Words[number]>({ type: 'string', enum: [...words], ...options })

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** Members of an operator's deletion by age, besides the owner. `before` describes which time counts. */
export const deletionMembers = (before: string) => ({
  before: Type.String({ format: 'date-time', description: before }),
  count_only: Type.Optional(Type.Boolean({ description: 'Counts them without deleting' })),
})

/** ISO 8601 in UTC, like every time on the wire. */
export const Timestamp = Type.String({ format: 'date-time' })

export const RequestId = Type.String({ description: 'Same as the X-Request-Id header' })

/** A JSON object with any members. */
export const JsonObject = Type.Record(Type.String(), Type.Unknown())

/** The public shape of a page: `{ <name>: [...], has_more, next_cursor }` (docs/api.md 1.8). */
export const pageOf = <Name extends string, Item extends TSchema>(name: Name, item: Item) =>
  Type.Object({
    ...({ [name]: Type.Array(item) } as { [key in Name]: ReturnType<typeof Type.Array<Item>> }),
    has_more: Type.Boolean(),
    next_cursor: nullable(Type.String()),
  })

/** A list in the format of other services' clients. */
export const listOf = <Item extends TSchema>(item: Item) =>
  Type.Object({
    object: Type.Literal('list'),
    data: Type.Array(item),
    first_id: nullable(Type.String()),
    last_id: nullable(Type.String()),
    has_more: Type.Boolean(),
  })
