import type { Replay, Ticket } from '../idempotency'
import type { Call, TenantCaller } from '../kernel/caller'
import type { RouteRule } from './route-rules'

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
