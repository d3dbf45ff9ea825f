import { peek, type Server } from 'bun'
import type { Replay, Ticket } from '../idempotency'
import { requireScope, type TenantCaller } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { AppError, defineError } from '../kernel/errors'
import { failpoint } from '../kernel/failpoint'
import { newRequestId } from '../kernel/ids'
import { errorFields, type Log } from '../kernel/log'
import { assertBodyHeaders, hasBody } from './body'
import type { EnterRequest } from './connections'
import {
  assertHost,
  type ClientAddress,
  corsHeaders,
  type Exchange,
  pathOf,
  preflightHeaders,
  type Readers,
  routeName,
  WITHOUT_ADDRESS,
} from './context'
import {
  type ErrorFormat,
  errorPage,
  helpfulHeaders,
  isForBrowser,
  isPlainObject,
  NOWHERE_HEADERS,
  statusOf,
  toEnvelope,
} from './envelope'
import { logFault, toAppError } from './faults'
import { givenBack } from './guard'
import type { AccessLog } from './metrics'
import type { RouteRule, RouteRules } from './route-rules'

/** Time limit of every request, except on routes that declare `timeLimit: 'own'` (docs/api.md 1.9). */
const LIMIT_MS = 30_000

const givenUp = defineError(
  'request_timeout',
  () =>
    `This took longer than ${LIMIT_MS / 1_000} s and was stopped. A change may still have been made. Check before you send it again, or use an Idempotency-Key.`,
)

export type EdgeDeps = {
  clock: Clock
  log: Log
  accessLog: AccessLog
  /** Throws 401. */
  authenticate(request: Request): TenantCaller | Promise<TenantCaller>
  /** Throws 403 when the key does not allow the browser's origin. */
  assertOrigin(caller: TenantCaller, request: Request): void
  /** Counts the request. Throws 429 `rate_limit_exceeded`. */
  admit(caller: TenantCaller): void | Promise<void>
  /** Counts a 4xx answer to an authenticated caller (docs/api.md 18.1). */
  refused(caller: TenantCaller, error: Error | null): void
  /** Adds the six rate limit headers of docs/api.md 1.3, for the caller, or without one for the client's address. */
  addRates(headers: Headers, exchange: Exchange, counts?: boolean): unknown
  /** Origins of pages that may read answers to this caller. */
  allowedOrigins(caller: TenantCaller): readonly string[]
  /** The canonical URL that a request to the apex host is redirected to. Null for other hosts (docs/api.md 1.1). */
  canonicalUrl(request: Request): string | null
  /** True for a request that only checks whether a server answers, as some clients send before their calls. */
  isProbe(method: string, path: string): boolean
  /** The rules of the routes. Complete once all routes are registered. */
  rules: Pick<RouteRules, 'at' | 'of' | 'methodsOf'>
  /** The error format of a path. Null for the default format. */
  errorFormatOf(path: string): ErrorFormat | null
  /** Additional headers of an answer, computed from its other headers. */
  moreHeaders(path: string, headers: Record<string, unknown>): Record<string, string> | null
  /** Suggests a path to call instead of one that does not exist. Null for most. */
  insteadOf(path: string): string | null
  /** Counts the open requests of an address until they authenticate. Null if connections are counted instead. */
  enter: EnterRequest | null
  /** Called for each authenticated request. */
  authenticated(request: Request, server: Server<unknown> | null): void
  /** Finds the client's address behind trusted proxies. */
  clientAddress: ClientAddress
  secure: boolean
  /** Aborts when the server is about to stop. From then on, connections end with their answer, and none is cut. */
  leaving: AbortSignal
}

export type Headers = Record<string, string | number | string[] | undefined>

/** Errors that can occur while a body is still arriving. */
const CUT_SHORT = new Set<string>(['payload_too_large', 'request_timeout', 'service_unavailable'])

/** Maximum silence of a connection while a request is answered, and after it. Bun allows no longer one. */
const SILENT_S = 255
/**
 * After an error, the rest of a body is read for a few seconds, because clients of a connection that closes at once
 * often never see the answer. Bun counts in steps of four seconds, so this is four to eight. 4 could close a connection
 * during its next request.
 */
const FAREWELL_S = 8

/** A class, because one is created for every request and its functions are rarely called. */
class Arrived implements Exchange {
  readonly requestId: string
  readonly startedAt: number
  readonly method: string
  readonly notes: Exchange['notes'] = {}
  leave: (() => void) | null = null
  readers: readonly string[] | null = null
  caller: TenantCaller | null = null
  streaming = false
  follows = false
  errorCode: string | null = null
  ticket: Ticket | null = null
  replay: Replay | null = null

  constructor(
    private readonly deps: EdgeDeps,
    private readonly request: Request,
    private readonly server: Server<unknown> | null,
    readonly path: string,
    readonly rule: RouteRule,
  ) {
    this.requestId = newRequestId(rule.idPrefix)
    this.startedAt = deps.clock.monotonic()
    this.method = request.method
  }

  ip(): string {
    const peer = this.server?.requestIP(this.request)?.address || WITHOUT_ADDRESS
    return this.deps.clientAddress(peer, this.request.headers.get('x-forwarded-for'))
  }

  keepOpen(): void {
    this.server?.timeout(this.request, 0)
  }

  known(): void {
    this.deps.authenticated(this.request, this.server)
    endRequest(this)
  }

  hangUp(): void {
    this.server?.timeout(this.request, FAREWELL_S)
  }
}

/** Starts a request. Pass `path` and `rule` of its route if they are known. */
export function startRequest(
  deps: EdgeDeps,
  request: Request,
  server: Server<unknown> | null,
  path = pathOf(request.url),
  rule = deps.rules.at(request.method, path),
): Exchange {
  server?.timeout(request, SILENT_S)
  return new Arrived(deps, request, server, path, rule)
}

/** Uncounts the request from the open requests of its address. */
export function endRequest(exchange: Exchange): void {
  exchange.leave?.()
  exchange.leave = null
}

/** Sets the headers that every answer has. */
export function setStateHeaders({ secure, leaving }: EdgeDeps, { requestId }: Exchange, headers: Headers): void {
  headers['x-request-id'] ??= requestId
  headers['x-content-type-options'] = 'nosniff'
  headers['cache-control'] ??= 'no-store'
  headers.vary ??= 'Origin'
  if (leaving.aborted) headers.connection = 'close'
  if (secure) headers['strict-transport-security'] = 'max-age=31536000; includeSubDomains'
}

/** The answer to a request that needs no route: to another host, a CORS preflight, a probe. Null for all others. */
export function answerBefore(
  deps: EdgeDeps,
  exchange: Exchange,
  request: Request,
  headers: Record<string, string>,
): Response | null {
  const { method } = request
  const elsewhere = deps.canonicalUrl(request)
  const allowed = method === 'OPTIONS' ? preflightHeaders(request.headers, deps.rules.methodsOf(exchange.path)) : null
  if (elsewhere === null && allowed === null && !deps.isProbe(method, exchange.path)) return null
  deps.addRates(headers, exchange, allowed === null)
  if (allowed) Object.assign(headers, allowed)
  return elsewhere
    ? redirect(elsewhere, exchange.requestId, headers)
    : new Response(null, { status: allowed ? 204 : 200, headers })
}

function redirect(location: string, requestId: string, headers: Record<string, string>): Response {
  const message = `This server answers at ${location}. Call that address directly: most clients drop the Authorization header on a redirect.`
  const elsewhere = new AppError('not_found', message)
  return Response.json(toEnvelope(elsewhere, requestId), { status: 307, headers: { ...headers, location } })
}

/**
 * Checks credential, origin, request rate, host and the body's headers, in the order of docs/api.md 1.5. Returns a
 * promise only if it must wait.
 */
export function check(deps: EdgeDeps, exchange: Exchange, request: Request): void | Promise<void> {
  if (deps.enter) exchange.leave = deps.enter(exchange.ip())
  if (exchange.rule.open) return assertSound(deps, exchange, request)
  const caller = deps.authenticate(request)
  return caller instanceof Promise
    ? caller.then((found) => checkCaller(deps, exchange, request, found))
    : checkCaller(deps, exchange, request, caller)
}

function checkCaller(deps: EdgeDeps, exchange: Exchange, request: Request, caller: TenantCaller): void | Promise<void> {
  exchange.caller = caller
  exchange.known()
  failpoint('after_auth')
  deps.assertOrigin(caller, request)
  const admitted = deps.admit(caller)
  return admitted instanceof Promise
    ? admitted.then(() => assertSound(deps, exchange, request))
    : assertSound(deps, exchange, request)
}

function assertSound({ rules }: EdgeDeps, { rule, path, caller }: Exchange, request: Request): void {
  assertHost(request)
  try {
    assertBodyHeaders(request, rule)
  } catch (refusal) {
    // If no route would read the body, its headers do not matter. The answer is then 404 or 405.
    if (!rules.methodsOf(path).includes(request.method)) return
    // The scope is checked before the body (docs/api.md 1.5).
    if (caller && rule.scope) requireScope(caller, rule.scope, routeName(request.method, path))
    throw refusal
  }
}

/** Adds the headers that depend on the caller: rates, and which pages may read the answer. */
function addHeaders(deps: EdgeDeps, exchange: Exchange, request: Request, headers: Headers): void {
  deps.addRates(headers, exchange)
  const more = deps.moreHeaders(exchange.path, headers)
  if (more) Object.assign(headers, more)
  const origin = request.headers.get('origin')
  if (origin) Object.assign(headers, corsHeaders(origin, readersOf(deps, exchange)))
}

/** Completes a route's answer: its headers, its `request_id`, and the end of a connection with an unread body. */
export function complete(deps: EdgeDeps, exchange: Exchange, request: Request, headers: Headers, body: unknown): void {
  addHeaders(deps, exchange, request, headers)
  if (!request.bodyUsed && hasBody(request)) exchange.hangUp()
  if (isPlainObject(body)) body.request_id ??= exchange.requestId
}

/** Clients that try a WebSocket first continue with HTTP after this status (docs/api.md 29.7). */
const onlyHttp = defineError(
  'validation_error',
  () => 'This address speaks HTTP and server-sent events, no WebSocket. Send POST, with "stream": true for a stream.',
)

/** Answers a thrown value. `code` tells in which phase the framework caught it. */
export function refuse(
  deps: EdgeDeps,
  exchange: Exchange,
  request: Request,
  headers: Headers,
  { code, error }: { code?: unknown; error: unknown },
): { status: number; body: unknown } {
  const found = toAppError(code, error, exchange.path, { methodsOf: deps.rules.methodsOf, insteadOf: deps.insteadOf })
  const known =
    found.kind === 'not_allowed' && request.headers.has('upgrade') ? onlyHttp.with({ kind: 'upgrade' }) : found
  logFault(deps.log, exchange.requestId, known, error)
  countRefusal(deps, exchange, statusOf(known), known)
  const { status, body } = errorAnswer(deps, exchange, request, headers, known)
  if ((!request.bodyUsed || CUT_SHORT.has(known.code)) && hasBody(request)) exchange.hangUp()
  if (isForBrowser(request, exchange.path)) {
    Object.assign(headers, NOWHERE_HEADERS)
    return { status, body: errorPage(known, exchange.requestId) }
  }
  return { status, body: exchange.ticket ? givenBack(exchange, body) : body }
}

/** Counts a 4xx answer to an authenticated caller. */
export function countRefusal(
  { refused }: EdgeDeps,
  { caller }: Exchange,
  status: number,
  error: AppError | null,
): void {
  if (caller && status >= 400 && status < 500) refused(caller, error)
}

/** An error in the format for clients of its path, with its headers. */
function errorAnswer(deps: EdgeDeps, exchange: Exchange, request: Request, headers: Headers, error: AppError) {
  exchange.errorCode = error.code
  setStateHeaders(deps, exchange, headers)
  Object.assign(headers, helpfulHeaders(error))
  addHeaders(deps, exchange, request, headers)
  const face = deps.errorFormatOf(exchange.path)
  return face
    ? { status: face.statusOf(error), body: face.bodyOf(error, exchange.requestId) }
    : { status: statusOf(error), body: toEnvelope(error, exchange.requestId) }
}

/**
 * The origins that may read an answer. Without a credential, pages may read only public documents, and errors about a
 * missing or wrong credential. They may not read sign-in, sign-up and pages with a form.
 */
function readersOf({ allowedOrigins }: EdgeDeps, { caller, method, rule, readers }: Exchange): Readers {
  if (readers) return readers
  if (caller) return allowedOrigins(caller)
  return method === 'OPTIONS' ? [] : rule.readers
}

/**
 * The answer of a request, or 504 `request_timeout` after 30 s. The work then continues, its result is dropped, and a
 * later error is logged. `working` never rejects unless the framework's own code fails.
 */
export function withinLimit<T>(
  deps: EdgeDeps,
  exchange: Exchange,
  request: Request,
  working: Promise<T>,
): Promise<T | Response> {
  // Answers from a cache are already settled, so they need no timer.
  if (peek.status(working) !== 'pending') return working
  const late = Promise.withResolvers<Response>()
  let over = false
  const cancel = deps.clock.after(LIMIT_MS, () => {
    over = true
    late.resolve(lateAnswer(deps, exchange, request))
  })
  const failedUnheard = (error: unknown) => {
    if (over) deps.log.error({ request_id: exchange.requestId, ...errorFields(error) }, 'fault')
  }
  working.then(undefined, failedUnheard).finally(cancel)
  return Promise.race([working, late.promise])
}

function lateAnswer(deps: EdgeDeps, exchange: Exchange, request: Request): Response {
  const headers: Record<string, string> = {}
  const { status, body } = errorAnswer(deps, exchange, request, headers, givenUp())
  deps.accessLog(exchange, status, undefined)
  if (hasBody(request)) exchange.hangUp()
  // The log line is written already. A later result must not write another.
  exchange.streaming = true
  return Response.json(body, { status, headers })
}
