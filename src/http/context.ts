import type { Replay, Ticket } from '../idempotency'
import type { Call, TenantCaller } from '../kernel/caller'
import { AppError } from '../kernel/errors'
import { createAddressList } from '../kernel/outbound'
import type { RouteRule } from './route-rules'

/** Response headers that a page may read: all headers that the contract names. */
const EXPOSED_HEADERS = [
  'X-Request-Id',
  'Retry-After',
  'X-Ratelimit-Limit-Requests',
  'X-Ratelimit-Remaining-Requests',
  'X-Ratelimit-Reset-Requests',
  'X-Ratelimit-Limit-Tokens',
  'X-Ratelimit-Remaining-Tokens',
  'X-Ratelimit-Reset-Tokens',
  'X-Cache',
  'X-Idempotent-Replay',
  'X-Has-More',
  'X-Next-Cursor',
  'X-Svc-Ignored',
  'X-Should-Retry',
  'Link',
].join(', ')

/** The origins whose pages may read an answer. `anyone` is for answers that belong to no account. */
export type Readers = readonly string[] | 'anyone'

const ALWAYS_ALLOWED = 'authorization, content-type, idempotency-key, cache-control, x-api-key, api-key'

const HEADER_NAMES = /^[\w\-, ]{1,2048}$/

/** Finds the client's address from the peer's address and the `X-Forwarded-For` header. */
export type ClientAddress = (peer: string, forwardedFor: string | null) => string

/** Replaces the address of a peer that has none. */
export const WITHOUT_ADDRESS = 'local'

/** The URL of a request, with a placeholder host if the request has none. */
export const urlOf = ({ url }: Request): URL => URL.parse(url) ?? new URL(`http://localhost${pathOf(url)}`)

/** State of one request, filled by the edge and used by everything that handles the request. */
export type Exchange = {
  readonly requestId: string
  /** `clock.monotonic()` at arrival. */
  readonly startedAt: number
  readonly method: string
  readonly path: string
  /** The rule of this path's route. */
  readonly rule: RouteRule
  /** The client's address. A function, because finding the address costs more than most answers. */
  ip(): string
  /** The authenticated caller. Null before authentication and on public routes. */
  caller: TenantCaller | null
  /** Origins that may read the answer of an open route, if its verb decides. Null uses the route's rule. */
  readers: readonly string[] | null
  /** Allows the connection to be silent until the answer is complete. */
  keepOpen(): void
  /**
   * Called when an open route has identified the caller, for example by the token of a chat. The connection then no
   * longer counts as one that never authenticated.
   */
  known(): void
  /** Closes the connection soon, because the answer leaves a body unread that may never arrive. */
  hangUp(): void
  /** Uncounts this request from the open requests of its address. Null if it is not counted. */
  leave: (() => void) | null
  /** Extra fields of the access log line. */
  readonly notes: Record<string, string | number | boolean | null>
  /** True for streams, which write their own access log line when they end. */
  streaming: boolean
  /** True for streams that last until their reader leaves, so their duration is meaningless for metrics. */
  follows: boolean
  errorCode: string | null
  /** From the Idempotency-Key: a ticket to run the request once, or the stored answer to replay. */
  ticket: Ticket | null
  replay: Replay | null
}

/** Path prefix of the API. */
export const API = '/api/v1'

/** The name of a route in the audit record, such as `POST /completions` (docs/api.md 19: `endpoint`). */
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

/** The host of the last request with a valid URL. Cached because nearly all requests have the same one. */
let usualHost = ''

/**
 * Throws 400 `validation_error` for an invalid Host header (RFC 9112, 3.2). A request without the header is served,
 * because health checks by HTTP/1.0 send none.
 */
export function assertHost({ headers, url }: Request): void {
  const host = headers.get('host')
  if (!host || (host === usualHost && url.startsWith(host, url.indexOf('://') + 3))) return
  if (URL.canParse(url)) {
    usualHost = host
    return
  }
  throw new AppError('validation_error', 'The Host header is not a host name. Send the host of the address.')
}

/**
 * Creates the lookup of the address by which sign-in attempts and anonymous requests are counted. The header is trusted
 * only as far as the operator's own proxies wrote it: read from its end, the first address that is not such a proxy is
 * the client. Without trusted proxies the header is ignored (docs/attacks.md C7). `onSocket`: the API listens on a
 * socket, which only the operator's own proxy can open.
 * @throws Error naming an entry of `trusted` that is not an address or a CIDR
 */
export function createClientAddress(trusted: readonly string[], onSocket = false): ClientAddress {
  const ours = createAddressList(trusted)
  return (peer, forwardedFor) => {
    const isOurs = (trusted.length > 0 && ours.has(peer)) || (onSocket && peer === WITHOUT_ADDRESS)
    if (forwardedFor === null || !isOurs) return peer
    let client = peer
    for (const hop of forwardedFor.split(',').reverse()) {
      const address = ours.read(hop.trim())
      // No trusted proxy writes an invalid address, so the last valid hop is the client.
      if (address === null) return client
      client = address
      if (!ours.has(address)) return client
    }
    return client
  }
}

/**
 * CORS headers. Echoes an allowed origin of the key, and no other (docs/api.md 1.1). Public answers allow every page by
 * `*`, which browsers never combine with cookies.
 */
export function corsHeaders(origin: string | null, readers: Readers): Record<string, string> {
  const open = readers === 'anyone'
  if (!origin || !(open || readers.includes(origin))) return {}
  return { 'access-control-allow-origin': open ? '*' : origin, 'access-control-expose-headers': EXPOSED_HEADERS }
}

/**
 * Headers for a CORS preflight. Null when the request is not one. A preflight carries no credential, so the key's
 * origins are still unknown. Every origin may send the call, with any headers of its client library. The answer to the
 * call itself then decides whether the page may read it.
 */
export function preflightHeaders(headers: Headers, methods: readonly string[]): Record<string, string> | null {
  const [origin, method] = [headers.get('origin'), headers.get('access-control-request-method')]
  if (!origin || !method || !methods.includes(method)) return null
  const question = headers.get('access-control-request-headers') ?? ''
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-methods': method,
    'access-control-allow-headers': HEADER_NAMES.test(question) ? question : ALWAYS_ALLOWED,
    'access-control-expose-headers': EXPOSED_HEADERS,
    'access-control-max-age': '600',
    vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
  }
}
