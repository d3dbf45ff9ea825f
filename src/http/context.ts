import type { Replay, Ticket } from '../idempotency'
import type { Call, TenantCaller } from '../kernel/caller'
import { AppError } from '../kernel/errors'
import type { RouteRule } from './route-rules'

/** The URL of a request; with a host that any request has where it came without one. */
export const urlOf = ({ url }: Request): URL => URL.parse(url) ?? new URL(`http://localhost${pathOf(url)}`)

/** State of one request, filled by the edge and used by everything that handles the request. */
export type Exchange = {
  readonly requestId: string
  /** `clock.monotonic()` at arrival. */
  readonly startedAt: number
  readonly method: string
  readonly path: string
  /** What the route of this path declares. */
  readonly rule: RouteRule
  /** The client's address. A function, because finding the address costs more than most answers. */
  ip(): string
  /** The authenticated caller; null before authentication and on public routes. */
  caller: TenantCaller | null
  /** Pages that may read the answer of an open route, where its verb decides; null leaves it to the route's rule. */
  readers: readonly string[] | null
  /** Lets the connection be silent as long as the answer takes. */
  keepOpen(): void
  /**
   * An open route has found out who calls, such as by the token of a chat: the connection is no stranger's, so it does
   * not count among those of its address that never authenticated.
   */
  known(): void
  /** Closes the connection soon, because the answer leaves a body unread that may never come. */
  hangUp(): void
  /** Ends its part in the count of its address's open requests; null when it has none. */
  leave: (() => void) | null
  /** Extra fields of the access log line. */
  readonly notes: Record<string, string | number | boolean | null>
  /** True for streams, which write their own access log line when they end. */
  streaming: boolean
  /** True for streams that last as long as their reader stays: their time says nothing of the server. */
  follows: boolean
  errorCode: string | null
  /** From the Idempotency-Key: a ticket to run the request once, or the stored answer to replay. */
  ticket: Ticket | null
  replay: Replay | null
}

/** Where the API is mounted: the one address that the edge knows. */
export const API = '/api/v1'

/** The name of a route in the audit record, such as `POST /completions` (contract 19: `endpoint`). */
export const routeName = (method: string, route: string): string =>
  `${method} ${route.startsWith(API) ? route.slice(API.length) : route}`

/** Builds the `Call` that a verb receives. Throws when the request has no caller. */
export function callOf(exchange: Exchange, route: string, signal: AbortSignal): Call {
  if (!exchange.caller) throw new Error(`${route} is reached without a caller`)
  return {
    caller: exchange.caller,
    requestId: exchange.requestId,
    route: routeName(exchange.method, route),
    signal,
    once: exchange.ticket ?? undefined,
  }
}

/** The path of a request's URL. Does not use `new URL`, because a forged Host header can make the URL unparsable. */
export function pathOf(url: string): string {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3)
  const end = url.indexOf('?', start)
  return start < 0 ? '/' : url.slice(start, end < 0 ? undefined : end)
}

/**
 * Throws 400 `validation_error` for a Host header that is no host (RFC 9112, 3.2). A request without one is served:
 * health checks by HTTP/1.0 send none.
 */
export function assertHost({ headers, url }: Request): void {
  if (!headers.get('host') || URL.canParse(url)) return
  throw new AppError('invalid', 'validation_error', 'The Host header is not a host name. Send the host of the address.')
}
