import { Elysia } from 'elysia'
import type { Call, OperatorCaller } from '../kernel/caller'
import { newRequestId } from '../kernel/ids'
import type { Log } from '../kernel/log'
import { withheld } from '../kernel/withheld'
import { roleTooSmall } from '../operators'
import { assertBodyHeaders } from './body'
import { errorHeaders, statusOf, toEnvelope } from './envelope'
import { logFault, toAppError } from './faults'
import type { Allowed, Holds, OperatorRules } from './operator-rules'
import { assertHost, pathOf } from './request-url'

type Deps = {
  log: Log
  rules: OperatorRules
  /** Identifies the operator by key when the API is served over TCP. Throws 401. Null on the socket. */
  identify: ((authorization: string | null, reason: string | null) => Promise<OperatorCaller>) | null
}

/** State of an operator's request: its id and the operator, as stated or as identified by key. */
export type OperatorExchange = { requestId: string; caller: OperatorCaller }

/**
 * The edge of the operator API. The socket's file mode admits only its owner, so no key is needed there, and name,
 * transport and reason are recorded as stated; over TCP the key identifies the operator (dx 2.2).
 */
export const operatorEdge = ({ log, rules, identify }: Deps) =>
  new Elysia({ name: 'http/operator-edge' })
    .decorate('operator', null as unknown as OperatorExchange)
    .decorate('rules', rules)
    .macro({
      /** Who may change by the route besides the admin, or see what it holds besides `support`. */
      role: (role: Allowed) => ({ detail: { role } as object }),
      /** What the answer has of people: who may read it follows. Every route that reads says so. */
      holds: (holds: Holds) => ({ detail: { holds } as object }),
    })
    .onRequest((context) => {
      const { request, set } = context
      context.operator = { requestId: newRequestId(), caller: callerOf(request.headers) }
      set.headers['x-request-id'] = context.operator.requestId
      set.headers['cache-control'] = 'no-store'
      if (identify === null) return assertBodyHeaders(request)
      return identify(request.headers.get('authorization'), context.operator.caller.reason).then((caller) => {
        context.operator = { ...context.operator, caller }
        assertHost(request)
        assertBodyHeaders(request)
      })
    })
    .onAfterHandle({ as: 'global' }, ({ operator, responseValue, request, route, set }) => {
      if (!isPlainObject(responseValue)) return
      responseValue.request_id ??= operator.requestId
      const names = rules.withheldFrom(operator.caller.role, request.method, route)
      // What was withheld is named, so that nobody takes an empty member for an empty thing.
      if (!names.length) return
      set.headers['x-svc-withheld'] = names.join(', ')
      return { ...(withheld(responseValue, names) as object), withheld: names }
    })
    .onError({ as: 'global' }, ({ code, error, set, request, operator }) => {
      const known = toAppError(code, error, pathOf(request.url), rules)
      const { requestId } = operator
      logFault(log, requestId, known, error)
      Object.assign(set.headers, errorHeaders(known))
      set.status = statusOf(known)
      return toEnvelope(known, requestId)
    })

type Context = { operator: OperatorExchange; request: Request; route: string }
type Admitted = Context & { rules: OperatorRules }

/** Checks the operator's role before the body is read, or before validation without one. Throws 403 `forbidden`. */
export function admitOperator({ operator, request, route, rules }: Admitted): void {
  const { role } = operator.caller
  if (rules.mayCall(role, request.method, route)) return
  throw roleTooSmall(role, `${request.method} ${route}`, rules.isContent(request.method, route))
}

/** Builds the `Call` for an operator's verb from a handler's context. */
export const toOperatorCall = ({ operator, request, route }: Context): Call<OperatorCaller> => ({
  caller: operator.caller,
  requestId: operator.requestId,
  route: `${request.method} ${route}`,
  signal: request.signal,
})

function callerOf(headers: Headers): OperatorCaller {
  return {
    type: 'operator',
    role: 'admin',
    name: stated(headers, 'x-svc-operator', 120) ?? 'unknown',
    transport: headers.get('x-svc-transport') === 'local' ? 'local' : 'socket',
    reason: stated(headers, 'x-svc-reason', 500),
  }
}

/** A header in which the client states something, percent-encoded because headers are ASCII; null if malformed. */
function stated(headers: Headers, name: string, max: number): string | null {
  const value = headers.get(name)
  if (!value) return null
  try {
    return decodeURIComponent(value).slice(0, max)
  } catch {
    return null
  }
}

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

export type OperatorEdge = ReturnType<typeof operatorEdge>
