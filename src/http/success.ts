import { routeName } from './context'

type Routed = { method: string; path: string; hooks: { response?: object } }

/**
 * The status that every recorded answer of a route has, by its name in the record (contract 19: `status`).
 * None for a route that has two successes: there the verb says what it answered.
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
