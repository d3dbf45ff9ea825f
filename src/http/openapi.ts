import type { Standard, TSchema } from '../kernel/schema'
import { ErrorBody } from './envelope'

type Detail = { summary?: string; description?: string; tags?: string[]; security?: object[]; hide?: boolean } & Record<
  string,
  unknown
>
type Hooks = {
  detail?: Detail
  body?: Standard<TSchema>
  query?: Standard<TSchema>
  params?: Standard<TSchema>
  response?: Record<string, Standard<TSchema>> | Standard<TSchema>
}
type Route = { method: string; path: string; hooks: Hooks }
type Json = Record<string, unknown>

type Info = { title: string; version: string; description: string; serverUrl: string }

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
  415: 'Not JSON',
  422: 'Review failed',
  429: 'Rate limited; see Retry-After',
  500: 'Internal error',
  503: 'Unavailable; see Retry-After',
  504: 'Timed out',
}

const RESPONSE_HEADERS = {
  'X-Request-Id': { schema: { type: 'string' }, description: 'Names this request in every log and record' },
}

/**
 * The OpenAPI 3.1 document, made from the routes themselves: schemas with an `$id` become components,
 * scopes come from the guard. Nothing in it is written by hand twice.
 */
export function toOpenApi(routes: readonly Route[], info: Info): Json {
  const schemas: Record<string, Json> = {}
  const paths: Record<string, Record<string, Json>> = {}
  const hoist = createHoister(schemas)
  hoist(ErrorBody)
  for (const { method, path, hooks } of routes) {
    if (hooks.detail?.hide || !path.startsWith('/api/v1')) continue
    const address = path.replace('/api/v1', '').replace(/:([A-Za-z]+)\??/g, '{$1}') || '/'
    paths[address] ??= {}
    paths[address][method.toLowerCase()] = operation(method, path, hooks, hoist)
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
    tags: [...new Set(routes.flatMap(({ hooks }) => hooks.detail?.tags ?? []))].map((name) => ({ name })),
    paths,
    components: {
      schemas,
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

type Hoist = (schema: unknown) => Json

function operation(method: string, path: string, hooks: Hooks, hoist: Hoist): Json {
  const { detail = {} } = hooks
  const { summary = '', description, tags, security, ...extensions } = detail
  return {
    operationId: operationId(method, path),
    summary,
    ...(description ? { description } : {}),
    ...(tags ? { tags } : {}),
    ...(security ? { security } : {}),
    ...extensions,
    ...parametersOf(path, hooks, hoist),
    ...(hooks.body ? { requestBody: { required: true, content: json(hoist(hooks.body.schema)) } } : {}),
    responses: responsesOf(hooks, hoist, extensions['x-streams'] === true),
  }
}

const operationId = (method: string, path: string): string =>
  [method.toLowerCase(), ...path.replace('/api/v1', '').split('/').filter(Boolean)]
    .map((part) =>
      part.replace(/^:/, 'by-').replace(/[^A-Za-z0-9]+(.)?/g, (_, next: string = '') => next.toUpperCase()),
    )
    .map((part, place) => (place ? part.charAt(0).toUpperCase() + part.slice(1) : part))
    .join('')

function parametersOf(path: string, { params, query }: Hooks, hoist: Hoist): Json {
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
  const parameters = [...inPath, ...inQuery]
  return parameters.length ? { parameters } : {}
}

const members = (standard: Standard<TSchema> | undefined): Record<string, unknown> =>
  ((standard?.schema as { properties?: Record<string, unknown> } | undefined)?.properties ?? {}) as Record<
    string,
    unknown
  >

function responsesOf({ response = {} }: Hooks, hoist: Hoist, streams: boolean): Json {
  const byStatus =
    'schema' in response ? { 200: response as Standard<TSchema> } : (response as Record<string, Standard<TSchema>>)
  const entries = Object.entries(byStatus).map(([status, { schema }]) => {
    const content: Json = json(hoist(schema))
    if (streams && status === '200') content['text/event-stream'] = { schema: { type: 'string' } }
    return [status, { description: STATUS_WORDS[status] ?? 'Answer', headers: RESPONSE_HEADERS, content }]
  })
  return Object.fromEntries(entries)
}

const json = (schema: Json): Json => ({ 'application/json': { schema } })

/** Copies a schema, moving every part that has a name into `schemas` and leaving a reference behind. */
function createHoister(schemas: Record<string, Json>): Hoist {
  const VERBATIM = new Set(['enum', 'const', 'default', 'examples', 'required'])
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk)
    if (value === null || typeof value !== 'object') return value
    const { $id, ...rest } = value as Json & { $id?: string }
    const copy = () =>
      Object.fromEntries(
        Object.entries(rest)
          .filter(([key]) => !key.startsWith('~'))
          .map(([key, part]) => [key, VERBATIM.has(key) ? part : walk(part)]),
      )
    if (typeof $id !== 'string') return copy()
    if (!(($id as string) in schemas)) {
      schemas[$id] = {}
      schemas[$id] = copy()
    }
    return { $ref: `#/components/schemas/${$id}` }
  }
  return (schema) => walk(schema) as Json
}
