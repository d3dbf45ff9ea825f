import { scrub } from './text'
import { isSmall } from './validation-issues'

/** The codes of errors (docs/api.md 1.5), by their kind, which does not depend on the surface that reports them. */
const CODES = {
  invalid: [
    'client_closed',
    'context_length_exceeded',
    'empty_prompt',
    'guardrail_blocked',
    'guardrail_policy_invalid',
    'invalid_format',
    'missing_fields',
    'missing_file',
    'missing_prompt',
    'missing_text',
    'org_required',
    'routing_preference_invalid',
    'routing_suggest_below_threshold',
    'url_blocked',
    'validation_error',
  ],
  unauthenticated: ['invalid_api_key', 'invalid_credentials', 'invalid_session', 'invalid_token'],
  unpaid: ['insufficient_credits'],
  forbidden: ['bot_check_failed', 'forbidden', 'missing_scope', 'origin_not_allowed'],
  missing: ['live_view_unavailable', 'not_found', 'previous_response_not_found', 'session_not_found'],
  not_allowed: ['method_not_allowed'],
  conflict: ['conflict', 'idempotency_conflict', 'team_billing_setup_required'],
  too_large: ['payload_too_large'],
  unsupported: ['unsupported_media_type'],
  rejected: ['review_failed'],
  throttled: ['browser_session_limit', 'mode_rate_limit_exceeded', 'rate_limit_exceeded', 'token_limit_exceeded'],
  broken: ['server_error'],
  unconfigured: ['browser_unconfigured'],
  upstream: ['stt_provider_error', 'tts_provider_error'],
  unavailable: [
    'embeddings_unavailable',
    'engine_unavailable',
    'queue_unavailable',
    'service_unavailable',
    'storage_unavailable',
    'stt_unavailable',
    'tts_unavailable',
    'voice_unavailable',
  ],
  timeout: ['request_timeout'],
} as const

/** HTTP turns it into a status and a type (docs/api.md 1.5), the CLI into an exit code (docs/operating.md 2.5). */
export type ErrorKind = keyof typeof CODES | 'upgrade'
export type ErrorCode = (typeof CODES)[keyof typeof CODES][number]

const KINDS = new Map<string, ErrorKind>(
  Object.entries(CODES).flatMap(([kind, codes]) => codes.map((code) => [code, kind as ErrorKind] as const)),
)

export type ErrorDetail = { path: string; message: string }

type Extras = {
  /** If it is not the kind of the code. */
  kind?: 'upgrade'
  /** The offending field, for `error.param`. */
  param?: string
  details?: ErrorDetail[]
  /** Whole seconds for `Retry-After`. */
  retryAfterS?: number
  headers?: Record<string, string>
  /** Members at the top level of the body, beside `error`, if the contract defines some. */
  topLevel?: Record<string, unknown>
  cause?: unknown
}

export class AppError extends Error {
  override name = 'AppError'
  readonly kind: ErrorKind
  readonly param: string | undefined
  readonly details: ErrorDetail[] | undefined
  readonly retryAfterS: number | undefined
  readonly headers: Record<string, string> | undefined
  readonly topLevel: Record<string, unknown> | undefined

  constructor(
    readonly code: ErrorCode,
    message: string,
    extras: Extras = {},
  ) {
    super(message, { cause: extras.cause })
    this.kind = extras.kind ?? KINDS.get(code) ?? 'broken'
    this.param = extras.param
    this.details = extras.details
    this.retryAfterS = extras.retryAfterS
    this.headers = extras.headers
    this.topLevel = extras.topLevel
  }
}

/** Declares an error with its sentence once, in its module. The code that throws it supplies only the facts. */
export function defineError<Facts extends unknown[]>(code: ErrorCode, sentence: (...facts: Facts) => string) {
  const raise = (...facts: Facts) => new AppError(code, sentence(...facts))
  return Object.assign(raise, {
    code,
    with: (extras: Extras, ...facts: Facts) => new AppError(code, sentence(...facts), extras),
  })
}

type Raised<Sentence> = Sentence extends (...facts: infer Facts) => string
  ? ReturnType<typeof defineError<Facts>>
  : ReturnType<typeof defineError<[]>>

/**
 * Like `defineError`, for the errors of a module that have the same code. A sentence without facts is a text:
 *
 *     const keyErrors = defineErrors('conflict', { taken: (name: string) => `"${name}" is in use.`, ended: 'It ended.' })
 *     throw keyErrors.taken('ci')
 */
export const defineErrors = <Sentences extends Record<string, string | ((...facts: never[]) => string)>>(
  code: ErrorCode,
  sentences: Sentences,
) =>
  Object.fromEntries(
    Object.entries(sentences).map(([name, sentence]) => [
      name,
      defineError(code, typeof sentence === 'string' ? () => sentence : sentence),
    ]),
  ) as unknown as { readonly [Name in keyof Sentences]: Raised<Sentences[Name]> }

/** One error for an id that does not exist, is malformed, or belongs to someone else (docs/api.md 1.5). */
export const notFound = defineError('not_found', (what: string) => `No ${what} with this id.`)

export const invalidInput = (path: string, message: string) =>
  new AppError('validation_error', message, { param: path, details: [{ path, message }] })

/** The same error, naming the field with the rejected value. */
export const atField = ({ code, message }: AppError, path: string): AppError =>
  new AppError(code, message, { param: path, details: [{ path, message }] })

/** The same error with its sentence and paths renamed, for bodies that use other member names. */
export const renamed = ({ code, message, param, details }: AppError, rename: (text: string) => string): AppError =>
  new AppError(code, rename(message), {
    ...(param === undefined ? {} : { param: rename(param) }),
    ...(details ? { details: details.map((one) => ({ path: rename(one.path), message: rename(one.message) })) } : {}),
  })

/** 400 `org_required`: the request has `scope: "org"` but no organization is active (docs/api.md 18). */
export const orgRequired = (): AppError => {
  const message =
    '"scope" is "org", but no organization is active. Activate one with POST /orgs/{id}/activate, or send "user".'
  return atField(new AppError('org_required', message), 'scope')
}

export const storageUnavailable = defineError(
  'storage_unavailable',
  () => 'The database cannot be written to right now. Nothing was changed or charged; try again shortly.',
)

/** The error that ends open streams when the server stops (docs/promises.md I32). */
export const shuttingDown = defineError(
  'service_unavailable',
  () => 'The server is restarting. Try again in a few seconds.',
)

const MAX_QUOTED = 80

/** A caller's value for an error sentence. Strings are quoted: `"0.9"` differs from 0.9 (docs/operating.md 6.1). */
export const messageOf = (value: unknown): string => (typeof value === 'string' ? `"${quoted(value)}"` : quoted(value))

/** A caller's value without quotes: short, without control characters and secrets (docs/operating.md 6.1). */
export const quoted = (value: unknown): string => {
  const clean = scrub(written(value).slice(0, 4 * MAX_QUOTED)).replace(/[\p{Cc}\p{Cf}]/gu, '·')
  return clean.length > MAX_QUOTED ? `${clean.slice(0, MAX_QUOTED - 1)}…` : clean
}

/** Describes a large value instead of serializing it, which would block the event loop (docs/promises.md I28). */
function written(value: unknown): string {
  if (typeof value === 'string') return value
  if (isSmall(value)) return JSON.stringify(value) ?? String(value)
  return Array.isArray(value) ? `a list of ${value.length} entries` : 'a large object'
}
