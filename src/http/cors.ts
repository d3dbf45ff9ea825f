/** Echoes an origin only when it is among those the key allows; otherwise says nothing (contract 1.1). */
export function corsHeaders(origin: string | null, allowed: readonly string[]): Record<string, string> {
  if (!origin || !allowed.includes(origin)) return {}
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers':
      'X-Request-Id, Retry-After, X-Ratelimit-Limit-Requests, X-Ratelimit-Remaining-Requests, X-Ratelimit-Reset-Requests, ' +
      'X-Ratelimit-Limit-Tokens, X-Ratelimit-Remaining-Tokens, X-Ratelimit-Reset-Tokens, X-Idempotent-Replay, Link',
    vary: 'Origin',
  }
}
