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
  /** Timeout of one answer, in milliseconds. */
  patienceMs?: number
  /** How often to retry a read that found no server, or one that is not ready. */
  retry?: { retries: number; pause(ms: number): Promise<void> }
}

const FIRST_PAUSE_MS = 250
/** Answers of a gateway, or of a server that is starting or stopping. The request had no effect. */
const NOT_READY = [502, 503, 504]

/** A client of the tenant API, typed by its routes. Dates stay strings, as they are on the wire. */
export const connect = (target: Target, options: Options) =>
  encoding(treaty<Api>(originOf(target), wiring(target, options)).api.v1)

/** A client of the operator API, typed by its routes. */
export const connectOps = (target: Target, options: Options) =>
  encoding(treaty<OperatorApi>(originOf(target), wiring(target, options)).ops.v1)

const METHODS = new Set(['get', 'post', 'put', 'patch', 'delete'])

/**
 * Encodes path parameters, which the typed client inserts as they are. Its members are no promises, so that `await` and
 * async functions may hold them.
 */
const encoding = <Client extends object>(client: Client, name = ''): Client =>
  new Proxy(client, {
    get: (_, member: string) =>
      member === 'then' ? undefined : encoding((client as Record<string, Client>)[member]!, member),
    apply(_, __, words: unknown[]) {
      const call = client as unknown as (...words: unknown[]) => Client
      if (METHODS.has(name)) return call(...words)
      const [[param, value]] = Object.entries(words[0] as object) as [[string, string]]
      return encoding(call({ [param]: encodeURIComponent(value) }))
    },
  })

export type TenantClient = ReturnType<typeof connect>
export type OpsClient = ReturnType<typeof connectOps>

/** Sends one request that the typed client does not cover: streams and `/metrics`. */
export function send(target: Target, path: string, init: RequestInit): Promise<Response> {
  const url = `${originOf(target)}${path}`
  if (target.kind === 'app') return Promise.resolve(target.handle(new Request(url, init)))
  // Disables the five-minute timeout of `fetch`. The caller's signal decides how long to wait.
  const own = target.kind === 'socket' ? { unix: target.path, timeout: false } : { timeout: false }
  return fetch(url, { ...init, ...own } as RequestInit)
}

/** The origin of a target. A socket and an app in this process have no host, so any name works. */
const originOf = (target: Target): string => (target.kind === 'url' ? target.url : 'http://localhost')

/** Retries a read, with pauses that double. Sends changes once, because only the caller knows if they may repeat. */
async function retried(method: string, attempt: () => Promise<Response>, retry: Options['retry']): Promise<Response> {
  const max = method === 'GET' && retry ? retry.retries : 0
  for (let tries = 0; ; tries++) {
    const answer = await attempt().catch((error: Error) => error)
    const isGivenUp = answer instanceof Error && ['AbortError', 'TimeoutError'].includes(answer.name)
    const mayHelp = answer instanceof Error ? !isGivenUp : NOT_READY.includes(answer.status)
    if (mayHelp && tries < max) {
      if (answer instanceof Response) await answer.body?.cancel()
      await retry!.pause(FIRST_PAUSE_MS * 2 ** tries)
    } else if (answer instanceof Error) throw answer
    else return answer
  }
}

function wiring(target: Target, { headers, onExchange, signal, patienceMs, retry }: Options) {
  const fetcher = async (input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
    const { pathname, search } = new URL(String(input))
    const attempt = () => {
      // Requests after the abort clean up, for example a listener that removes its webhook, so they ignore the signal.
      const ends = signal && !signal.aborted ? [signal] : []
      if (patienceMs !== undefined) ends.push(AbortSignal.timeout(patienceMs))
      const until = ends.length ? { signal: AbortSignal.any(ends) } : {}
      return send(target, pathname + search, { ...init, ...until })
    }
    const method = init.method ?? 'GET'
    const response = await retried(method, attempt, retry)
    onExchange?.({ method, url: pathname + search }, response)
    return response
  }
  return { fetcher: fetcher as typeof fetch, headers, parseDate: false }
}
