import type { Standard, TSchema } from '../kernel/schema'
import { ErrorBody } from './envelope'
import type { Json } from './openapi-hoist'

const STATUS_WORDS: Record<string, string> = {
  200: 'Done',
  201: 'Created',
  202: 'Accepted',
  400: 'Invalid parameters',
  401: 'Missing or invalid credential',
  402: 'Insufficient credits',
  403: 'Insufficient permissions or scope',
  404: 'Not found',
  409: 'Conflict',
  413: 'Body too large',
  415: 'Unsupported media type',
  422: 'Review failed',
  429: 'Rate limited; see Retry-After',
  500: 'Internal error',
  501: 'Not configured on this server',
  502: 'An engine failed; retry',
  503: 'Unavailable; see Retry-After',
  504: 'Timed out',
}

const header = (description: string, schema: Json = { type: 'string' }): Json => ({ description, schema })
const count = { type: 'integer' }
const wait = { type: 'string', pattern: '^\\d+s$' }

/** The headers of contract 1.3. */
export const HEADERS: Json = {
  'X-Request-Id': header('Id of this request in logs, audit events and usage rows'),
  'X-Ratelimit-Limit-Requests': header('Requests allowed per minute', count),
  'X-Ratelimit-Remaining-Requests': header('Requests left in this minute', count),
  'X-Ratelimit-Reset-Requests': header('Time until the full limit is available again, such as `58s`', wait),
  'X-Ratelimit-Limit-Tokens': header('Tokens allowed per minute', count),
  'X-Ratelimit-Remaining-Tokens': header('Tokens left in this minute', count),
  'X-Ratelimit-Reset-Tokens': header('Time until the full limit is available again, such as `58s`', wait),
  'Retry-After': header('Seconds to wait before the next try', count),
  'X-Idempotent-Replay': header(
    '`true` if this is the stored answer of an earlier request with the same Idempotency-Key',
  ),
}

const { 'Retry-After': retry, 'X-Idempotent-Replay': replay, ...STANDING } = HEADERS
const refer = (headers: Json): Json =>
  Object.fromEntries(Object.keys(headers).map((name) => [name, { $ref: `#/components/headers/${name}` }]))
const ON_EVERY_ANSWER = refer(STANDING)
const WITH_RETRY = refer({ ...STANDING, 'Retry-After': retry })
const WITH_REPLAY = refer({ ...STANDING, 'X-Idempotent-Replay': replay })

type Kind = {
  declared: Record<string, Standard<TSchema>>
  /** The route needs no credential. */
  isOpen: boolean
  hasBody: boolean
  hasQuery: boolean
  /** The path contains a resource id. */
  hasId: boolean
  /** The route accepts an Idempotency-Key. */
  isIdempotent: boolean
}

type Documented = { status: string; schema: TSchema; description: string; headers: Json; isRefusal: boolean }

/** Where a refusal with the error envelope stands, which is the same for every route. */
export const refusalName = (status: string): string => `Error${status}`

/** Every status a route can answer with, in order: its declared ones, and those the edge adds for its kind. */
export function statusesOf({ declared, isOpen, hasBody, hasQuery, hasId, isIdempotent }: Kind): Documented[] {
  const implied = [
    ...(isOpen ? [] : [401, 403, 429]),
    ...(hasBody ? [400, 415] : []),
    ...(hasQuery ? [400] : []),
    ...(hasId ? [404] : []),
    ...(isIdempotent ? [400, 409] : []),
    413,
    500,
    503,
    504,
  ]
  const schemas: Record<string, TSchema> = Object.fromEntries(implied.map((status) => [status, ErrorBody]))
  for (const [status, { schema }] of Object.entries(declared)) schemas[status] = schema
  return Object.entries(schemas).map(([status, schema]) => ({
    status,
    schema,
    description: STATUS_WORDS[status] ?? 'Answer',
    headers: headersOf(status, isIdempotent),
    isRefusal: schema === ErrorBody,
  }))
}

function headersOf(status: string, isIdempotent: boolean): Json {
  if (status === '429' || status === '503') return WITH_RETRY
  return isIdempotent && status.startsWith('2') ? WITH_REPLAY : ON_EVERY_ANSWER
}
