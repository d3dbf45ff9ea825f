import { peek, type Server } from 'bun'
import { Elysia, ElysiaCustomStatusResponse } from 'elysia'
import type { TenantCaller } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { AppError, defineError } from '../kernel/errors'
import { failpoint } from '../kernel/failpoint'
import { newRequestId } from '../kernel/ids'
import { errorFields, type Log } from '../kernel/log'
import { assertBodyHeaders, hasBody } from './body'
import type { EnterRequest } from './connections'
import type { Exchange } from './context'
import {
  assertHost,
  type ClientAddress,
  corsHeaders,
  pathOf,
  preflightHeaders,
  type Readers,
  WITHOUT_ADDRESS,
} from './context'
import { type ErrorFace, helpfulHeaders, statusOf, toEnvelope } from './envelope'
import { logFault, toAppError } from './faults'
import { givenBack } from './guard'
import type { AccessLog } from './metrics'
import { isForBrowser, NOWHERE_HEADERS, NOWHERE_PAGE } from './nowhere'
import type { RouteRules } from './route-rules'

/** Time limit of every request, except on routes that declare `timeLimit: 'own'` (contract 1.9). */
const LIMIT_MS = 30_000

const givenUp = defineError(
  'timeout',
  'request_timeout',
  () =>
    `This took longer than ${LIMIT_MS / 1_000} s and was stopped. A change may still have been made. Check before you send it again, or use an Idempotency-Key.`,
)

type Handler = (request: Request, ...rest: unknown[]) => unknown

type Deps = {
  clock: Clock
  log: Log
  /** Builds the whole answer to a request that timed out. */
  answer(error: AppError, exchange: Exchange, request: Request): Response
}

export type EdgeDeps = {
  clock: Clock
  log: Log
  accessLog: AccessLog
  /** Throws 401. */
  authenticate(request: Request): TenantCaller | Promise<TenantCaller>
  /** Throws 403 when the browser's origin is not one that the key allows. */
  assertOrigin(caller: TenantCaller, request: Request): void
  /** Counts the request; throws 429 `rate_limit_exceeded`. */
  admit(caller: TenantCaller): void | Promise<void>
  /** Counts a 4xx answer to an authenticated caller (contract 18.1). */
  refused(caller: TenantCaller, error: Error | null): void
  /** The six rate limit headers of contract 1.3, for the caller or else for the client's address. */
  rateHeaders(caller: TenantCaller | null, ip: () => string, counts?: boolean): Record<string, string>
  /** Origins of pages that may read answers to this caller. */
  allowedOrigins(caller: TenantCaller): readonly string[]
  /** The canonical URL that a request to the apex host is redirected to; null for other hosts (contract 1.1). */
  canonicalUrl(request: Request): string | null
  /** Whether a request only asks if anything is there, before clients call. */
  isProbe(method: string, path: string): boolean
  /** What the routes declare; complete once all of them are registered. */
  rules: Pick<RouteRules, 'at' | 'methodsOf'>
  /** How errors of a path are answered, where not as everywhere. */
  errorFaceOf(path: string): ErrorFace | null
  /** Further headers of an answer, from those that it has. */
  moreHeaders(path: string, headers: Record<string, unknown>): Record<string, string>
  /** What to call instead of a path that is not served; null for most. */
  insteadOf(path: string): string | null
  /** Counts the open requests of an address until they authenticate; null where its connections are counted. */
  enter: EnterRequest | null
  /** Told of each request that authenticated. */
  authenticated(request: Request, server: Server<unknown> | null): void
  /** Finds the client's address behind trusted proxies. */
  clientAddress: ClientAddress
  secure: boolean
  /** Aborted once the server is about to stop: connections end with their answer then, so that none is cut off. */
  leaving: AbortSignal
}

/** Errors that may come in the middle of a body. */
const CUT_SHORT = new Set<string>(['payload_too_large', 'request_timeout', 'service_unavailable'])

/** Longest silence of a connection while a request is answered, and after it; Bun knows no longer one. */
const SILENT_S = 255
/**
 * After a refusal the rest of a body is read for a few seconds: closed at once, many clients never see the answer. Bun
 * counts in steps of four seconds: this is four to eight, and 4 could close a connection under its next request.
 */
const FAREWELL_S = 8

/** The plugin around all routes: adds the request id and headers to each answer, and the envelope to each error. */
export function edge(deps: EdgeDeps) {
  const limit = createTimeLimit({
    ...deps,
    answer(error, exchange, request) {
      const headers: Record<string, string> = {}
      setStateHeaders(headers, exchange, deps)
      Object.assign(headers, deps.rateHeaders(exchange.caller, exchange.ip), helpfulHeaders(error))
      Object.assign(headers, corsHeaders(request.headers.get('origin'), readersOf(exchange, deps)))
      Object.assign(headers, deps.moreHeaders(exchange.path, headers))
      exchange.errorCode = error.code
      const { status, body } = errorAnswer(error, exchange, deps)
      deps.accessLog(exchange, status, undefined)
      if (hasBody(request)) exchange.hangUp()
      // The log line is written; a result that comes later must not write another.
      exchange.streaming = true
      return Response.json(body, { status, headers })
    },
  })
  const count = ({ caller }: Exchange, error: Error | null) => caller && deps.refused(caller, error)
  let server: Server<unknown> | null = null
  /*
   * The framework reads the source of each hook and prepares for every request what one of them names: `server`, or
   * cookies, headers and query when it hands its context on. So none of them names the server or hands its context on.
   */
  return new Elysia({ name: 'http/edge' })
    .onStart((app) => {
      server = app.server
    })
    .wrap(limit.around)
    .decorate('exchange', null as unknown as Exchange)
    .onRequest((context) => {
      const { request, set } = context
      const exchange = arrive(request, server, deps)
      context.exchange = exchange
      limit.arrived(request, exchange)
      setStateHeaders(set.headers, exchange, deps)
      const elsewhere = deps.canonicalUrl(request)
      const allowed =
        request.method === 'OPTIONS' ? preflightHeaders(request.headers, deps.rules.methodsOf(exchange.path)) : null
      const isAlive = deps.isProbe(request.method, exchange.path)
      if (elsewhere === null && allowed === null && !isAlive) return gate(exchange, request, server, deps)
      Object.assign(set.headers, deps.rateHeaders(null, exchange.ip, allowed === null), allowed)
      const headers = set.headers as Record<string, string>
      return elsewhere
        ? redirect(elsewhere, exchange.requestId, headers)
        : new Response(null, { status: allowed ? 204 : 200, headers })
    })
    .onAfterHandle({ as: 'global' }, ({ exchange, set, request, responseValue }) => {
      Object.assign(set.headers, deps.rateHeaders(exchange.caller, exchange.ip))
      Object.assign(set.headers, deps.moreHeaders(exchange.path, set.headers))
      Object.assign(set.headers, corsHeaders(request.headers.get('origin'), readersOf(exchange, deps)))
      if (!request.bodyUsed && hasBody(request)) exchange.hangUp()
      const isCustom = responseValue instanceof ElysiaCustomStatusResponse
      if (isCustom && isRefusal(Number(responseValue.code))) count(exchange, null)
      const body = isCustom ? responseValue.response : responseValue
      if (isPlainObject(body)) body.request_id ??= exchange.requestId
    })
    .onError({ as: 'global' }, (context) => {
      const { request, set, error, code } = context
      const exchange = context.exchange ?? arrive(request, server, deps)
      const known = toAppError(code, error, exchange.path, {
        methodsOf: deps.rules.methodsOf,
        insteadOf: deps.insteadOf,
      })
      logFault(deps.log, exchange.requestId, known, error)
      exchange.errorCode = known.code
      if (isRefusal(statusOf(known))) count(exchange, known)
      setStateHeaders(set.headers, exchange, deps)
      Object.assign(set.headers, deps.rateHeaders(exchange.caller, exchange.ip), helpfulHeaders(known))
      Object.assign(set.headers, corsHeaders(request.headers.get('origin'), readersOf(exchange, deps)))
      Object.assign(set.headers, deps.moreHeaders(exchange.path, set.headers))
      const { status, body } = errorAnswer(known, exchange, deps)
      set.status = status
      if ((!request.bodyUsed || CUT_SHORT.has(known.code)) && hasBody(request)) exchange.hangUp()
      if (known.kind === 'missing' && isForBrowser(request, exchange.path)) {
        Object.assign(set.headers, NOWHERE_HEADERS)
        return NOWHERE_PAGE
      }
      return exchange.ticket ? givenBack(exchange, body) : body
    })
    .onAfterResponse({ as: 'global' }, ({ exchange, set, route }) => {
      if (!exchange) return
      leave(exchange)
      if (!exchange.streaming) deps.accessLog(exchange, Number(set.status ?? 200), route)
    })
}

/** An error in the form that clients of its path read. */
function errorAnswer(error: AppError, { path, requestId }: Exchange, { errorFaceOf }: EdgeDeps) {
  const face = errorFaceOf(path)
  return face
    ? { status: face.statusOf(error), body: face.bodyOf(error, requestId) }
    : { status: statusOf(error), body: toEnvelope(error, requestId) }
}

function arrive(request: Request, server: Server<unknown> | null, deps: EdgeDeps): Exchange {
  const { clock, clientAddress, rules } = deps
  server?.timeout(request, SILENT_S)
  const path = pathOf(request.url)
  const rule = rules.at(request.method, path)
  const exchange: Exchange = {
    requestId: newRequestId(rule.idPrefix),
    startedAt: clock.monotonic(),
    method: request.method,
    path,
    rule,
    ip: () =>
      clientAddress(server?.requestIP(request)?.address || WITHOUT_ADDRESS, request.headers.get('x-forwarded-for')),
    keepOpen: () => server?.timeout(request, 0),
    known: () => {
      deps.authenticated(request, server)
      leave(exchange)
    },
    hangUp: () => server?.timeout(request, FAREWELL_S),
    leave: null,
    readers: null,
    caller: null,
    notes: {},
    streaming: false,
    follows: false,
    errorCode: null,
    ticket: null,
    replay: null,
  }
  return exchange
}

/** Checks credential, origin, request rate, host and the body's headers, in the order of contract 1.5. */
function gate(
  exchange: Exchange,
  request: Request,
  server: Server<unknown> | null,
  deps: EdgeDeps,
): void | Promise<void> {
  if (deps.enter) exchange.leave = deps.enter(exchange.ip())
  // Where no route would read the body, its headers do not matter: the answer is 404 or 405.
  const assertSound = () => {
    assertHost(request)
    try {
      assertBodyHeaders(request, exchange.rule)
    } catch (refusal) {
      if (deps.rules.methodsOf(exchange.path).includes(request.method)) throw refusal
    }
  }
  const enter = (caller: TenantCaller) => {
    exchange.caller = caller
    deps.authenticated(request, server)
    leave(exchange)
    failpoint('after_auth')
    deps.assertOrigin(caller, request)
    const admitted = deps.admit(caller)
    return admitted instanceof Promise ? admitted.then(assertSound) : assertSound()
  }
  if (exchange.rule.open) return assertSound()
  const caller = deps.authenticate(request)
  return caller instanceof Promise ? caller.then(enter) : enter(caller)
}

function leave(exchange: Exchange): void {
  exchange.leave?.()
  exchange.leave = null
}

const isRefusal = (status: number): boolean => status >= 400 && status < 500

type Headers = Record<string, string | number | string[] | undefined>

function setStateHeaders(headers: Headers, { requestId }: Exchange, { secure, leaving }: EdgeDeps): void {
  headers['x-request-id'] ??= requestId
  headers['x-content-type-options'] = 'nosniff'
  headers['cache-control'] ??= 'no-store'
  headers.vary ??= 'Origin'
  if (leaving.aborted) headers.connection = 'close'
  if (secure) headers['strict-transport-security'] = 'max-age=31536000; includeSubDomains'
}

function redirect(location: string, requestId: string, headers: Record<string, string>): Response {
  const message = `This server answers at ${location}. Call that address directly: most clients drop the Authorization header on a redirect.`
  const elsewhere = new AppError('missing', 'not_found', message)
  return Response.json(toEnvelope(elsewhere, requestId), { status: 307, headers: { ...headers, location } })
}

/**
 * Without a credential only documents that anyone may fetch are readable by pages, and errors that say that the
 * credential is missing or wrong. Sign-in, sign-up and pages with a form are not.
 */
function readersOf({ caller, method, rule, readers }: Exchange, deps: EdgeDeps): Readers {
  if (readers) return readers
  if (caller) return deps.allowedOrigins(caller)
  return method === 'OPTIONS' ? [] : rule.readers
}

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

/**
 * Answers 504 `request_timeout` after 30 s. The work of the request goes on and its result is dropped; if it fails
 * later, the error is logged.
 */
function createTimeLimit({ clock, log, answer }: Deps) {
  const waiting = new WeakMap<Request, Exchange>()

  const limited =
    (handle: Handler): Handler =>
    (request, ...rest) => {
      const working = handle(request, ...rest)
      if (!(working instanceof Promise)) return working
      const exchange = waiting.get(request)
      // Answers from a cache are settled already, so they need no timer.
      if (!exchange || peek.status(working) !== 'pending') return working
      const late = Promise.withResolvers<Response>()
      let over = false
      const cancel = clock.after(LIMIT_MS, () => {
        over = true
        late.resolve(answer(givenUp(), exchange, request))
      })
      const failedUnheard = (error: unknown) => {
        if (over) log.error({ request_id: exchange.requestId, ...errorFields(error) }, 'fault')
      }
      working.then(undefined, failedUnheard).finally(cancel)
      return Promise.race([working, late.promise])
    }

  return {
    /** Registers a request for the time limit. */
    arrived(request: Request, exchange: Exchange): void {
      if (exchange.rule.timeLimit) waiting.set(request, exchange)
    },
    /** Wraps the handling of one request. */
    around: limited,
  }
}
