import { ANSWERING, ERROR_PAGES, type ErrorPage } from './error-pages'
import { answerExample, bodyOf, pathOf } from './examples'
import type { Group, Operation, Resolve, Schema } from './operations'
import { type Samples, samplesOf } from './samples'
import { fenced, json, sections, table } from './write'

/** One member of a body or an answer, as a row of a table. `name` is its path, such as `usage.total_tokens`. */
type Member = { name: string; type: string; required: boolean; about: string }

/** Maximum depth of nested members. */
const DEPTH = 3

/** The page of one group: each route with its parameters, samples, an answer and its errors (docs/operating.md 5.5). */
export const groupPage = ({ name, description, operations }: Group, resolve: Resolve, base: string): string =>
  sections(
    `# ${name}`,
    description,
    operations.map((one) => `- [${one.summary}](#${one.id}): \`${one.method} ${one.path}\``).join('\n'),
    ...operations.map((operation) => operationOf(operation, resolve, base)),
  )

function operationOf(operation: Operation, resolve: Resolve, base: string): string {
  const { id, method, path, summary, description, parameters, body } = operation
  const { curl, typescript, python } = samplesFor(operation, resolve, base)
  return sections(
    `## ${summary} {#${id}}`,
    `\`${method} /api/v1${path}\``,
    description && `${description}.`.replace(/\.\.$/, '.'),
    factsOf(operation),
    parameters.length > 0 &&
      table(
        ['Parameter', 'In', 'Type', 'About'],
        parameters.map(({ name, in: place, required, description: about, schema }) => [
          `\`${name}\`${required ? ' (required)' : ''}`,
          place,
          typeOf(schema, resolve),
          about ?? aboutOf(schema, resolve),
        ]),
      ),
    body && membersTable('Member of the body', membersOf(body.schema, resolve)),
    fenced('sh', curl),
    fenced('ts', typescript),
    fenced('python', python),
    answerOf(operation, resolve),
    table(
      ['Status', 'Error', 'Means', 'What to do'],
      codesOf(operation).map(([code, { status, meaning, cure }]) => [
        String(status),
        `[\`${code}\`](/docs/errors/${code})`,
        meaning,
        cure,
      ]),
    ),
  )
}

/** The samples of one route, with the address of the reader's server. */
export const samplesFor = (operation: Operation, resolve: Resolve, base: string): Samples =>
  samplesOf({
    method: operation.method,
    url: `${base}${pathOf(operation, resolve)}`,
    keyed: operation.credential !== null,
    uploads: operation.body?.type === 'multipart/form-data',
    streams: operation.streams && operation.method === 'GET',
    download: operation.download,
    body: bodyOf(operation, resolve),
  })

function membersTable(head: string, members: readonly Member[]): string | null {
  if (members.length === 0) return null
  return table(
    [head, 'Type', 'About'],
    members.map(({ name, type, required, about }) => [`\`${name}\`${required ? ' (required)' : ''}`, type, about]),
  )
}

/** Who may call a route, what it accepts, and which limits a call counts towards (docs/api.md 18). */
export function factsOf({ credential, idempotent, streams, group, errors }: Operation): string {
  const counted = !credential
    ? "requests per minute of the sender's address"
    : ANSWERING.includes(group)
      ? 'requests and tokens per minute of the key, and the requests of the mode'
      : 'requests per minute of the key'
  const facts = [
    credential ? `Needs a key${credential.scope ? ` with the scope \`${credential.scope}\`` : ''}.` : 'Needs no key.',
    idempotent && 'Takes an `Idempotency-Key`.',
    streams && 'Can stream the answer (`text/event-stream`).',
    errors.includes(429) && `Counts towards the ${counted}.`,
  ]
  return facts.filter(Boolean).join(' ')
}

function answerOf(operation: Operation, resolve: Resolve): string {
  const { download, success } = operation
  const { status, schema } = success
  if (download) return `Answers ${status} with \`${download}\`.`
  if (!schema) return `Answers ${status}.`
  return sections(`Answers ${status}:`, fenced('json', json(answerExample(operation, resolve))))
}

/** The errors that a route can answer with, by code. */
export const codesOf = ({ errors, group, credential }: Operation): [string, ErrorPage][] =>
  Object.entries(ERROR_PAGES).filter(
    ([code, { status, groups }]) =>
      // Clients of the Messages API get another status for it.
      (errors.includes(status) || (code === 'engine_unavailable' && errors.includes(529))) &&
      (!groups || groups.includes(group)) &&
      (credential !== null || !['invalid_api_key', 'invalid_session', 'origin_not_allowed'].includes(code)),
  )

/** The members of an object schema, including nested ones. Empty for other schemas. */
function membersOf(schema: Schema, resolve: Resolve, prefix = '', depth = DEPTH): Member[] {
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

/** The only choice besides null. The schema itself if there are several. */
function withoutNull(schema: Schema, resolve: Resolve): Schema {
  const choices = (resolve(schema).anyOf ?? []).filter((choice) => choice.type !== 'null')
  return choices.length === 1 ? choices[0]! : schema
}

/** A schema's type in few words: `string`, `one of "a", "b"`, `list of object or null`. */
function typeOf(schema: Schema, resolve: Resolve): string {
  const { type, enum: among, const: only, items, anyOf, oneOf } = resolve(schema)
  if (only !== undefined) return JSON.stringify(only)
  if (among) return among.map((one) => JSON.stringify(one)).join(', ')
  const choices = anyOf ?? oneOf
  if (choices) return [...new Set(choices.map((choice) => typeOf(choice, resolve)))].join(' or ')
  if (items) return `list of ${typeOf(items, resolve)}`
  return Array.isArray(type) ? type.join(' or ') : (type ?? 'any')
}

/** The description of a member, with its bounds and its default. */
function aboutOf(schema: Schema, resolve: Resolve): string {
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

function range(unit: string, min: number | undefined, max: number | undefined): string | null {
  if (min !== undefined && max !== undefined) return `${min}–${max}${unit}`
  if (max !== undefined) return `at most ${max}${unit}`
  return min !== undefined && min > 0 ? `at least ${min}${unit}` : null
}
