import { appendFileSync } from 'node:fs'
import { MessageError } from '../../src/compat/messages-schema'
import { ErrorBody } from '../../src/http/envelope'
import { checker, type TSchema } from '../../src/kernel/schema'

type Json = Record<string, unknown>
type Response = { content?: Record<string, { schema: Json }> }
type Operation = { operationId?: string; responses: Record<string, Response & { $ref?: string }> }
export type Document = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Json>; responses: Record<string, Response> }
}

/** An answer of an operation; those that several share stand once. */
export const responseOf = (operation: Operation, status: string, { components }: Document): Response | undefined => {
  const declared = operation.responses[status]
  return declared?.$ref ? components.responses[declared.$ref.split('/').at(-1)!] : declared
}

export type Conformance = ReturnType<typeof createConformance>

/** One response. `body` is undefined when it is not JSON. */
export type Answer = { method: string; path: string; status: number; headers: Headers; body: unknown }

const API = '/api/v1'
/** A file that takes each success, for the examples of the reference (tests/pages/reference/record.ts). */
const RECORD = process.env.SVC_RECORD
/** Statuses the HTTP edge answers before or without a route (docs/api.md 1.1, 1.5); allowed for every operation. */
const EDGE_STATUSES = new Set([307, 405])

/** Headers of every response (docs/api.md 1.3). */
const HEADERS = [
  'x-request-id',
  ...['limit', 'remaining', 'reset'].flatMap((what) => [`x-ratelimit-${what}-requests`, `x-ratelimit-${what}-tokens`]),
]

/**
 * Checks responses against the OpenAPI document: the status must be declared, and a JSON body must match the schema
 * without undocumented members. Schemas are compiled once.
 */
export function createConformance(document: Document) {
  const shapes = Object.entries(document.paths).map(([path, operations]) => ({
    operations,
    pattern: new RegExp(`^${API}${path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
    isExact: !path.includes('{'),
  }))
  const checkers = new Map<object, ReturnType<typeof checker>>()
  const errorChecker = checker(closed(ErrorBody, document) as unknown as TSchema)
  const messageErrorChecker = checker(closed(MessageError, document) as unknown as TSchema)

  /** Throws with the request and every difference. */
  return function assertConforms(answer: Answer): void {
    const { method, status, body } = answer
    const path = answer.path.split('?')[0]!
    const where = `${method} ${path} answered ${status}`
    assertHeaders(where, answer)
    const operation = operationOf(method, path)
    const declared = operation && responseOf(operation, String(status), document)
    if (!declared) {
      if (operation && !EDGE_STATUSES.has(status))
        throw new Error(`${where}, which the OpenAPI document does not declare`)
      // HTML pages are outside the API and answer errors in HTML.
      if (status >= 400 && (operation || answer.path.startsWith(API)))
        report(where, path.startsWith(`${API}/messages`) ? messageErrorChecker : errorChecker, body)
      return
    }
    if (body === undefined) {
      const type = answer.headers.get('content-type')?.split(';')[0]
      if (status < 300 && type && !declared.content?.[type])
        throw new Error(`${where} with ${type}, which the OpenAPI document does not declare`)
      return
    }
    const schema = declared.content?.['application/json']?.schema
    if (!schema) throw new Error(`${where} with JSON, which the OpenAPI document does not declare`)
    report(where, checkerOf(schema), body)
    if (RECORD && status < 300) appendFileSync(RECORD, `${JSON.stringify([operation?.operationId, body])}\n`)
  }

  function operationOf(method: string, path: string): Operation | undefined {
    const matches = shapes.filter(({ pattern }) => pattern.test(path))
    return (matches.find(({ isExact }) => isExact) ?? matches[0])?.operations[method.toLowerCase()]
  }

  function checkerOf(schema: Json) {
    const known = checkers.get(schema)
    if (known) return known
    const made = checker(closed(schema, document) as unknown as TSchema)
    checkers.set(schema, made)
    return made
  }
}

/**
 * All headers must be there, and the body must repeat the request id; a replayed body keeps its old id (docs/api.md
 * 1.7).
 */
function assertHeaders(where: string, { headers, body }: Answer): void {
  const missing = HEADERS.filter((name) => !headers.has(name))
  if (missing.length) throw new Error(`${where} without ${missing.join(', ')}`)
  const { request_id, error } = (body ?? {}) as { request_id?: string; error?: { request_id?: string } }
  const inBody = error?.request_id ?? request_id
  const inHeader = headers.get('x-request-id')
  if (inBody === undefined || headers.has('x-idempotent-replay') || inBody === inHeader) return
  throw new Error(`${where}: the body names request ${inBody} and the header ${inHeader}`)
}

function report(where: string, check: ReturnType<typeof checker>, body: unknown): void {
  if (check.is(body)) return
  const list = check
    .issues(body)
    .slice(0, 8)
    .map(({ path, message, params }) => `  ${path || 'the body'} ${message} ${JSON.stringify(params)}`)
  throw new Error(
    `${where}, which does not fit the OpenAPI document:\n${list.join('\n')}\n${JSON.stringify(body).slice(0, 600)}`,
  )
}

/** The schema with references resolved and all objects closed, so that undocumented members fail. */
function closed(value: unknown, document: Document): unknown {
  if (Array.isArray(value)) return value.map((part) => closed(part, document))
  if (value === null || typeof value !== 'object') return value
  const { $ref, ...schema } = value as Json
  if (typeof $ref === 'string') return closed(document.components.schemas[$ref.split('/').at(-1)!], document)
  const copy = Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, closed(part, document)]))
  return schema.properties && schema.additionalProperties === undefined
    ? { ...copy, additionalProperties: false }
    : copy
}
