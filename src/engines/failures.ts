import { EngineFailure } from './engine'
import { MAX_WORDS, readRefusal } from './refusals'

/** The failure that an error status and the body with it mean (design 5, contract 22.3). */
export function failureOfStatus(status: number, headers: Headers, now: number, body = ''): EngineFailure {
  const code = errorCodeOf(body)
  const message = `the upstream answered ${status}${code ? ` (${code})` : ''}`
  const retryAfterS = readRetryAfter(headers, now)
  if (status === 429) return new EngineFailure('throttled', message, { retryAfterS })
  if (status === 408 || status === 504) return new EngineFailure('timeout', message, { retryAfterS })
  if (status >= 500) return new EngineFailure('server', message, { retryAfterS })
  const about = readRefusal(status, body)
  if (about) return new EngineFailure('rejected', message, { rejection: { about, words: body.slice(0, MAX_WORDS) } })
  // Everything else, redirects included, says that our own address, key or model is wrong.
  return new EngineFailure(
    'config',
    `${message}: ${CAUSES.get(status) ?? 'it does not accept the configured address, key or model'}`,
  )
}

/**
 * The failure for an error that came inside a 200: it means what the same error means with a status of its own
 * (contract 22.3). `wire` is the body or the event that has it.
 */
export function failureOfReport(wire: unknown, headers: Headers, now: number): EngineFailure {
  const body = JSON.stringify(wire)
  const { error } = wire as { error?: unknown }
  const members = typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : {}
  const stated = [members.status, members.code, members.status_code, members.http_code].map(Number)
  const status = stated.find((one) => Number.isInteger(one) && one >= 400 && one < 600)
  return failureOfStatus(status ?? statusOfWords(body.slice(0, MAX_WORDS)), headers, now, body)
}

/** By the identifiers that upstreams use for the kinds of errors. */
const STATUS_OF_WORDS: readonly [RegExp, number][] = [
  [/rate_?limit|too_many_requests|resource_exhausted|quota|throttl/i, 429],
  [/overloaded|unavailable|capacity/i, 503],
  [/context_(?:length|window)|maximum context length|invalid_(?:request|argument)|too_long|bad_request/i, 400],
  [/authentication|invalid_api_key|unauthori[sz]ed/i, 401],
  [/permission/i, 403],
  [/not_found/i, 404],
]

const statusOfWords = (words: string): number => STATUS_OF_WORDS.find(([word]) => word.test(words))?.[1] ?? 500

const CAUSES = new Map([
  [401, 'it refuses the configured key'],
  [403, 'it does not allow this with the configured key'],
  [404, 'it does not know this model or address'],
])

/**
 * Seconds to wait, from `retry-after-ms` or either form of `Retry-After`; fractions count. Undefined when neither says
 * anything usable.
 */
function readRetryAfter(headers: Headers, now: number): number | undefined {
  const ms = headers.get('retry-after-ms')?.trim() ?? ''
  if (/^\d{1,12}(?:\.\d{1,9})?$/.test(ms)) return Number(ms) / 1_000
  const word = headers.get('retry-after')?.trim() ?? ''
  if (/^\d{1,9}(?:\.\d{1,9})?$/.test(word)) return Number(word)
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
