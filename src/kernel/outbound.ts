import { lookup as systemLookup } from 'node:dns/promises'
import { type ClientRequest, type IncomingMessage, request as plainRequest, type RequestOptions } from 'node:http'
import { request as secureRequest } from 'node:https'
import ipaddr from 'ipaddr.js'
import { type AddressRule, createAddressRule } from './addresses'
import { hostOf, readPublicUrl, type UrlRules, urlBlocked } from './outbound-url'

/** Why a call to a user-chosen address gave no answer; the room decides what to report and whether to retry. */
export type OutboundKind = 'dns' | 'connect' | 'tls' | 'timeout' | 'reset' | 'too-large' | 'aborted'

export class OutboundFailure extends Error {
  override name = 'OutboundFailure'
  constructor(
    readonly kind: OutboundKind,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

type Resolved = { address: string; family: number }
/** Resolves a host name to all of its addresses. */
export type Resolve = (host: string) => Promise<Resolved[]>

export type OutboundOptions = {
  /** CIDRs exempt from the address guard (`SVC_EGRESS_ALLOW`). */
  allow?: readonly string[]
  /** CIDRs refused in addition to all addresses that are not public. */
  deny?: readonly string[]
  /** Hosts this server answers on, with or without a port. */
  ownHosts?: readonly string[]
  httpsOnly?: boolean
  resolve?: Resolve
}

export type PublicRequest = {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD'
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** A larger answer fails with `too-large`. */
  maxBytes: number
  /** Only status and headers are wanted: they count once they are there, whatever becomes of the rest. */
  statusOnly?: boolean
  /** Time for the whole call, from the DNS look-up to the last byte of the answer. */
  timeoutMs: number
  signal?: AbortSignal
}

export type PublicResponse = { status: number; headers: Record<string, string>; body: Uint8Array }

export type Outbound = ReturnType<typeof createOutbound>

const DNS_TIMEOUT_MS = 3_000
const CONNECT_TIMEOUT_MS = 10_000
/** How long the rest of an answer is read that nobody looks at. */
const LEAVE_MS = 2_000

/** Headers that frame or route the message; values chosen by a user would allow smuggling or redirecting (J2). */
const OURS = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'upgrade',
  'te',
  'trailer',
  'expect',
])

/**
 * The only way to call addresses that a user or a model chose (design 1.8). `node:https` connects to the very IP
 * address that our `lookup` checked, so a name that resolves differently a moment later gains nothing (J13). No
 * redirects, no decompression, no reused connections.
 */
export function createOutbound(options: OutboundOptions = {}) {
  const addresses = createAddressRule(options)
  const rules: UrlRules = {
    addresses,
    ownHosts: new Set(options.ownHosts ?? []),
    httpsOnly: options.httpsOnly ?? false,
    localNames: Boolean(options.allow?.length),
  }
  const resolve = options.resolve ?? ((host) => systemLookup(host, { all: true }))

  /** Checks an address when it is saved, without resolving its name. Throws 400 `url_blocked`. */
  const readUrl = (text: string): URL => readPublicUrl(text, rules)

  return {
    readUrl,

    /** Like {@link readUrl}, and checks every IP address its name has now. Throws 400 `url_blocked`. */
    async assertPublicUrl(text: string): Promise<void> {
      const url = readUrl(text)
      if (ipaddr.isValid(hostOf(url))) return
      const found = await resolveWithin(resolve, hostOf(url)).catch(() => [])
      if (found.some(({ address }) => !addresses.permits(address)))
        throw urlBlocked(text, 'its name leads to a private address')
    },

    /**
     * Sends one request and returns the answer, whatever its status. Throws 400 `url_blocked` when the address is not
     * public, an {@link OutboundFailure} when no complete answer came.
     */
    async fetchPublic(text: string, request: PublicRequest): Promise<PublicResponse> {
      const url = readUrl(text)
      return await send(url, request, checkingLookup(text, addresses, resolve))
    },
  }
}

/** `fetch` for addresses from the operator's configuration: no address guard, connections reused, no redirects. */
export const trustedFetch = (url: string, init: RequestInit): Promise<Response> =>
  fetch(url, { redirect: 'manual', ...init, timeout: false } as RequestInit)

type LookupDone = (error: Error | null, addresses?: Resolved[] | string, family?: number) => void

type CheckingLookup = ReturnType<typeof checkingLookup>

/** A `lookup` that refuses a name when any one of its addresses is refused. */
function checkingLookup(text: string, rule: AddressRule, resolve: Resolve) {
  return (host: string, options: { all?: boolean }, done: LookupDone) => {
    const answer = async () => {
      const found = await resolveWithin(resolve, host)
      if (found.some(({ address }) => !rule.permits(address)))
        throw urlBlocked(text, 'its name leads to a private address')
      return found
    }
    answer().then(
      (found) => (options.all ? done(null, found) : done(null, found[0]!.address, found[0]!.family)),
      (error: Error) => done(error),
    )
  }
}

async function resolveWithin(resolve: Resolve, host: string): Promise<Resolved[]> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new OutboundFailure('dns', 'the name look-up took too long')), DNS_TIMEOUT_MS)
  try {
    const found = await Promise.race([resolve(host), late])
    if (found.length === 0) throw new OutboundFailure('dns', 'the name has no address')
    return found
  } catch (error) {
    if (error instanceof OutboundFailure) throw error
    throw new OutboundFailure('dns', 'the name could not be looked up', { cause: error })
  } finally {
    clearTimeout(timer)
  }
}

function send(url: URL, request: PublicRequest, lookup: CheckingLookup): Promise<PublicResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<PublicResponse>()
  const deadline = AbortSignal.timeout(request.timeoutMs)
  const signal = request.signal ? AbortSignal.any([request.signal, deadline]) : deadline
  const open = url.protocol === 'https:' ? secureRequest : plainRequest

  const outgoing = open(url, {
    method: request.method ?? 'GET',
    headers: { ...ownHeaders(request.headers), 'accept-encoding': 'identity' },
    lookup: lookup as NonNullable<RequestOptions['lookup']>,
    agent: false,
    signal,
  })
  const connecting = setTimeout(
    () => outgoing.destroy(new OutboundFailure('connect', 'the connection took too long')),
    CONNECT_TIMEOUT_MS,
  )
  const fail = (error: Error) => {
    clearTimeout(connecting)
    reject(explain(error, deadline, request.signal))
  }
  outgoing.on('socket', (socket) => socket.once('connect', () => clearTimeout(connecting)))
  outgoing.on('error', fail)
  outgoing.on('response', (incoming) => {
    clearTimeout(connecting)
    const answered = request.statusOnly
      ? dropRest(incoming, request.maxBytes, outgoing)
      : collect(incoming, request.maxBytes)
    answered.then(resolve, (error: Error) => {
      outgoing.destroy()
      fail(error)
    })
  })
  outgoing.end(request.body)
  return promise
}

const ownHeaders = (headers: Record<string, string> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !OURS.has(name.toLowerCase())))

/** Reads the rest of an answer for a moment, so that its sender can end it in order, and returns status and headers. */
async function dropRest(incoming: IncomingMessage, maxBytes: number, outgoing: ClientRequest): Promise<PublicResponse> {
  const { promise: over, resolve: end } = Promise.withResolvers<void>()
  const timer = setTimeout(end, LEAVE_MS)
  let size = 0
  incoming.on('data', (chunk: Uint8Array) => {
    size += chunk.length
    if (size > maxBytes) end()
  })
  for (const event of ['end', 'error', 'aborted', 'close']) incoming.on(event, () => end())
  await over
  clearTimeout(timer)
  if (!incoming.complete) outgoing.destroy()
  return { status: incoming.statusCode ?? 0, headers: headersOf(incoming), body: new Uint8Array() }
}

const headersOf = (incoming: IncomingMessage): Record<string, string> =>
  Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]))

async function collect(incoming: IncomingMessage, maxBytes: number): Promise<PublicResponse> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of incoming as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > maxBytes) throw new OutboundFailure('too-large', `the answer is larger than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  if (!incoming.complete) throw new OutboundFailure('reset', 'the answer stopped in the middle')
  return { status: incoming.statusCode ?? 0, headers: headersOf(incoming), body: Buffer.concat(chunks) }
}

/** Maps a network error to one that is safe to show: without IP addresses and without text from the other side. */
function explain(error: Error, deadline: AbortSignal, caller: AbortSignal | undefined): Error {
  if (caller?.aborted) return new OutboundFailure('aborted', 'the call was ended', { cause: error })
  if (deadline.aborted) return new OutboundFailure('timeout', 'no whole answer in time', { cause: error })
  if (error instanceof OutboundFailure || error.name === 'AppError') return error
  const code = String((error as { code?: unknown }).code ?? '')
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO/.test(code)) {
    return new OutboundFailure('tls', 'the certificate or the encryption was not accepted', { cause: error })
  }
  if (/ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ConnectionRefused|FailedToOpenSocket/.test(code)) {
    return new OutboundFailure('connect', 'no connection could be made', { cause: error })
  }
  return new OutboundFailure('reset', 'the connection ended before the answer did', { cause: error })
}
