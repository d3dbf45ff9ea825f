import type { Household, Who } from './people'

/** An answer, read whole. `body` is undefined when it is not JSON. */
// biome-ignore lint/suspicious/noExplicitAny: rows look into answers of every shape
export type Reply = { status: number; headers: Headers; text: string; body: any; ms: number }

export type Sending = {
  /** Whose credential; `null` sends none. */
  as?: Who | null
  /** A credential of its own, instead. */
  key?: string
  /** A string or bytes are sent as they are, anything else as JSON. */
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
}

export async function request(
  url: string,
  people: Household,
  method: string,
  path: string,
  { as = 'k1', key, body, headers = {}, signal }: Sending = {},
): Promise<Reply> {
  const credential = key ?? (as === null ? null : people.secrets[as])
  const began = performance.now()
  const response = await fetch(`${url}${path.startsWith('/') ? '' : '/api/v1/'}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(credential === null ? {} : { authorization: `Bearer ${credential}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: encode(body) }),
    ...(signal ? { signal } : {}),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  const reply = {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text ? JSON.parse(text) : undefined,
    ms: performance.now() - began,
  }
  if (method !== 'HEAD') assertShape(reply, `${method} ${path}`)
  return reply
}

const encode = (body: unknown): BodyInit =>
  typeof body === 'string' || body instanceof Uint8Array ? (body as BodyInit) : JSON.stringify(body)

/** The codes of docs/api.md 1.5 that endpoints may answer with, and their statuses. */
const CODES: Record<string, number> = {
  validation_error: 400,
  empty_prompt: 400,
  missing_prompt: 400,
  invalid_format: 400,
  url_blocked: 400,
  org_required: 400,
  routing_preference_invalid: 400,
  guardrail_policy_invalid: 400,
  guardrail_blocked: 400,
  routing_suggest_below_threshold: 400,
  invalid_api_key: 401,
  invalid_session: 401,
  invalid_credentials: 401,
  invalid_token: 401,
  insufficient_credits: 402,
  missing_scope: 403,
  forbidden: 403,
  origin_not_allowed: 403,
  bot_check_failed: 403,
  not_found: 404,
  session_not_found: 404,
  live_view_unavailable: 404,
  method_not_allowed: 405,
  conflict: 409,
  review_failed: 422,
  idempotency_conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limit_exceeded: 429,
  mode_rate_limit_exceeded: 429,
  token_limit_exceeded: 429,
  browser_session_limit: 429,
  server_error: 500,
  browser_unconfigured: 501,
  service_unavailable: 503,
  storage_unavailable: 503,
  engine_unavailable: 503,
  request_timeout: 504,
}

const TYPES =
  /^(invalid_request|authentication|billing|permission|not_found|conflict|rate_limit|api)_error$|^billing_error$/
/** What must never be seen from outside: code, places, queries, vendors. */
const LEAKS =
  /\bat \S+ \(|\.ts:\d+|node_modules|\/work\/|\/tmp\/|SELECT |INSERT |SQLITE|drizzle|acme-vendor|10\.1\.2\.3/i
const LONG_ECHO = /(.)\1{200,}/s
const MAX_MESSAGE_CHARS = 500

/** The shape of every answer: an id on all, the envelope with a code of the contract on refusals. */
function assertShape({ status, headers, text, body }: Reply, what: string): void {
  const wrong = (why: string) => new Error(`${what}: ${status}, ${why}\n${text.slice(0, 600)}`)
  const requestId = headers.get('x-request-id')
  if (!/^(req|tts)_[0-9A-Za-z]{24}$/.test(requestId ?? '')) throw wrong(`X-Request-Id is ${requestId}`)
  if (status < 300) return
  const error = body?.error
  if (!error || typeof error.message !== 'string') throw wrong('no envelope')
  if (status !== 307 && CODES[error.code] !== status) throw wrong(`code ${error.code} does not belong to this status`)
  if (!TYPES.test(error.type)) throw wrong(`type ${error.type}`)
  if (error.request_id !== requestId) throw wrong('request_id is not the header')
  if (LEAKS.test(text)) throw wrong('it tells what is inside')
  if (LONG_ECHO.test(text) || error.message.length > MAX_MESSAGE_CHARS) throw wrong('it echoes too much')
  if ((status === 429 || status === 503) && !/^[1-9]\d*$/.test(headers.get('retry-after') ?? '')) {
    throw wrong('no Retry-After')
  }
}
