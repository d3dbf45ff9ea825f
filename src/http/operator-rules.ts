import { type OperatorRole, seesContent } from '../kernel/caller'
import { createMethodTable } from './methods'

/** Who may change by a route besides the admin. On one that reads: who sees what it holds besides `support`. */
export type Allowed = 'billing' | 'reviewer' | 'support' | 'any' | 'none'

/**
 * What a route answers with. `facts` (counts, states, times, ids, names and money) are for every role. `content` (what
 * people wrote or sent) and `links` that work for whoever has them are for the role `support`. A list of members: they
 * hold content or links, and are empty in what other roles get; the rest is facts.
 */
export type Holds = 'facts' | 'content' | 'links' | readonly string[]

export type OperatorRule = { method: string; path: string; holds: Holds; role: Allowed | null }
type Route = { method: string; path: string; hooks: { detail?: object } }

export type OperatorRules = ReturnType<typeof createOperatorRules>

/** What the operators' edge must know of each route, as the routes declare it; `learn` is called once. */
export function createOperatorRules() {
  const known = new Map<string, OperatorRule>()
  let methodsOf: (path: string) => string[] = () => []
  return {
    learn(routes: readonly Route[]): void {
      methodsOf = createMethodTable({ routes })
      for (const { method, path, hooks } of routes) {
        if (method === 'HEAD') continue
        const { role = null, holds } = (hooks.detail ?? {}) as { role?: Allowed; holds?: Holds }
        known.set(`${method} ${path}`, { method, path, role, holds: holds ?? unsaid(method) })
      }
    },
    /** Every route with what it holds and whom it asks for, in the order of the API. */
    all: (): readonly OperatorRule[] => [...known.values()],
    /** The methods that a path accepts. */
    methodsOf: (path: string): string[] => methodsOf(path),

    /** Whether a role may call a route, given as its pattern (dx 2.2). */
    mayCall(role: OperatorRole, method: string, route: string): boolean {
      const roles = rolesFor(ruleOf(method, route))
      return role === 'admin' || roles === 'all' || roles.includes(role)
    },

    /** Whether a route is refused for what it shows, rather than for what it does. */
    isContent(method: string, route: string): boolean {
      const rule = ruleOf(method, route)
      return rule.role !== 'none' && (rule.holds === 'content' || rule.holds === 'links')
    },

    /** The members of an answer that this role does not see. */
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

/** A new route is closed: what it reads is content until it says otherwise, and what it changes the admin's. */
const unsaid = (method: string): Holds => (method === 'GET' ? 'content' : 'facts')

/** Whom a route is for besides the admin. */
export function rolesFor({ method, role, holds }: OperatorRule): 'all' | readonly string[] {
  const reads = method === 'GET' ? role !== 'none' : role === 'any'
  if (!reads) return [role ?? 'none']
  return holds === 'content' || holds === 'links' ? ['support', ...(role ? [role] : [])] : 'all'
}
