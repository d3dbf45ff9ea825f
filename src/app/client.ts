import { treaty } from '@elysiajs/eden'
import type { OperatorApi } from '../operators/routes'
import type { Api } from './server'

/** Where an app is: behind a unix socket, at an origin, or in this very process. */
export type Target =
  | { kind: 'socket'; path: string }
  | { kind: 'url'; url: string }
  | { kind: 'app'; handle(request: Request): Response | Promise<Response> }

type Options = {
  headers: Record<string, string>
  /** Sees each exchange, for `--debug`. */
  onExchange?(request: { method: string; url: string }, response: Response): void
  signal?: AbortSignal
}

/** The tenant plane, typed by the routes themselves. Dates stay strings, as they are on the wire. */
export const connect = (target: Target, options: Options) =>
  treaty<Api>(originOf(target), wiring(target, options)).api.v1

/** The operator plane, typed the same way. */
export const connectOps = (target: Target, options: Options) =>
  treaty<OperatorApi>(originOf(target), wiring(target, options)).ops.v1

export type TenantClient = ReturnType<typeof connect>
export type OpsClient = ReturnType<typeof connectOps>

/** One exchange with a target, for what no typed route covers: a stream, the exposition of metrics. */
export function send(target: Target, path: string, init: RequestInit): Promise<Response> {
  const url = `${originOf(target)}${path}`
  if (target.kind === 'app') return Promise.resolve(target.handle(new Request(url, init)))
  // Without its own limit of five minutes: how long to wait is the caller's signal to give.
  const own = target.kind === 'socket' ? { unix: target.path, timeout: false } : { timeout: false }
  return fetch(url, { ...init, ...own } as RequestInit)
}

/** A socket and an app in this process have no host of their own. */
const originOf = (target: Target): string => (target.kind === 'url' ? target.url : 'http://localhost')

function wiring(target: Target, { headers, onExchange, signal }: Options) {
  const fetcher = async (input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
    const { pathname, search } = new URL(String(input))
    const response = await send(target, pathname + search, { ...init, ...(signal ? { signal } : {}) })
    onExchange?.({ method: init.method ?? 'GET', url: pathname + search }, response)
    return response
  }
  return { fetcher: fetcher as typeof fetch, headers, parseDate: false }
}
