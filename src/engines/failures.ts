import { EngineFailure } from './engine'

/** The failure that an error status of an upstream means (reliability 4). `note` is a short code, never free text. */
export function failureOfStatus(
  status: number,
  retryAfter: string | null | undefined,
  now: number,
  note = '',
): EngineFailure {
  const message = `the upstream answered ${status}${note ? ` (${note})` : ''}`
  if (status === 429) return new EngineFailure('throttled', message, { retryAfterS: readRetryAfter(retryAfter, now) })
  if (status === 408 || status === 504) return new EngineFailure('timeout', message)
  if (status >= 500) return new EngineFailure('server', message)
  // Everything else, redirects included, says that our own address, key, model or request is wrong.
  return new EngineFailure('config', message)
}

/** `Retry-After` as seconds from now, from either of its two forms; undefined when it says nothing usable. */
export function readRetryAfter(header: string | null | undefined, now: number): number | undefined {
  if (!header) return undefined
  const word = header.trim()
  if (/^\d{1,9}$/.test(word)) return Number(word)
  // Only dates that begin with a weekday, because `Date.parse` reads "-1" as a date as well.
  const seconds = /^[A-Z][a-z]{2},/.test(word) ? (Date.parse(word) - now) / 1_000 : Number.NaN
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : undefined
}

/** The failure for an exception of a call: there was no connection, or it broke. */
export function failureOfError(error: unknown): EngineFailure {
  if (error instanceof EngineFailure) return error
  return new EngineFailure('refused', 'no connection to the upstream, or it broke off', { cause: error })
}

/**
 * The machine-readable part of an upstream's error body. Only a short identifier is taken: the rest may
 * quote the prompt, which no log may hold (I19).
 */
export function errorCodeOf(body: string): string {
  const found = /"(?:code|type|status)"\s*:\s*"([a-zA-Z0-9_.-]{1,60})"/.exec(body.slice(0, 4_096))
  return found?.[1] ?? ''
}
