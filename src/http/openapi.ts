import type { Standard, TSchema } from '../kernel/schema'
import { API } from './context'
import { ErrorBody } from './envelope'
import { createHoister, type Hoist, type Json } from './openapi-hoist'
import { HEADERS, refusalName, statusesOf } from './openapi-responses'
import { describeTags } from './openapi-tags'

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
type Route = { method: string; path: string; hooks: Hooks }

type Info = { title: string; version: string; description: string; serverUrl: string }

/**
 * Generates the OpenAPI 3.1 document from the routes: schemas with an `$id` become components, scopes come from the
 * guard. Nothing in it is written by hand twice.
 */
export function toOpenApi(routes: readonly Route[], info: Info): Json {
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
    tags: describeTags(shown.flatMap(({ hooks }) => hooks.detail?.tags ?? [])),
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

/** What is collected on the way: schemas and refusals that several routes share. */
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

/** The header parameter of idempotent routes (contract 1.7). */
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

/** The answers a route declares, and those that every route of its kind can give (contract 1.5). */
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
        responses[refusalName(status)] ??= { description, headers, content: json(hoist(schema)) }
        return [status, { $ref: `#/components/responses/${refusalName(status)}` }]
      }
      if (detail['x-download'] && status === '200') {
        const orJson = detail['x-or-json'] === true ? json(hoist(schema)) : {}
        const orLines = detail['x-or-lines'] === true ? { 'application/jsonl': text } : {}
        const content = { [String(detail['x-download'])]: text, ...orLines, ...orJson }
        return [status, { description, headers, content }]
      }
      // Nothing but events: each is one of these, in the form of server-sent events.
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
