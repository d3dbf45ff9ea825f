import type { OperatorRole } from '../kernel/caller'
import { createMethodTable } from './methods'

/** Who may call a route of the operators besides the admin. */
export type Allowed = 'billing' | 'reviewer' | 'support' | 'any' | 'none'

type Route = { method: string; path: string; hooks: { detail?: object } }

export type OperatorRules = ReturnType<typeof createOperatorRules>

/** What the operators' edge must know of each route, as the routes declare it; `learn` is called once. */
export function createOperatorRules() {
  const declared = new Map<string, Allowed>()
  let methodsOf: (path: string) => string[] = () => []
  return {
    learn(routes: readonly Route[]): void {
      methodsOf = createMethodTable({ routes })
      for (const { method, path, hooks } of routes) {
        const { role } = (hooks.detail ?? {}) as { role?: Allowed }
        if (role) declared.set(`${method} ${path}`, role)
      }
    },
    /** The methods that a path accepts. */
    methodsOf: (path: string): string[] => methodsOf(path),
    /**
     * Whether a role may call a route, given as its pattern (dx 2.2). Without a declaration every role may read, and only
     * the admin may change: a new route is closed by default.
     */
    mayCall(role: OperatorRole, method: string, route: string): boolean {
      if (role === 'admin') return true
      const known = method === 'HEAD' ? 'GET' : method
      const allowed = declared.get(`${known} ${route}`) ?? (known === 'GET' ? 'any' : 'none')
      return allowed === 'any' || allowed === role
    },
  }
}
