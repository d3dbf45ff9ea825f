import { bodyOf } from './bodies'
import { exampleOf } from './example'
import { aboutOf, type Member, membersOf, typeOf } from './members'
import type { Group, Operation, Resolve } from './operations'
import { answerExample } from './recorded'
import { samplesOf } from './samples'
import { ERROR_PAGES } from './schema'
import { fenced, json, sections, table } from './write'

/** An id that stands in the samples where a real one belongs. */
const SOME_ID = '3f0c9a52-7b1e-4c57-9d7a-2f6f1b1c8e10'

/** The page of one group: each route with what it takes, samples, an answer and its errors (dx 5.5). */
export const groupPage = ({ name, description, operations }: Group, resolve: Resolve, base: string): string =>
  sections(
    `# ${name}`,
    description,
    operations.map((one) => `- [${one.summary}](#${one.id}): \`${one.method} ${one.path}\``).join('\n'),
    ...operations.map((operation) => operationOf(operation, resolve, base)),
  )

function operationOf(operation: Operation, resolve: Resolve, base: string): string {
  const { id, method, path, summary, description, parameters, body } = operation
  const samples = samplesOf({ operation, base, path: filled(operation, resolve), body: bodyOf(operation, resolve) })
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
    fenced('sh', samples.curl),
    fenced('ts', samples.typescript),
    fenced('python', samples.python),
    answerOf(operation, resolve),
    errorsOf(operation),
  )
}

function membersTable(head: string, members: readonly Member[]): string | null {
  if (members.length === 0) return null
  return table(
    [head, 'Type', 'About'],
    members.map(({ name, type, required, about }) => [`\`${name}\`${required ? ' (required)' : ''}`, type, about]),
  )
}

function factsOf({ credential, idempotent, streams }: Operation): string {
  const facts = [
    credential ? `Needs a key${credential.scope ? ` with the scope \`${credential.scope}\`` : ''}.` : 'Needs no key.',
    idempotent && 'Takes an `Idempotency-Key`.',
    streams && 'Can answer as a stream of events (`text/event-stream`).',
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

/** The codes that this route can answer with, each with a link to what it means. */
function errorsOf({ errors, group, credential }: Operation): string {
  const codes = Object.entries(ERROR_PAGES).filter(
    ([code, { status, groups }]) =>
      errors.includes(status) &&
      (!groups || groups.includes(group)) &&
      (credential !== null || !['invalid_api_key', 'invalid_session', 'origin_not_allowed'].includes(code)),
  )
  return `Errors: ${codes.map(([code, { status }]) => `${status} [\`${code}\`](/docs/errors/${code})`).join(', ')}.`
}

/** The path with sample ids, and the query parameters that are required. */
function filled({ path, parameters }: Operation, resolve: Resolve): string {
  const ids = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const schema = parameters.find((one) => one.in === 'path' && one.name === name)?.schema ?? {}
    const value = exampleOf(schema, resolve, { whole: false })
    return encodeURIComponent(value === 'example' ? SOME_ID : String(value))
  })
  const query = parameters
    .filter((one) => one.in === 'query' && one.required)
    .map(
      ({ name, schema }) => `${name}=${encodeURIComponent(String(exampleOf(schema, resolve, { whole: false }, name)))}`,
    )
  return query.length ? `${ids}?${query.join('&')}` : ids
}
