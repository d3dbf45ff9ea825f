import { Elysia } from 'elysia'
import { type Call, requireScope, type Scope, type TenantCaller } from '../kernel/caller'
import { readJson } from './body'
import { callOf, type Exchange } from './context'
import { type Answering, answeredOnce, type OnceReader, replayed } from './idempotent'

type Context = { exchange: Exchange; request: Request; route: string }

/** Without a reader of keys, bodies are read and nothing else. */
const PLAIN: OnceReader = ({ request }) => readJson(request)

/**
 * What a route says about who may call it: `scope: 'billing'`, `signedIn: true` or `open: true`. Each
 * reads the body itself, after the scope is known to be held, so a bad body with a bad scope is 403.
 * `idempotent: true` makes a POST take an Idempotency-Key (contract 1.7); its verb keeps the answer with
 * its effect: `return kept(tx, call, answer)`.
 */
export const guard = (read: OnceReader = PLAIN) =>
  new Elysia({ name: 'http/guard' }).decorate('exchange', null as unknown as Exchange).macro({
    scope: (scope: Scope) => ({
      ...admitting(read, (context) => requireScope(callerOf(context), scope)),
      detail: { security: [{ bearer: [] }], 'x-required-scope': scope } as object,
    }),
    signedIn: (_: true) => ({
      ...admitting(read, callerOf),
      detail: { security: [{ bearer: [] }] } as object,
    }),
    open: (_: true) => ({ ...admitting(read, () => undefined), detail: { security: [] } as object }),
    idempotent: (_: true) => ({ ...ONCE, detail: { 'x-idempotent': true } as object }),
  })

/** Whom the gate let in. A path that slipped past the gate and still found its route ends here, closed. */
function callerOf({ exchange, route }: Context): TenantCaller {
  if (!exchange.caller) throw new Error(`${route} is reached without a caller`)
  return exchange.caller
}

/**
 * Runs before the body is read where there is one, and before validation where there is none. What a hook
 * names of its context the framework makes for every request: cookies, query and headers, if it takes all.
 */
const admitting = (read: OnceReader, check: (context: Context) => unknown) => ({
  parse: ({ exchange, request, route }: Context) => {
    check({ exchange, request, route })
    return read({ exchange, request, route })
  },
  transform: ({ exchange, request, route }: Context) => {
    check({ exchange, request, route })
  },
})

/**
 * Before and after the handler of a route that takes keys. The framework tells from the text of a hook
 * whether to wait for it: a condition is not a call, so a request without a key waits for nothing.
 */
export const ONCE = {
  beforeHandle: ({ exchange, set }: Answering): undefined =>
    exchange.replay ? (replayed({ exchange, set }) as undefined) : undefined,
  afterHandle: ({ exchange, set, responseValue }: Answering): undefined =>
    exchange.ticket ? (answeredOnce({ exchange, set, responseValue }) as undefined) : undefined,
}

/** The call for a verb, out of a handler's context. */
export const toCall = ({ exchange, request, route }: Context): Call => callOf(exchange, route, request.signal)

export type Guard = ReturnType<typeof guard>
