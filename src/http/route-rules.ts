import { Memoirist } from 'memoirist'
import type { Scope } from '../kernel/caller'
import type { Readers } from './context'
import { API, routeName } from './context'
import { MAX_FORM_BYTES, MAX_JSON_BYTES, MAX_PUBLIC_BYTES } from './intake'

type DeclaredRoute = { method: string; path: string; hooks: { response?: object } }

type Routed = { routes: readonly { method: string; path: string }[] }

/** How a body is read: as JSON, as form fields, as parts with a file, left as bytes (of JSON), or not at all. */
type BodyKind = 'json' | 'form' | 'upload' | 'raw' | 'ignored'

/** The facts of a route that the edge needs before it reads the body. */
export type RouteRule = {
  /** True if the route needs no credential (docs/api.md 1.2). */
  open: boolean
  /** The scope that a key needs. Null for open routes and for routes that every key may call. */
  scope: Scope | null
  body: BodyKind
  /** Maximum size of the body, or of each file of an upload. */
  maxBytes: number
  /** Maximum number of files of an upload. */
  maxFiles: number
  /** True if the route must answer within 30 s (docs/api.md 1.9). */
  timeLimit: boolean
  /** Prefix of its request ids. */
  idPrefix: string
  /** The pages that may read an answer to a request without a credential. */
  readers: Readers
  /** Null for a route that ignores the Idempotency-Key. */
  once: OnceRule | null
}

/** The declared answers of an idempotent route. */
type OnceRule = {
  /** Its declared success status. The second if it has two, because the answer is stored before its status is set. */
  status: number
  /** True if the route can answer with a stream. Streams ignore the Idempotency-Key (docs/api.md 1.7). */
  streams: boolean
}

/** The declarations of a route by the guard's options. Kept in `detail` and omitted from the OpenAPI document. */
export type EdgeOptions = {
  body?: BodyKind
  maxBytes?: number
  maxFiles?: number
  timeLimit?: 'own'
  idPrefix?: string
  cors?: 'anyone'
  secretPath?: true
  native?: true
}

type Detail = {
  security?: readonly object[]
  'x-required-scope'?: Scope
  edge?: EdgeOptions
  'x-idempotent'?: boolean
  'x-streams'?: boolean | 'only'
}
export type Route = { method: string; path: string; hooks: { detail?: Detail; response?: object } }

/** For API paths without a route: 401 without a credential, so that strangers cannot find out which paths exist. */
const CLOSED: RouteRule = {
  open: false,
  scope: null,
  body: 'json',
  maxBytes: MAX_JSON_BYTES,
  maxFiles: 1,
  timeLimit: true,
  idPrefix: 'req',
  readers: 'anyone',
  once: null,
}
/** For all other paths without a route: 404. */
const NOWHERE: RouteRule = { ...CLOSED, open: true, maxBytes: MAX_PUBLIC_BYTES, readers: [] }

export type RouteRules = ReturnType<typeof createRouteRules>

/** The rules of all routes, as the routes declare them. `learn` is called once, with the routes of the finished app. */
export function createRouteRules() {
  const secrets = new Set<string>()
  const byPattern = new Map<string, Map<string, RouteRule>>()
  let router = createRouter<Route, RouteRule>([], () => CLOSED)
  let methodsOf: (path: string) => string[] = () => []

  function learned({ method, path, hooks: { detail = {}, response } }: Route): RouteRule {
    const rule = ruleOf(`${method} ${path}`, detail, response)
    const ofPath = byPattern.get(path) ?? new Map<string, RouteRule>()
    byPattern.set(path, ofPath.set(method, rule))
    if (detail.edge?.secretPath) secrets.add(path.slice(0, path.indexOf(':')))
    return rule
  }

  return {
    /** Throws when a route does not declare who may call it. */
    learn(routes: readonly Route[]): void {
      router = createRouter(routes, learned)
      methodsOf = createMethodTable({ routes })
    },
    /** The rule of a route by its pattern. */
    of: (method: string, route: string): RouteRule | undefined => byPattern.get(route)?.get(method),
    /** The rule for a request to a path. A HEAD is a GET. */
    at(method: string, path: string): RouteRule {
      const found = router.find(method === 'HEAD' ? 'GET' : method, path)
      return found?.store ?? (path.startsWith(`${API}/`) ? CLOSED : NOWHERE)
    },
    /** The methods that a path accepts. */
    methodsOf: (path: string): string[] => methodsOf(path),
    /** A path for the log, cut where a secret begins. */
    shown(path: string): string {
      for (const start of secrets) if (path.startsWith(start)) return `${start}…`
      return path
    },
  }
}

function ruleOf(route: string, detail: Detail, response: object | undefined): RouteRule {
  if (!detail.security) throw new Error(`${route} does not say who may call it: scope, signedIn or open`)
  const { body = 'json', timeLimit, cors, idPrefix = 'req', maxBytes, maxFiles = 1 } = detail.edge ?? {}
  const open = detail.security.length === 0
  return {
    open,
    scope: detail['x-required-scope'] ?? null,
    body,
    maxBytes: maxBytes ?? (body === 'form' ? MAX_FORM_BYTES : open ? MAX_PUBLIC_BYTES : MAX_JSON_BYTES),
    maxFiles,
    timeLimit: timeLimit !== 'own',
    idPrefix,
    readers: open && !cors ? [] : 'anyone',
    once: detail['x-idempotent'] ? { status: successOf(route, response), streams: detail['x-streams'] === true } : null,
  }
}

function successOf(route: string, response: object = {}): number {
  if ('schema' in response) return 200
  const [status, ...more] = Object.keys(response).filter((word) => word.startsWith('2'))
  // A route may declare two success statuses (200 existing, 201 created). Its verb picks which one is stored.
  if (!status || more.length > 1) throw new Error(`${route} is idempotent and does not declare one success, or two`)
  return Number(more[0] ?? status)
}

/** Finds the methods that a path accepts, for 405 and `Allow` (docs/api.md 1.1). Built once from the finished app. */
export function createMethodTable({ routes }: Routed): (path: string) => string[] {
  const router = createRouter(routes, () => true)
  const known = [...new Set(routes.map(({ method }) => method))]
  return (path) => {
    const methods = known.filter((method) => router.find(method, path))
    if (methods.includes('GET')) methods.push('HEAD')
    return methods.sort()
  }
}

/** The framework's own router, so that a path matches the same route here and in the framework. */
function createRouter<Of extends { method: string; path: string }, T>(
  routes: readonly Of[],
  storeOf: (route: Of) => T,
): Memoirist<T> {
  const router = new Memoirist<T>()
  for (const route of routes) router.add(route.method, route.path, storeOf(route))
  return router
}

/**
 * Finds the success status of a route by its name in the audit record (docs/api.md 19: `status`). Undefined for a route
 * with two success statuses, because its verb records the actual one.
 */
export function createSuccessTable(routes: readonly DeclaredRoute[]): (route: string) => number | undefined {
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
