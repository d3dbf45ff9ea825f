import { samplesOf } from '../kernel/samples'
import { bodyOf, pathOf } from './bodies'
import { ANSWERING } from './errors-refused'
import { aboutOf, type Member, membersOf, typeOf } from './members'
import type { Group, Operation, Resolve } from './operations'
import { answerExample } from './recorded'
import { ERROR_PAGES } from './schema'
import { fenced, json, sections, table } from './write'

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
    samplesText(operation, resolve, base),
    answerOf(operation, resolve),
    errorsOf(operation),
  )
}

/** The samples of one route, which the script of the page turns into tabs. */
export function samplesText(operation: Operation, resolve: Resolve, base: string): string {
  const { method, credential, streams, download } = operation
  const samples = samplesOf({
    method,
    url: `${base}${pathOf(operation, resolve)}`,
    keyed: credential !== null,
    uploads: operation.body?.type === 'multipart/form-data',
    streams: streams && method === 'GET',
    download,
    body: bodyOf(operation, resolve),
  })
  return sections(fenced('sh', samples.curl), fenced('ts', samples.typescript), fenced('python', samples.python))
}

function membersTable(head: string, members: readonly Member[]): string | null {
  if (members.length === 0) return null
  return table(
    [head, 'Type', 'About'],
    members.map(({ name, type, required, about }) => [`\`${name}\`${required ? ' (required)' : ''}`, type, about]),
  )
}

function factsOf({ credential, idempotent, streams, group, errors }: Operation): string {
  const facts = [
    credential ? `Needs a key${credential.scope ? ` with the scope \`${credential.scope}\`` : ''}.` : 'Needs no key.',
    idempotent && 'Takes an `Idempotency-Key`.',
    streams && 'Can stream the answer (`text/event-stream`).',
    errors.includes(429) && limitsOf(group, credential !== null),
  ]
  return facts.filter(Boolean).join(' ')
}

/** What a call counts towards (contract 18). */
function limitsOf(group: string, isKeyed: boolean): string {
  if (!isKeyed) return "Counts towards the requests per minute of the sender's address."
  const counted = ANSWERING.includes(group)
    ? 'requests and tokens per minute of the key, and the requests of the mode'
    : 'requests per minute of the key'
  return `Counts towards the ${counted} ([limits](/docs/rate-limits)).`
}

function answerOf(operation: Operation, resolve: Resolve): string {
  const { download, success } = operation
  const { status, schema } = success
  if (download) return `Answers ${status} with \`${download}\`.`
  if (!schema) return `Answers ${status}.`
  return sections(`Answers ${status}:`, fenced('json', json(answerExample(operation, resolve))))
}

/** The heads of the tables that are shown folded. */
export const ERROR_HEADS = ['Status', 'Error', 'Means', 'What to do']

/** The codes that this route can answer with: what each means, and the cure. */
function errorsOf({ errors, group, credential }: Operation): string {
  const codes = Object.entries(ERROR_PAGES).filter(
    ([code, { status, groups }]) =>
      errors.includes(status) &&
      (!groups || groups.includes(group)) &&
      (credential !== null || !['invalid_api_key', 'invalid_session', 'origin_not_allowed'].includes(code)),
  )
  return table(
    ERROR_HEADS,
    codes.map(([code, { status, meaning, cure }]) => [
      String(status),
      `[\`${code}\`](/docs/errors/${code})`,
      meaning,
      cure,
    ]),
  )
}
