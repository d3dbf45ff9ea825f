import { open, seal } from '../kernel/crypto'
import { isRefusedPort } from '../kernel/outbound'
import type { WebhookId } from './schema'
import type { Lane, WebhookRow } from './table'

/** Encryption context that binds a secret to its webhook. */
export const contextOf = (id: WebhookId): string => `webhook ${id}`

export type Secrets = ReturnType<typeof createSecrets>

/** Result of an attempt. `status` is null when no answer came. */
export type Answer = { status: number | null; retryAfter: string | null; failure: Failure | null }
/** Why no answer came. A forbidden IP address stays forbidden (`never_allowed`). A name may change its address. */
export type Failure = 'dns' | 'connect' | 'tls' | 'timeout' | 'reset' | 'not_allowed' | 'never_allowed'
/** `next` in epoch milliseconds. Null for no further attempt. */
export type Verdict = { ok: boolean; message: string | null; next: number | null; gone: boolean }

/** The address of a webhook without one. Its deliveries wait for a listener. */
export const LISTEN = 'listen:'

/** True if an address is on the reader's own machine, as programs in development have, and its port is not refused. */
export const isOwnMachine = (url: string): boolean =>
  !isRefusedPort(Number(URL.parse(url)?.port)) &&
  /^https?:\/\/(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?(\/[\w./%~-]{0,40})?$/i.test(url)

/** How long a webhook without an address lives after the last request for deliveries. */
export const LISTEN_MS = 60_000

const LONGEST_RETRY_AFTER_MS = 12 * 3_600_000
const JITTER = 0.1
const AUTO_DISABLE = { failures: 20, afterMs: 120 * 3_600_000 }
/** After this many failures in a row, deliveries are sent one by one and in a separate lane (docs/promises.md I18). */
const SLOW_FROM = 3

/** The lane of a webhook: with receivers that answer, or apart from them. */
export const laneFor = ({ failure_count }: Pick<WebhookRow, 'failure_count'>): Lane =>
  failure_count >= SLOW_FROM ? 'slow' : 'steady'

/** Parses the seconds before each attempt. Returns milliseconds. */
export const readSchedule = (text: string): number[] => text.split(',').map((seconds) => Number(seconds) * 1_000)

/**
 * Judges one attempt (docs/api.md 14.3). Any 2xx is success. No answer, 3xx, 408, 425, 429 and 5xx are retried on
 * schedule, and `Retry-After` counts up to 12 hours. 410 disables the webhook. Other 4xx are final. `random` is 0 to 1.
 */
export function outcomeOf(
  { status, retryAfter, failure }: Answer,
  { attempt, schedule, now, random }: { attempt: number; schedule: readonly number[]; now: number; random: number },
): Verdict {
  if (status !== null && status >= 200 && status < 300) return { ok: true, message: null, next: null, gone: false }
  const message =
    status !== null
      ? `http_${Math.floor(status / 100)}xx`
      : failure === 'not_allowed' || failure === 'never_allowed'
        ? 'destination not allowed'
        : failure!
  const delay = schedule[attempt]
  const isPassing =
    status === null
      ? failure !== 'never_allowed'
      : status < 400 || status >= 500 || status === 408 || status === 425 || status === 429
  if (delay === undefined || !isPassing) return { ok: false, message, next: null, gone: status === 410 }
  const planned = delay * (1 + JITTER * (2 * random - 1))
  return { ok: false, message, next: Math.round(now + Math.max(planned, requestedMs(retryAfter, now))), gone: false }
}

/** The wait that `Retry-After` requests, in milliseconds. 0 without it, for a past date, and for an invalid value. */
function requestedMs(header: string | null, now: number): number {
  if (header === null) return 0
  const text = header.trim()
  // Of the three forms of a date, the one that ends in its year names no zone. It means GMT (RFC 9110 5.6.7).
  const date = / \d{4}$/.test(text) ? `${text} GMT` : text
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : /[a-z]/i.test(text) ? Date.parse(date) - now : 0
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), LONGEST_RETRY_AFTER_MS)
}

type Streak = Pick<WebhookRow, 'failure_count' | 'failing_since'>

/** The streak of failures after more results, in order. A success ends it. */
export function streakAfter(before: Streak, results: readonly { ok: boolean; at: number }[]): Streak {
  let streak = before
  for (const { ok, at } of results) {
    streak = ok
      ? { failure_count: 0, failing_since: null }
      : { failure_count: streak.failure_count + 1, failing_since: streak.failing_since ?? at }
  }
  return streak
}

/** True if the webhook failed so long and so often that it must be disabled. Time alone does not suffice. */
export const hasFailedTooLong = ({ failure_count, failing_since }: Streak, now: number): boolean =>
  failing_since !== null && failure_count >= AUTO_DISABLE.failures && now - failing_since >= AUTO_DISABLE.afterMs

/** Signing secrets, encrypted at rest and bound to their webhook (docs/api.md 14.1). */
export function createSecrets(masterKey: Uint8Array) {
  return {
    seal: (id: WebhookId, secret: string): string => seal(masterKey, contextOf(id), secret),

    /** The signing secret. During a rotation with grace, also the previous one. */
    of(
      { id, secret, previous_secret, previous_until }: WebhookRow,
      now: number,
    ): { secret: string; previous?: string } {
      const isGrace = previous_secret !== null && previous_until !== null && previous_until > now
      return {
        secret: open(masterKey, contextOf(id), secret),
        ...(isGrace ? { previous: open(masterKey, contextOf(id), previous_secret) } : {}),
      }
    },
  }
}
