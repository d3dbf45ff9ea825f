import { Elysia } from 'elysia'
import type { Call, OperatorCaller } from '../kernel/caller'
import { newRequestId } from '../kernel/ids'
import type { Log } from '../kernel/log'
import { roleTooSmall } from '../operators'
import { assertBodyHeaders } from './body'
import { errorHeaders, statusOf, toEnvelope } from './envelope'
import { logFault, toAppError } from './faults'
import type { Allowed, OperatorRules } from './operator-rules'
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
    .decorate('mayCall', rules.mayCall)
    .macro({
      /** Who may call the route besides the admin, where it is not that every role reads and none changes. */
      role: (role: Allowed) => ({ detail: { role } as object }),
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
    .onAfterHandle({ as: 'global' }, ({ operator, responseValue }) => {
      if (isPlainObject(responseValue)) responseValue.request_id ??= operator.requestId
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
type Admitted = Context & Pick<OperatorRules, 'mayCall'>

/** Checks the operator's role before the body is read, or before validation without one. Throws 403 `forbidden`. */
export function admitOperator({ operator, request, route, mayCall }: Admitted): void {
  const { role } = operator.caller
  if (!mayCall(role, request.method, route)) throw roleTooSmall(role, `${request.method} ${route}`)
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
