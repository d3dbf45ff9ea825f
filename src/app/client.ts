import { treaty } from '@elysiajs/eden'
import type { OperatorApi } from './ops'
import type { Api } from './server'

/** How to reach an app: over a unix socket, by URL, or in this process. */
export type Target =
  | { kind: 'socket'; path: string }
  | { kind: 'url'; url: string }
  | { kind: 'app'; handle(request: Request): Response | Promise<Response> }

type Options = {
  headers: Record<string, string>
  /** Called after each request, for `--debug`. */
  onExchange?(request: { method: string; url: string }, response: Response): void
  signal?: AbortSignal
  /** How long one answer may take, in milliseconds. */
  patienceMs?: number
}

/** A client of the tenant API, typed by its routes. Dates stay strings, as they are on the wire. */
export const connect = (target: Target, options: Options) =>
  treaty<Api>(originOf(target), wiring(target, options)).api.v1

/** A client of the operator API, typed by its routes. */
export const connectOps = (target: Target, options: Options) =>
  treaty<OperatorApi>(originOf(target), wiring(target, options)).ops.v1

export type TenantClient = ReturnType<typeof connect>
export type OpsClient = ReturnType<typeof connectOps>

/** Sends one request to a target, for what the typed client does not cover: streams and `/metrics`. */
export function send(target: Target, path: string, init: RequestInit): Promise<Response> {
  const url = `${originOf(target)}${path}`
  if (target.kind === 'app') return Promise.resolve(target.handle(new Request(url, init)))
  // Switches off the limit of five minutes that `fetch` has: the caller's signal decides how long to wait.
  const own = target.kind === 'socket' ? { unix: target.path, timeout: false } : { timeout: false }
  return fetch(url, { ...init, ...own } as RequestInit)
}

/** The origin of a target; a socket and an app in this process have no host, so any name does. */
const originOf = (target: Target): string => (target.kind === 'url' ? target.url : 'http://localhost')

function wiring(target: Target, { headers, onExchange, signal, patienceMs }: Options) {
  const fetcher = async (input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
    const { pathname, search } = new URL(String(input))
    // What is asked after the end was called for cleans up, as when a listener takes its webhook away.
    const ends = signal && !signal.aborted ? [signal] : []
    if (patienceMs !== undefined) ends.push(AbortSignal.timeout(patienceMs))
    const until = ends.length ? { signal: AbortSignal.any(ends) } : {}
    const response = await send(target, pathname + search, { ...init, ...until })
    onExchange?.({ method: init.method ?? 'GET', url: pathname + search }, response)
    return response
  }
  return { fetcher: fetcher as typeof fetch, headers, parseDate: false }
}
