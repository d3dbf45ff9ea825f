import { Memoirist } from 'memoirist'

type Routed = { routes: readonly { method: string; path: string }[] }

/** Finds the methods that a path accepts, for 405 and `Allow` (contract 1.1). Built once from the finished app. */
export function createMethodTable({ routes }: Routed): (path: string) => string[] {
  const router = createRouter(routes, () => true)
  const known = [...new Set(routes.map(({ method }) => method))]
  return (path) => {
    const methods = known.filter((method) => router.find(method, path))
    if (methods.includes('GET')) methods.push('HEAD')
    return methods.sort()
  }
}

/** The framework's own router, so that a path means the same route before the request is routed and after. */
export function createRouter<Of extends { method: string; path: string }, T>(
  routes: readonly Of[],
  storeOf: (route: Of) => T,
): Memoirist<T> {
  const router = new Memoirist<T>()
  for (const route of routes) router.add(route.method, route.path, storeOf(route))
  return router
}
