import { routeName } from './context'

type Routed = { method: string; path: string; hooks: { response?: object } }

/**
 * Finds the success status of a route by its name in the audit record (contract 19: `status`). Undefined for a route
 * with two success statuses: its verb records which one it answered.
 */
export function createSuccessTable(routes: readonly Routed[]): (route: string) => number | undefined {
  const statuses = new Map<string, number>()
  for (const { method, path, hooks } of routes) {
    const status = onlySuccess(hooks.response)
    if (status !== undefined) statuses.set(routeName(method, path), status)
  }
  return (route) => statuses.get(route)
}

function onlySuccess(response: object = {}): number | undefined {
  if ('schema' in response) return undefined
  const [status, ...more] = Object.keys(response).filter((word) => word.startsWith('2'))
  return status && !more.length ? Number(status) : undefined
}
