import type { Standard, TSchema } from '../kernel/schema'
import { API } from './context'
import { ErrorBody } from './envelope'

type Json = Record<string, unknown>

/** Turns a schema of a module into the schema shown in the document. */
type Hoist = (schema: unknown) => Json

/** Keywords whose value is data, not a schema. */
const VERBATIM = new Set(['enum', 'const', 'default', 'examples', 'required'])

/** Keywords whose value maps names to schemas. A member named like a keyword is not a keyword there. */
const BY_NAME = new Set(['properties', 'patternProperties', '$defs'])

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
  529: 'No engine answers at the moment',
}

const header = (description: string, schema: Json = { type: 'string' }): Json => ({ description, schema })

const count = { type: 'integer' }

const wait = { type: 'string', pattern: '^\\d+s$' }

/** The headers of docs/api.md 1.3. */
const HEADERS: Json = {
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

const { 'Retry-After': retry, 'X-Idempotent-Replay': replay, ...STATE } = HEADERS

const refer = (headers: Json): Json =>
  Object.fromEntries(Object.keys(headers).map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const ON_EVERY_ANSWER = refer(STATE)

const WITH_RETRY = refer({ ...STATE, 'Retry-After': retry })

const WITH_REPLAY = refer({ ...STATE, 'X-Idempotent-Replay': replay })

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

/** Shapes of error answers that many routes share. */
const REFUSAL_SHAPES: ReadonlySet<unknown> = new Set(['Error', 'MessageError'])

/** The description of each group of routes, in the order of the document. */
const TAGS: Record<string, string> = {
  Completions: 'Answers to prompts, in the native format.',
  Chat: 'Answers to messages, in the chat-completions format.',
  Responses: 'Answers in the Responses format, which may be stored and gone on from.',
  Messages: 'Answers to messages, in the Messages format.',
  Embeddings: 'Texts as vectors.',
  Models: 'The engines and the modes they serve.',
  'Test cases': 'Requests with what must be true of their answers, run on several engines.',
  Tools: 'Tools that engines can call.',
  Skills: 'Instructions, knowledge and tools for answers: write, review, publish and install them.',
  Workflows: 'Steps that run on a trigger: by schedule, event or request, with approvals.',
  Canvases: 'Skills drawn as graphs of nodes and edges: edit, compile, test and publish them.',
  Conversations: 'Stored conversations that you continue by id.',
  Research: 'Reports from many sources, with citations you can verify.',
  Images: 'Pictures from a description.',
  Jobs: 'Work that outlives its request: progress, results and cancellation.',
  Videos: 'Short clips from a description, as jobs.',
  Browser: 'Sessions of a real browser that an agent controls and a person can watch.',
  Audio: 'Speech from text, text from speech, and live voice sessions.',
  Code: 'Programs and projects that an engine writes, as files.',
  Documents: 'PDF, Office and CSV files from a prompt, or from your text and data.',
  Channels: 'Messaging channels and their status.',
  Hooks: 'Skills that run when an event happens, with their history.',
  Webhooks: 'Addresses that receive signed events, with a log of deliveries.',
  Events: 'Publish your own events, and read past ones.',
  Widgets: 'Chats on your website: appearance, conversations, and takeover by a person.',
  'Widget visitors': 'What a widget calls from your page: an allowed origin and a chat token replace the key.',
  Batches: 'Many calls in one file, answered within a day.',
  Files: 'Files that you send once and name by their id.',
  Artifacts: 'Files from answers and jobs, with links that work for an hour.',
  Memory: 'Facts and preferences used in later answers.',
  'API keys': 'Keys, their scopes, limits and caps.',
  Guardrails: 'Policies that block, redact or flag prompts, answers and tool calls.',
  'Routing preferences': 'Rules for the mode and engine of prompts sent in mode `auto`.',
  Organizations: 'Organizations, their members, roles and invitations.',
  Settings: 'Your preferences.',
  Accounts: 'Sign-up, dashboard sessions and the signed-in user.',
  'Rate limits': 'Requests and tokens per minute, and requests for a higher tier.',
  'Saved views': 'Sections of the console with their filters, kept under a name.',
  Usage: 'Reports and exports of calls, tokens, costs and latency.',
  Billing: 'Buying credit, spending caps, low-balance notices and automatic top-up.',
  Audit: 'The tamper-evident audit events of your account.',
  Health: 'Whether the server and its parts work.',
  Document: 'This document.',
}

const ORDER = Object.keys(TAGS)

type Detail = {
  summary?: string
  description?: string
  tags?: string[]
  security?: object[]
  hide?: boolean
} & Json
type Hooks = {
  detail?: Detail
  body?: Standard<TSchema>
  query?: Standard<TSchema>
  params?: Standard<TSchema>
  response?: Record<string, Standard<TSchema>> | Standard<TSchema>
}
type Info = { title: string; version: string; description: string; serverUrl: string }

/**
 * Generates the OpenAPI 3.1 document from the routes. Schemas with an `$id` become components, and scopes come from the
 * guard. Nothing in it is written by hand twice.
 */
export function toOpenApi(routes: readonly { method: string; path: string; hooks: Hooks }[], info: Info): Json {
  const schemas: Record<string, Json> = {}
  const responses: Record<string, Json> = {}
  const paths: Record<string, Json> = {}
  const hoist = createHoister(schemas)
  hoist(ErrorBody)
  const shown = routes.filter(({ path, hooks }) => path.startsWith(`${API}/`) && !hooks.detail?.hide)
  for (const { method, path, hooks } of shown) {
    const address = path.slice(API.length).replace(/:([A-Za-z]+)\??/g, '{$1}')
    paths[address] = { ...paths[address], [method.toLowerCase()]: operation(method, path, hooks, { hoist, responses }) }
  }
  // The `tags` of the document: those in use, each with its description.
  const names = [...new Set(shown.flatMap(({ hooks }) => hooks.detail?.tags ?? []))].sort(
    (a, b) => ORDER.indexOf(a) - ORDER.indexOf(b),
  )
  return {
    openapi: '3.1.1',
    info: {
      title: info.title,
      version: info.version,
      description: info.description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: info.serverUrl }],
    security: [{ bearer: [] }],
    tags: names.map((name) => ({ name, ...(TAGS[name] ? { description: TAGS[name] } : {}) })),
    paths,
    components: {
      schemas,
      responses,
      headers: HEADERS,
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, `svc_sk_…`, or a dashboard session, `svc_ds_…`',
        },
      },
    },
  }
}

/** Collected while building: schemas and error answers that several routes share. */
type Shared = { hoist: Hoist; responses: Record<string, Json> }

function operation(method: string, path: string, hooks: Hooks, shared: Shared): Json {
  const { hoist } = shared
  const { summary = '', description, tags, security, edge: _, ...extensions } = hooks.detail ?? {}
  return {
    operationId: operationId(method, path),
    summary,
    ...(description ? { description } : {}),
    ...(tags ? { tags } : {}),
    ...(security ? { security } : {}),
    ...extensions,
    ...parametersOf(path, hooks, hoist),
    ...(hooks.body ? { requestBody: { required: true, content: json(hoist(hooks.body.schema)) } } : {}),
    responses: responsesOf(path, hooks, shared),
  }
}

/** `GET /keys/:id` as `getKeysById`. */
const operationId = (method: string, path: string): string =>
  [method.toLowerCase(), ...path.slice(API.length).split('/').filter(Boolean)]
    .map((part) =>
      part.replace(/^:/, 'by-').replace(/[^A-Za-z0-9]+(.)?/g, (_, next: string = '') => next.toUpperCase()),
    )
    .map((part, place) => (place ? part.charAt(0).toUpperCase() + part.slice(1) : part))
    .join('')

function parametersOf(path: string, { params, query, detail }: Hooks, hoist: Hoist): Json {
  const inPath = [...path.matchAll(/:([A-Za-z]+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: hoist(members(params)[name!] ?? { type: 'string' }),
  }))
  const required = ((query?.schema as { required?: string[] } | undefined)?.required ?? []) as string[]
  const inQuery = Object.entries(members(query)).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name) && !('default' in (schema as object)),
    schema: hoist(schema),
  }))
  const inHeader = detail?.['x-idempotent'] === true ? [IDEMPOTENCY_KEY] : []
  const parameters = [...inPath, ...inQuery, ...inHeader]
  return parameters.length ? { parameters } : {}
}

/** The header parameter of idempotent routes (docs/api.md 1.7). */
const IDEMPOTENCY_KEY: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes retries safe: for 24 hours the same request with the same key gets the first answer again instead of running twice. Ignored for streams.',
  schema: { type: 'string', minLength: 1, maxLength: 256, pattern: '^[A-Za-z0-9\\-_.:]+$' },
}

const members = (standard: Standard<TSchema> | undefined): Json =>
  ((standard?.schema as { properties?: Json } | undefined)?.properties ?? {}) as Json

/** The answers that a route declares, and those that every route of its kind can give (docs/api.md 1.5). */
function responsesOf(path: string, hooks: Hooks, { hoist, responses }: Shared): Json {
  const { response = {}, detail = {}, body, query } = hooks
  const declared =
    'schema' in response ? { 200: response as Standard<TSchema> } : (response as Record<string, Standard<TSchema>>)
  const isOpen = detail.security?.length === 0
  const statuses = statusesOf({
    declared,
    isOpen,
    hasBody: !!body,
    hasQuery: !!query,
    hasId: path.includes(':'),
    isIdempotent: detail['x-idempotent'] === true,
  })
  return Object.fromEntries(
    statuses.map(({ status, schema, description, headers, isRefusal }) => {
      if (isRefusal) {
        // An error answer with the error envelope is the same for every route, so the document has it once.
        const name = `${String((schema as Json).$id)}${status}`
        responses[name] ??= { description, headers, content: json(hoist(schema)) }
        return [status, { $ref: `#/components/responses/${name}` }]
      }
      if (detail['x-download'] && status === '200') {
        const orJson = detail['x-or-json'] === true ? json(hoist(schema)) : {}
        const orLines = detail['x-or-lines'] === true ? { 'application/jsonl': text } : {}
        const content = { [String(detail['x-download'])]: text, ...orLines, ...orJson }
        return [status, { description, headers, content }]
      }
      // A stream only: each event is one of these, as server-sent events.
      if (detail['x-streams'] === 'only' && status === '200')
        return [status, { description, headers, content: { 'text/event-stream': { schema: hoist(schema) } } }]
      const content = json(hoist(schema))
      if (detail['x-streams'] === true && status === '200') content['text/event-stream'] = text
      return [status, { description, headers, content }]
    }),
  )
}

const text: Json = { schema: { type: 'string' } }
const json = (schema: Json): Json => ({ 'application/json': { schema } })

/** Every status a route can answer with, in order: its declared ones, and those that the edge adds for its kind. */
function statusesOf({ declared, isOpen, hasBody, hasQuery, hasId, isIdempotent }: Kind): Documented[] {
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
    isRefusal: Number(status) >= 400 && REFUSAL_SHAPES.has((schema as Json).$id),
  }))
}

function headersOf(status: string, isIdempotent: boolean): Json {
  if (status === '429' || status === '503') return WITH_RETRY
  return isIdempotent && status.startsWith('2') ? WITH_REPLAY : ON_EVERY_ANSWER
}

/**
 * Copies a schema. Each part with an `$id` moves to `schemas` and is replaced by a reference. Throws if two different
 * schemas have the same `$id`, because the document would show one in place of both.
 */
function createHoister(schemas: Record<string, Json>): Hoist {
  const sources = new Map<string, unknown>()
  const copy = (schema: Json): Json =>
    Object.fromEntries(
      Object.entries(schema)
        .filter(([key]) => !key.startsWith('~'))
        .map(([key, part]) => [key, VERBATIM.has(key) ? part : BY_NAME.has(key) ? walkEach(part) : walk(part)]),
    )

  const walkEach = (named: unknown): Json =>
    Object.fromEntries(Object.entries(named as Json).map(([name, part]) => [name, walk(part)]))

  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk)
    if (value === null || typeof value !== 'object') return value
    const { $id, ...rest } = value as Json & { $id?: string }
    if (typeof $id !== 'string') return copy(rest)
    const known = schemas[$id]
    if (!known) schemas[$id] = copy(rest)
    else if (sources.get($id) !== value && !Bun.deepEquals(known, copy(rest)))
      throw new Error(`Two schemas of the document have the $id "${$id}"`)
    sources.set($id, value)
    return { $ref: `#/components/schemas/${$id}` }
  }
  return (schema) => walk(schema) as Json
}
