import { Elysia } from 'elysia'
import { type Call, type OperatorCaller, type OperatorRole, seesContent } from '../kernel/caller'
import { newRequestId } from '../kernel/ids'
import type { Log } from '../kernel/log'
import { redact } from '../kernel/redact'
import { roleTooSmall } from '../operators'
import { assertBodyHeaders } from './body'
import { assertHost, pathOf } from './context'
import { errorHeaders, isPlainObject, statusOf, toEnvelope } from './envelope'
import { logFault, toAppError } from './faults'
import { createMethodTable } from './route-rules'

/** The role that may change by a route, besides the admin, or see its content, besides `support`. */
export type Allowed = 'billing' | 'reviewer' | 'support' | 'any' | 'none'

/**
 * The kind of data in a route's answer. All roles may see `facts` (counts, states, times, ids, names and money). Only
 * the role `support` may see `content` (texts and data of people) and `links` that work for everyone who has them. A
 * list names members with content or links, which are emptied for other roles. The rest is facts.
 */
export type Holds = 'facts' | 'content' | 'links' | readonly string[]

export type OperatorRule = { method: string; path: string; holds: Holds; role: Allowed | null }

type OperatorRules = ReturnType<typeof createOperatorRules>

/** Default for a new route, which is restrictive: its reads are content, and only the admin may change by it. */
const unsaid = (method: string): Holds => (method === 'GET' ? 'content' : 'facts')

type Deps = {
  log: Log
  rules: OperatorRules
  /** Identifies the operator by key when the API is served over TCP. Throws 401. Null on the socket. */
  identify: ((request: Request, reason: string | null) => Promise<OperatorCaller>) | null
  /** Called for each admitted request. */
  seen?: (caller: OperatorCaller, request: Request, requestId: string) => Promise<void>
}

/** State of an operator's request: its id and the operator, as stated or as identified by key. */
export type OperatorExchange = { requestId: string; caller: OperatorCaller }

/**
 * The edge of the operator API. The socket's file mode admits only its owner, so no key is needed there, and name,
 * transport and reason are recorded as stated. Over TCP the key identifies the operator (docs/operating.md 2.2).
 */
export const operatorEdge = ({ log, rules, identify, seen }: Deps) =>
  new Elysia({ name: 'http/operator-edge' })
    .decorate('operator', null as unknown as OperatorExchange)
    .decorate('rules', rules)
    .macro({
      /** The role that may change by the route besides the admin, or see its content besides `support`. */
      role: (role: Allowed) => ({ detail: { role } as object }),
      /** The kind of people's data in the answer, which decides who may read it. Every route that reads declares it. */
      holds: (holds: Holds) => ({ detail: { holds } as object }),
    })
    .onRequest((context) => {
      const { request, set } = context
      context.operator = { requestId: newRequestId(), caller: callerOf(request.headers) }
      set.headers['x-request-id'] = context.operator.requestId
      set.headers['cache-control'] = 'no-store'
      if (identify === null) return assertBodyHeaders(request)
      return identify(request, context.operator.caller.reason).then((caller) => {
        context.operator = { ...context.operator, caller }
        assertHost(request)
        assertBodyHeaders(request)
        return seen?.(caller, request, context.operator.requestId)
      })
    })
    .onAfterHandle({ as: 'global' }, ({ operator, responseValue, request, route, set }) => {
      if (!isPlainObject(responseValue)) return
      responseValue.request_id ??= operator.requestId
      const names = rules.withheldFrom(operator.caller.role, request.method, route)
      // Names the withheld members, so that an emptied member is not mistaken for an empty value.
      if (!names.length) return
      set.headers['x-svc-withheld'] = names.join(', ')
      return { ...(redact(responseValue, names) as object), withheld: names }
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
/** Checks the operator's role before the body is read, or before validation without one. Throws 403 `forbidden`. */
export function admitOperator({ operator, request, route, rules }: Context & { rules: OperatorRules }): void {
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

/** A header with a client's statement, percent-encoded because headers are ASCII. Null if malformed. */
function stated(headers: Headers, name: string, max: number): string | null {
  const value = headers.get(name)
  if (!value) return null
  try {
    return decodeURIComponent(value).slice(0, max)
  } catch {
    return null
  }
}

export type OperatorEdge = ReturnType<typeof operatorEdge>

/** The rules of each route that the operators' edge needs, as the routes declare them. `learn` is called once. */
export function createOperatorRules() {
  const known = new Map<string, OperatorRule>()
  let methodsOf: (path: string) => string[] = () => []
  return {
    learn(routes: readonly { method: string; path: string; hooks: { detail?: object } }[]): void {
      methodsOf = createMethodTable({ routes })
      for (const { method, path, hooks } of routes) {
        if (method === 'HEAD') continue
        const { role = null, holds } = (hooks.detail ?? {}) as { role?: Allowed; holds?: Holds }
        known.set(`${method} ${path}`, { method, path, role, holds: holds ?? unsaid(method) })
      }
    },
    /** Every route with its kind of data and its role, in the order of the API. */
    all: (): readonly OperatorRule[] => [...known.values()],
    /** The methods that a path accepts. */
    methodsOf: (path: string): string[] => methodsOf(path),

    /** True if a role may call a route, given as its pattern (docs/operating.md 2.2). */
    mayCall(role: OperatorRole, method: string, route: string): boolean {
      const roles = rolesFor(ruleOf(method, route))
      return role === 'admin' || roles === 'all' || roles.includes(role)
    },

    /** True if a route is denied because of the data it shows, rather than because of what it does. */
    isContent(method: string, route: string): boolean {
      const rule = ruleOf(method, route)
      return rule.role !== 'none' && (rule.holds === 'content' || rule.holds === 'links')
    },

    /** The members of an answer that this role may not see. */
    withheldFrom(role: OperatorRole, method: string, route: string): readonly string[] {
      const { holds, role: besides, method: known } = ruleOf(method, route)
      const sees = seesContent(role) || (known === 'GET' && besides === role)
      return typeof holds === 'string' || sees ? [] : holds
    },
  }

  function ruleOf(method: string, path: string): OperatorRule {
    const named = method === 'HEAD' ? 'GET' : method
    return known.get(`${named} ${path}`) ?? { method: named, path, role: null, holds: unsaid(named) }
  }
}

/** The roles that may call a route, besides the admin. */
export function rolesFor({ method, role, holds }: OperatorRule): 'all' | readonly string[] {
  const reads = method === 'GET' ? role !== 'none' : role === 'any'
  if (!reads) return [role ?? 'none']
  return holds === 'content' || holds === 'links' ? ['support', ...(role ? [role] : [])] : 'all'
}
