import { EngineFailure } from './engine'
import { MOST_WORDS, readRefusal } from './refusals'

/** The failure that an error status and the body with it mean (design 5, contract 22.3). */
export function failureOfStatus(
  status: number,
  retryAfter: string | null | undefined,
  now: number,
  body = '',
): EngineFailure {
  const code = errorCodeOf(body)
  const message = `the upstream answered ${status}${code ? ` (${code})` : ''}`
  if (status === 429) return new EngineFailure('throttled', message, { retryAfterS: readRetryAfter(retryAfter, now) })
  if (status === 408 || status === 504) return new EngineFailure('timeout', message)
  if (status >= 500) return new EngineFailure('server', message)
  const about = readRefusal(status, body)
  if (about) return new EngineFailure('rejected', message, { rejection: { about, words: body.slice(0, MOST_WORDS) } })
  // Everything else, redirects included, says that our own address, key or model is wrong.
  return new EngineFailure(
    'config',
    `${message}: ${CAUSES.get(status) ?? 'it does not take our address, key or model'}`,
  )
}

const CAUSES = new Map([
  [401, 'it refuses our key'],
  [403, 'it does not permit this to our key'],
  [404, 'it knows no such model or address'],
])

/** `Retry-After` as seconds from now, from either of its two forms; undefined when it says nothing usable. */
function readRetryAfter(header: string | null | undefined, now: number): number | undefined {
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
function errorCodeOf(body: string): string {
  const found = /"(?:code|type|status)"\s*:\s*"([a-zA-Z0-9_.-]{1,60})"/.exec(body.slice(0, 4_096))
  return found?.[1] ?? ''
}
