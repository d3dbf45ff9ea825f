import type { Replay, Ticket } from '../idempotency'
import type { Call, TenantCaller } from '../kernel/caller'

/** What the gate learned of a request and everything after it may use. */
export type Exchange = {
  readonly requestId: string
  /** `clock.monotonic()` at arrival. */
  readonly startedAt: number
  readonly method: string
  readonly path: string
  /** The peer's address, asked for only where it matters: the question costs more than most answers. */
  ip(): string
  /** Who asks, once known; null on public routes. */
  caller: TenantCaller | null
  /** Facts for the one log line, added by whoever knows them. */
  readonly notes: Record<string, string | number | boolean | null>
  /** A stream ends its own log line when its last byte is out. */
  streaming: boolean
  errorCode: string | null
  /** What an Idempotency-Key brought: the right to run the request, or the answer it had. */
  ticket: Ticket | null
  replay: Replay | null
}

/** Every route has it, so the record does without (contract 19: `endpoint`). */
const PREFIX = /^\/api\/v1/

/** `POST /completions`: a route as the record names it. */
export const routeName = (method: string, route: string): string => `${method} ${route.replace(PREFIX, '')}`

/** The call a verb is given: the caller, the request id, the route's pattern, and a signal of the client leaving. */
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
