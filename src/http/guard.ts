import { Elysia } from 'elysia'
import { type Call, requireScope, type Scope, type TenantCaller } from '../kernel/caller'
import { readJson } from './body'
import { callOf, type Exchange, routeName } from './context'
import { type Answering, answeredOnce, type BodyReader, replayed } from './idempotent'
import type { EdgeOptions } from './route-rules'

type Context = { exchange: Exchange; request: Request; route: string }

/** The default reader: reads the body as JSON and ignores Idempotency-Keys. */
const PLAIN: BodyReader = ({ request, exchange }) => readJson(request, exchange.rule)

/** An option that the edge reads before the body, from the table of rules. */
const declares = (edge: EdgeOptions) => ({ detail: { edge } as object })

/**
 * The options by which a route says what it is. Each route says who may call it: `scope: 'billing'`, `signedIn: true`
 * or `open: true`. The body is read after the scope was checked, so a bad body with a missing scope is 403.
 * `idempotent: true` lets a POST accept an Idempotency-Key (contract 1.7); its verb stores the answer with its effect:
 * `return storeAnswer(tx, call, answer)`. The body is JSON unless the route declares `form`, `upload` or `raw`.
 */
export const guard = (read: BodyReader = PLAIN) =>
  new Elysia({ name: 'http/guard' }).decorate('exchange', null as unknown as Exchange).macro({
    scope: (scope: Scope) => ({
      ...admitting(read, (context) =>
        requireScope(callerOf(context), scope, routeName(context.request.method, context.route)),
      ),
      detail: { security: [{ bearer: [] }], 'x-required-scope': scope } as object,
    }),
    signedIn: (_: true) => ({
      ...admitting(read, callerOf),
      detail: { security: [{ bearer: [] }] } as object,
    }),
    open: (_: true) => ({ ...admitting(read, () => undefined), detail: { security: [] } as object }),
    idempotent: (_: true) => ({ ...ONCE, detail: { 'x-idempotent': true } as object }),
    /** The body is a page's small form; the handler gets its fields, of a repeated one the last. */
    form: (_: true) => declares({ body: 'form' }),
    /** The body has parts, one of them a file of at most so many bytes; the handler gets an `Upload`, and discards it. */
    upload: (maxBytes: number) => declares({ body: 'upload', maxBytes }),
    /** The largest JSON body, where it is not the usual one of its kind. */
    upTo: (maxBytes: number) => declares({ maxBytes }),
    /** Its request ids begin with this word instead of `req` (contract 1.3). */
    idPrefix: (idPrefix: string) => declares({ idPrefix }),
    /** The body is JSON whose bytes are signed; the handler gets a `Uint8Array`. */
    raw: (_: true) => declares({ body: 'raw' }),
    /** Whatever JSON is sent, good or bad, the handler gets none of it. */
    ignored: (_: true) => declares({ body: 'ignored' }),
    /** The route waits for an engine or a reader as long as its own limits say, not 30 s (contract 1.9). */
    timeLimit: (timeLimit: 'own') => declares({ timeLimit }),
    /** Pages of every origin may read the answers of this open route. */
    cors: (cors: 'anyone') => declares({ cors }),
    /** The path has a secret as its parameter, which is kept out of the log. */
    secretPath: (_: true) => declares({ secretPath: true }),
  })

/** The authenticated caller. Throws if a request reached a guarded route without authentication. */
function callerOf({ exchange, route }: Context): TenantCaller {
  if (!exchange.caller) throw new Error(`${route} is reached without a caller`)
  return exchange.caller
}

/**
 * Runs `check` before the body is read or, without a body, before validation. The hooks destructure only what they
 * need, because the framework prepares what a hook names (cookies, query, headers) for every request.
 */
const admitting = (read: BodyReader, check: (context: Context) => unknown) => ({
  parse: ({ exchange, request, route }: Context) => {
    check({ exchange, request, route })
    return read({ exchange, request, route })
  },
  transform: ({ exchange, request, route }: Context) => {
    check({ exchange, request, route })
  },
})

/**
 * Hooks around the handler of an idempotent route: replay a stored answer, or store the new one. The framework reads a
 * hook's source to decide whether to await it; written as a condition, a request without a key awaits nothing.
 */
export const ONCE = {
  beforeHandle: ({ exchange, set }: Answering): undefined =>
    exchange.replay ? (replayed({ exchange, set }) as undefined) : undefined,
  afterHandle: ({ exchange, set, responseValue }: Answering): undefined =>
    exchange.ticket ? (answeredOnce({ exchange, set, responseValue }) as undefined) : undefined,
}

/** Builds the `Call` for a verb from a handler's context. */
export const toCall = ({ exchange, request, route }: Context): Call => callOf(exchange, route, request.signal)

/** The facts of a request that has no caller yet. */
export const visitOf = ({ exchange, request, route }: Context) => ({
  requestId: exchange.requestId,
  route: routeName(exchange.method, route),
  signal: request.signal,
  ip: exchange.ip(),
})

export type Guard = ReturnType<typeof guard>
