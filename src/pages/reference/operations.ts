/** A JSON Schema of the document. */
export type Schema = {
  $ref?: string
  type?: string | string[]
  format?: string
  pattern?: string
  description?: string
  title?: string
  enum?: unknown[]
  const?: unknown
  default?: unknown
  examples?: unknown[]
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
}

export type Parameter = { name: string; in: string; required: boolean; description?: string; schema: Schema }
type Content = Record<string, { schema: Schema }>
type Described = {
  operationId: string
  summary: string
  description?: string
  tags?: string[]
  security?: object[]
  parameters?: Parameter[]
  requestBody?: { content: Content }
  /** Successes are inline. Errors are shared by all routes, and referenced. */
  responses: Record<string, { description?: string; content?: Content; $ref?: string }>
  'x-required-scope'?: string
  'x-idempotent'?: boolean
  'x-streams'?: boolean | 'only'
  'x-download'?: string
}

/** The parts of our OpenAPI document that the pages are made from. */
export type Document = {
  info: { title: string; version: string; description: string }
  servers: { url: string }[]
  tags: { name: string; description?: string }[]
  paths: Record<string, Record<string, Described>>
  components: { schemas: Record<string, Schema>; responses: Record<string, { description: string }> }
}

/** One route as the pages show it. */
export type Operation = {
  id: string
  method: string
  path: string
  group: string
  summary: string
  description: string | null
  /** Null for a route without a credential. */
  credential: { scope: string | null } | null
  idempotent: boolean
  streams: boolean
  /** The media type of a success that is not JSON. Null for JSON. */
  download: string | null
  parameters: Parameter[]
  /** Null without a body. */
  body: { type: string; schema: Schema } | null
  success: { status: string; schema: Schema | null }
  /** The statuses of errors. */
  errors: number[]
}

/** The routes of one tag, on one page. */
export type Group = { name: string; slug: string; description: string; operations: Operation[] }

/** Resolves the reference of a schema. */
export type Resolve = (schema: Schema) => Schema

/** Follows `$ref`. A component always exists. */
export const resolver =
  ({ components }: Document): Resolve =>
  (schema) => {
    let found = schema
    while (found.$ref) found = components.schemas[found.$ref.split('/').at(-1)!]!
    return found
  }

/** The groups of the document in its order, each with its routes. */
export function groupsOf({ tags, paths }: Document): Group[] {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => toOperation(method.toUpperCase(), path, described)),
  )
  return tags.map(({ name, description = '' }) => ({
    name,
    slug: name.toLowerCase().replaceAll(' ', '-'),
    description,
    operations: all.filter(({ group }) => group === name),
  }))
}

function toOperation(method: string, path: string, described: Described): Operation {
  const { operationId, summary, description, tags, security, parameters, requestBody, responses } = described
  const [body] = Object.entries(requestBody?.content ?? {})
  const [status, success] = Object.entries(responses).find(([word]) => word.startsWith('2'))!
  return {
    id: operationId,
    method,
    path,
    group: tags?.[0] ?? 'Other',
    summary,
    description: description ?? null,
    credential: security?.length === 0 ? null : { scope: described['x-required-scope'] ?? null },
    idempotent: described['x-idempotent'] === true,
    streams: described['x-streams'] !== undefined,
    download: described['x-download'] ?? null,
    parameters: parameters ?? [],
    body: body ? { type: body[0], schema: body[1].schema } : null,
    success: { status, schema: success.content?.['application/json']?.schema ?? null },
    errors: Object.keys(responses)
      .map(Number)
      .filter((code) => code >= 400),
  }
}
