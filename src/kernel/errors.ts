import { scrub } from './text'
import { isSmall } from './validation-issues'

/**
 * The kind of an error, independent of the surface that reports it.
 * HTTP turns a kind into a status and a type (docs/api.md 1.5), the CLI into an exit code (docs/operating.md 2.5).
 */
export type ErrorKind =
  | 'invalid'
  | 'unauthenticated'
  | 'unpaid'
  | 'forbidden'
  | 'missing'
  | 'not_allowed'
  | 'conflict'
  | 'too_large'
  | 'unsupported'
  | 'rejected'
  | 'upgrade'
  | 'throttled'
  | 'broken'
  | 'unconfigured'
  | 'upstream'
  | 'unavailable'
  | 'timeout'

export type ErrorDetail = { path: string; message: string }

type Extras = {
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
  readonly param: string | undefined
  readonly details: ErrorDetail[] | undefined
  readonly retryAfterS: number | undefined
  readonly headers: Record<string, string> | undefined
  readonly topLevel: Record<string, unknown> | undefined

  constructor(
    readonly kind: ErrorKind,
    readonly code: string,
    message: string,
    extras: Extras = {},
  ) {
    super(message, { cause: extras.cause })
    this.param = extras.param
    this.details = extras.details
    this.retryAfterS = extras.retryAfterS
    this.headers = extras.headers
    this.topLevel = extras.topLevel
  }
}

/** Declares an error with its sentence once, in its module. The code that throws it supplies only the facts. */
export function defineError<Facts extends unknown[]>(
  kind: ErrorKind,
  code: string,
  sentence: (...facts: Facts) => string,
) {
  const raise = (...facts: Facts) => new AppError(kind, code, sentence(...facts))
  return Object.assign(raise, {
    kind,
    code,
    with: (extras: Extras, ...facts: Facts) => new AppError(kind, code, sentence(...facts), extras),
  })
}

/** One error for an id that does not exist, is malformed, or belongs to someone else (docs/api.md 1.5). */
export const notFound = defineError('missing', 'not_found', (what: string) => `No ${what} with this id.`)

export const invalidInput = (path: string, message: string) =>
  new AppError('invalid', 'validation_error', message, { param: path, details: [{ path, message }] })

/** The same error, naming the field with the rejected value. */
export const atField = ({ kind, code, message }: AppError, path: string): AppError =>
  new AppError(kind, code, message, { param: path, details: [{ path, message }] })

/** The same error with its sentence and paths renamed, for bodies that use other member names. */
export const renamed = (
  { kind, code, message, param, details }: AppError,
  rename: (text: string) => string,
): AppError =>
  new AppError(kind, code, rename(message), {
    ...(param === undefined ? {} : { param: rename(param) }),
    ...(details ? { details: details.map((one) => ({ path: rename(one.path), message: rename(one.message) })) } : {}),
  })

/** 400 `org_required`: the request has `scope: "org"` but no organization is active (docs/api.md 18). */
export const orgRequired = (): AppError => {
  const message =
    '"scope" is "org", but no organization is active. Activate one with POST /orgs/{id}/activate, or send "user".'
  return atField(new AppError('invalid', 'org_required', message), 'scope')
}

export const storageUnavailable = defineError(
  'unavailable',
  'storage_unavailable',
  () => 'The database cannot be written to right now. Nothing was changed or charged; try again shortly.',
)

/** The error that ends open streams when the server stops (docs/promises.md I32). */
export const shuttingDown = defineError(
  'unavailable',
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
