import { Elysia } from 'elysia'
import { type Call, requireScope, type Scope, type TenantCaller } from '../kernel/caller'
import { readJson } from './body'
import { callOf, type Exchange } from './context'

type Context = { exchange: Exchange; request: Request; route: string }

/**
 * What a route says about who may call it: `scope: 'billing'`, `signedIn: true` or `open: true`. Each
 * reads the body itself, after the scope is known to be held, so a bad body with a bad scope is 403.
 */
export const guard = () =>
  new Elysia({ name: 'http/guard' }).decorate('exchange', null as unknown as Exchange).macro({
    scope: (scope: Scope) => ({
      ...admitting((context) => requireScope(callerOf(context), scope)),
      detail: { security: [{ bearer: [] }], 'x-required-scope': scope } as object,
    }),
    signedIn: (_: true) => ({
      ...admitting(callerOf),
      detail: { security: [{ bearer: [] }] } as object,
    }),
    open: (_: true) => ({ ...admitting(() => undefined), detail: { security: [] } as object }),
  })

/** Whom the gate let in. A path that slipped past the gate and still found its route ends here, closed. */
function callerOf({ exchange, route }: Context): TenantCaller {
  if (!exchange.caller) throw new Error(`${route} is reached without a caller`)
  return exchange.caller
}

/** Runs before the body is read where there is one, and before validation where there is none. */
const admitting = (check: (context: Context) => unknown) => ({
  parse: (context: unknown) => {
    check(context as Context)
    return readJson((context as Context).request)
  },
  transform: (context: unknown) => {
    check(context as Context)
  },
})

/** The call for a verb, out of a handler's context. */
export const toCall = ({ exchange, request, route }: Context): Call => callOf(exchange, route, request.signal)

export type Guard = ReturnType<typeof guard>
