import type { AppError, ErrorKind } from '../kernel/errors'
import { html, PAGE_HEADERS, page } from '../kernel/html'
import {
  described,
  namedObject,
  nullable,
  RequestId,
  type Standard,
  type Static,
  type TSchema,
  t,
} from '../kernel/schema'
import { API } from './context'

export const ErrorBody = namedObject('Error', {
  error: t.Object({
    message: t.String({ description: 'What is wrong, with the value sent, and what to do' }),
    type: t.String(),
    code: t.String(),
    request_id: t.String(),
    param: t.Optional(nullable(t.String())),
    details: t.Optional(t.Array(t.Object({ path: t.String(), message: t.String() }))),
  }),
})
export type ErrorBody = Static<typeof ErrorBody>

/** HTTP status and `type` of each kind of error: the table of docs/api.md 1.5. */
const FACES: Record<ErrorKind, { status: number; type: string }> = {
  invalid: { status: 400, type: 'invalid_request_error' },
  unauthenticated: { status: 401, type: 'authentication_error' },
  unpaid: { status: 402, type: 'billing_error' },
  forbidden: { status: 403, type: 'permission_error' },
  missing: { status: 404, type: 'not_found_error' },
  not_allowed: { status: 405, type: 'invalid_request_error' },
  conflict: { status: 409, type: 'conflict_error' },
  too_large: { status: 413, type: 'invalid_request_error' },
  unsupported: { status: 415, type: 'invalid_request_error' },
  rejected: { status: 422, type: 'invalid_request_error' },
  upgrade: { status: 426, type: 'invalid_request_error' },
  throttled: { status: 429, type: 'rate_limit_error' },
  broken: { status: 500, type: 'api_error' },
  unconfigured: { status: 501, type: 'api_error' },
  upstream: { status: 502, type: 'api_error' },
  unavailable: { status: 503, type: 'api_error' },
  timeout: { status: 504, type: 'api_error' },
}

/** Format of errors on some paths, for clients that expect another envelope. */
export type ErrorFormat = {
  statusOf(error: AppError): number
  bodyOf(error: AppError, requestId: string): object
}

const DEFAULT_RETRY_AFTER_S = 5

export const statusOf = (error: AppError): number => FACES[error.kind].status

export function toEnvelope(error: AppError, requestId: string): ErrorBody {
  const { type } = FACES[error.kind]
  // An error that names one field gets a list with that field.
  return {
    error: {
      message: error.message,
      type,
      code: error.code,
      request_id: requestId,
      ...(error.kind === 'invalid'
        ? {
            param: error.param || null,
            details:
              error.details ?? (error.param === undefined ? [] : [{ path: error.param, message: error.message }]),
          }
        : error.param && { param: error.param }),
    },
    ...error.topLevel,
  }
}

/** Headers of an error: its own, `Retry-After` on every 429 and 503, `WWW-Authenticate` on 401. */
export function errorHeaders(error: AppError): Record<string, string> {
  const headers: Record<string, string> = { ...error.headers }
  if (error.kind === 'unauthenticated') headers['www-authenticate'] ??= 'Bearer'
  if (error.kind === 'throttled' || error.kind === 'unavailable') {
    headers['retry-after'] ??= String(Math.max(1, Math.ceil(error.retryAfterS ?? DEFAULT_RETRY_AFTER_S)))
  }
  return headers
}

/** Errors that stay until the operator connects an engine. */
const UNCONFIGURED: ReadonlySet<string> = new Set(['embeddings_unavailable', 'stt_unavailable', 'tts_unavailable'])

/** The headers of `errorHeaders` and, for API callers, a link to the error's page (docs/operating.md 6.1). */
export function helpfulHeaders(error: AppError): Record<string, string> {
  const status = statusOf(error)
  const isFinal = (status >= 400 && status < 500 && status !== 408 && status !== 429) || UNCONFIGURED.has(error.code)
  return {
    link: `</docs/errors/${error.code}>; rel="help"`,
    // Client packages obey this header. Otherwise they retry errors that cannot succeed, such as a 409 (docs/api.md
    // 29.10), and wait two minutes for an engine that is not configured.
    ...(isFinal ? { 'x-should-retry': 'false' } : {}),
    ...errorHeaders(error),
  }
}

export const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** Declares a route's error statuses for the document. Statuses common to all signed-in routes are added there. */
export const errors = <const Status extends number>(...statuses: Status[]) =>
  Object.fromEntries(statuses.map((status) => [status, described(ErrorBody)])) as Record<
    Status,
    ReturnType<typeof described<typeof ErrorBody>>
  >

/**
 * Declares the answer of a route. The edge adds `request_id` to every object (docs/api.md 1.4), so handlers omit it
 * while the document includes it.
 */
export function answer<T extends TSchema>(schema: T): Answer<T> {
  const { properties, $id, ...rest } = schema as unknown as { properties?: Record<string, TSchema>; $id?: string }
  const named = properties && !('request_id' in properties)
  const options = $id ? { ...rest, $id: `${$id}Reply` } : rest
  const whole = named ? t.Object({ ...properties, request_id: RequestId }, options) : schema
  return described(whole) as unknown as Answer<T>
}

type Handed<Value> = Value extends readonly unknown[] ? Value : Omit<Value, 'request_id'>
type Answer<T extends TSchema> = Omit<Standard<T>, '~standard'> & {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: 'svc'
    readonly types?: { readonly input: Handed<Static<T>>; readonly output: Handed<Static<T>> }
    validate(value: unknown): { value: Handed<Static<T>> }
  }
}

/** The page that a person sees instead of an error's JSON: the problem, the request id, and a link home. */
export function errorPage(error: AppError | null, requestId: string | null): string {
  const isNowhere = error === null || error.kind === 'missing'
  return page(
    isNowhere ? 'Not here' : 'Not done',
    html`<h1>${isNowhere ? 'There is nothing here' : 'This did not work'}</h1>
<p>${isNowhere ? 'The address may be mistyped, or what was here is gone.' : error.message}</p>
${requestId && html`<p class="faint">Request <code>${requestId}</code></p>`}
<p><a href="/">To the start</a></p>`,
  )
}
export const NOWHERE_PAGE = errorPage(null, null)

/** Headers of that page. They vary by `Accept`, because programs that request the same address get JSON. */
export const NOWHERE_HEADERS: Readonly<Record<string, string>> = { ...PAGE_HEADERS, vary: 'Origin, Accept' }

/** True if a browser wants to show the answer as a page. The API always answers with JSON, whatever a call accepts. */
export const isForBrowser = ({ method, headers }: Request, path: string): boolean =>
  (method === 'GET' || method === 'HEAD') &&
  !path.startsWith(`${API}/`) &&
  (headers.get('accept') ?? '').includes('text/html')

/** A multipart body for the document: its files and fields, in JSON Schema. */
export const formBody = (properties: Record<string, object>, required: string[]): object => ({
  requestBody: {
    required: true,
    content: { 'multipart/form-data': { schema: { type: 'object', properties, required } } },
  },
})

/** A file of such a body. */
export const FILE_PART = { type: 'string', contentMediaType: 'application/octet-stream' }
