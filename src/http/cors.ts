/** Response headers that a page may read: all headers that the contract names. */
export const EXPOSED_HEADERS = [
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

/** CORS headers for an origin that the key allows; none for any other origin (contract 1.1). */
export function corsHeaders(origin: string | null, allowed: readonly string[]): Record<string, string> {
  if (!origin || !allowed.includes(origin)) return {}
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': EXPOSED_HEADERS,
    vary: 'Origin',
  }
}
