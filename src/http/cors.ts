/** Response headers that a page may read: all headers that the contract names. */
const EXPOSED_HEADERS = [
  'X-Request-Id',
  'Retry-After',
  'X-Ratelimit-Limit-Requests',
  'X-Ratelimit-Remaining-Requests',
  'X-Ratelimit-Reset-Requests',
  'X-Ratelimit-Limit-Tokens',
  'X-Ratelimit-Remaining-Tokens',
  'X-Ratelimit-Reset-Tokens',
  'X-Cache',
  'X-Idempotent-Replay',
  'X-Has-More',
  'X-Next-Cursor',
  'Link',
].join(', ')

/** The origins whose pages may read an answer. `anyone` is for answers that belong to no account. */
export type Readers = readonly string[] | 'anyone'

/**
 * CORS headers: an origin that the key allows is echoed, no other is (contract 1.1). What anyone may read is open to
 * every page by `*`, which browsers never combine with cookies.
 */
export function corsHeaders(origin: string | null, readers: Readers): Record<string, string> {
  const open = readers === 'anyone'
  if (!origin || !(open || readers.includes(origin))) return {}
  return { 'access-control-allow-origin': open ? '*' : origin, 'access-control-expose-headers': EXPOSED_HEADERS }
}

const ALWAYS_ALLOWED = 'authorization, content-type, idempotency-key, cache-control'
const HEADER_NAMES = /^[\w\-, ]{1,2048}$/

/**
 * Headers for a CORS preflight; null when the request is none. A preflight carries no credential, so the key's origins
 * are not known yet: every origin may send the call, with whatever headers its client library adds, and the call's own
 * answer decides whether the page may read it.
 */
export function preflightHeaders(headers: Headers, methods: readonly string[]): Record<string, string> | null {
  const [origin, method] = [headers.get('origin'), headers.get('access-control-request-method')]
  if (!origin || !method || !methods.includes(method)) return null
  const question = headers.get('access-control-request-headers') ?? ''
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-methods': method,
    'access-control-allow-headers': HEADER_NAMES.test(question) ? question : ALWAYS_ALLOWED,
    'access-control-expose-headers': EXPOSED_HEADERS,
    'access-control-max-age': '600',
    vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
  }
}
