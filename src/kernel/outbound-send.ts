import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  request as plainRequest,
  type RequestOptions,
} from 'node:http'
import { Agent as SecureAgent, request as secureRequest } from 'node:https'
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, inflateRaw, zstdDecompress } from 'node:zlib'

type Limits = {
  /** Maximum idle connections: per host, port and set of addresses, and in total. */
  idleEach?: number
  idleAll?: number
  idleMs?: number
}

const CONNECT_TIMEOUT_MS = 10_000

/** Why a call to a user-chosen address got no answer. The module decides what to report and whether to retry. */
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

export type PublicRequest = {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD'
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** A larger answer fails with `too-large`. */
  maxBytes: number
  /** Returns status and headers as soon as they arrive. The rest of the answer does not matter. */
  statusOnly?: boolean
  /** Timeout of the whole call, from the DNS lookup to the last byte of the answer. */
  timeoutMs: number
  signal?: AbortSignal
  /**
   * The call may use a kept connection and leave one. Only for repeatable requests, because the call is repeated if a
   * kept connection has just closed.
   */
  repeatable?: boolean
}

export type PublicResponse = { status: number; headers: Record<string, string>; body: Uint8Array }

export type Resolved = { address: string; family: number }
type Found = () => Promise<Resolved[]>
type LookupDone = (error: Error | null, addresses?: Resolved[] | string, family?: number) => void

/** How long to read the rest of an answer that is ignored. */
const LEAVE_MS = 2_000

/** Headers that frame or route the message. User-chosen values would allow smuggling or redirecting. */
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

/** A kept connection closed before any answer. The other side may do so at any time. */
export class Stale extends Error {}

/** A `lookup` for `node:http` that returns only checked addresses. */
export const lookupBy =
  (find: Found) =>
  (_: string, options: { all?: boolean }, done: LookupDone): void => {
    find().then(
      (found) => (options.all ? done(null, found) : done(null, found[0]!.address, found[0]!.family)),
      (error: Error) => done(error),
    )
  }

type Way = { lookup: ReturnType<typeof lookupBy>; agent: RequestOptions['agent']; pinned?: string }

/**
 * Sends one request to a validated address, over a connection from `way`. Throws an {@link OutboundFailure} when no
 * complete answer arrives, errors of `way`, and {@link Stale}.
 */
export function send(url: URL, request: PublicRequest, deadline: AbortSignal, way: Way): Promise<PublicResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<PublicResponse>()
  const signal = request.signal ? AbortSignal.any([request.signal, deadline]) : deadline
  const open = url.protocol === 'https:' ? secureRequest : plainRequest

  const outgoing = open(url, {
    method: request.method ?? 'GET',
    headers: {
      ...Object.fromEntries(Object.entries(request.headers ?? {}).filter(([name]) => !OURS.has(name.toLowerCase()))),
      'accept-encoding': 'identity',
    },
    ...(way as RequestOptions),
    signal,
  })
  let answered = false
  const connecting = setTimeout(
    () => outgoing.destroy(new OutboundFailure('connect', 'the connection took too long')),
    CONNECT_TIMEOUT_MS,
  )
  const fail = (error: Error) => {
    clearTimeout(connecting)
    const isStale = outgoing.reusedSocket && !answered && !signal.aborted
    reject(isStale ? new Stale() : explain(error, deadline, request.signal))
  }
  const connected = () => clearTimeout(connecting)
  outgoing.on('socket', (socket) => (socket.connecting ? socket.once('connect', connected) : connected()))
  // What breaks behind the status of an answer is no fault of it where only that is wanted.
  outgoing.on('error', (error) => (answered && request.statusOnly ? undefined : fail(error)))
  outgoing.on('response', (incoming) => {
    answered = true
    clearTimeout(connecting)
    const read = request.statusOnly
      ? dropRest(incoming, request.maxBytes, outgoing)
      : collect(incoming, request.maxBytes)
    read.then(resolve, (error: Error) => {
      outgoing.destroy()
      fail(error)
    })
  })
  outgoing.end(request.body)
  return promise
}

/** Reads the rest of an answer briefly, so that the sender can finish it, and returns status and headers. */
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
  const headers = headersOf(incoming)
  const packed = (headers['content-encoding'] ?? '')
    .toLowerCase()
    .split(/[\s,]+/)
    .reverse()
  let body: Uint8Array = Buffer.concat(chunks)
  // Some servers store files compressed and send them so to every client.
  for (const name of packed.slice(0, MAX_PACKED)) body = await unpacked(body, name, maxBytes)
  return { status: incoming.statusCode ?? 0, headers, body }
}

const MAX_PACKED = 2
const [gzip, br] = [promisify(gunzip), promisify(brotliDecompress)]
const UNPACK: Record<string, typeof gzip> = {
  ...{ gzip, 'x-gzip': gzip, br },
  ...{ deflate: promisify(inflate) as typeof gzip, zstd: promisify(zstdDecompress) as typeof gzip },
  // Some servers leave out the header of RFC 1950.
  raw: promisify(inflateRaw) as typeof gzip,
}

/** Decompresses a body. Leaves it unchanged if it is not compressed, or has an unknown encoding. */
async function unpacked(body: Uint8Array, name: string, maxBytes: number): Promise<Uint8Array> {
  const isRaw = name === 'deflate' && ((body[0]! & 15) !== 8 || (body[0]! * 256 + body[1]!) % 31 !== 0)
  const unpack = UNPACK[isRaw ? 'raw' : name]
  if (!unpack || !body.length || (unpack === gzip && body[0] !== 0x1f)) return body
  try {
    return await unpack(body, { maxOutputLength: maxBytes })
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE')
      throw new OutboundFailure('too-large', `the answer is larger than ${maxBytes} bytes`)
    // Text without control characters was sent as it is, in spite of its header.
    if (!body.subarray(0, 512).some((byte) => byte < 9 || (byte > 13 && byte < 32))) return body
    throw new OutboundFailure('reset', 'the answer could not be unpacked', { cause: error })
  }
}

/** Maps a network error to one that is safe to show: without IP addresses and without text from the other side. */
function explain(error: Error, deadline: AbortSignal, caller: AbortSignal | undefined): Error {
  if (caller?.aborted) return new OutboundFailure('aborted', 'the call was cancelled', { cause: error })
  if (deadline.aborted) return new OutboundFailure('timeout', 'no complete answer in time', { cause: error })
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

/** Opens a connection to an IP address that `outbound` has checked. Rejects with the network error. */
export function dial(address: string, port: number): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const socket = connect({ host: address, port })
  const late = setTimeout(() => socket.destroy(new Error('the connection took too long')), CONNECT_TIMEOUT_MS)
  const fail = (error: Error) => {
    clearTimeout(late)
    reject(error)
  }
  socket.once('error', fail)
  socket.once('connect', () => {
    clearTimeout(late)
    socket.off('error', fail)
    resolve(socket)
  })
  return promise
}

/**
 * Connections for reuse by later calls. A call gets only a connection with the same scheme, host, port, TLS name and
 * set of IP addresses that the call itself resolved and checked. So a kept connection leads nowhere that the call could
 * not connect to now (docs/attacks.md J13). Few are kept, and not for long.
 */
export function keepConnections({ idleEach = 64, idleAll = 256, idleMs = 10_000 }: Limits = {}) {
  const options = { keepAlive: true, maxFreeSockets: idleEach, timeout: idleMs }
  const [plain, secure] = [bounded(new Agent(options)), bounded(new SecureAgent(options))]
  /** Functions that end the count of an idle connection. */
  const idle = new Map<Duplex, () => void>()
  return {
    /** Options for a request that may reuse a connection to these addresses of its host, or leave one. */
    optionsFor: (url: URL, addresses: readonly string[]) => ({
      agent: url.protocol === 'https:' ? secure : plain,
      pinned: [...addresses].sort().join(' '),
    }),
    idleCount: () => idle.size,
  }

  function bounded<A extends Agent>(agent: A): A {
    const { getName, keepSocketAlive, reuseSocket } = agent
    agent.getName = (to) => `${getName.call(agent, to)}|${(to as { pinned?: string } | undefined)?.pinned}`
    // By its type this returns nothing, but false closes the connection.
    agent.keepSocketAlive = (socket) => {
      const keeps = idle.size < idleAll && (keepSocketAlive.call(agent, socket) as unknown as boolean)
      if (keeps) idle.set(socket, watchEnd(socket))
      return keeps
    }
    agent.reuseSocket = (socket, request) => {
      idle.get(socket)?.()
      reuseSocket.call(agent, socket, request)
    }
    return agent
  }

  function watchEnd(socket: Duplex): () => void {
    const end = () => {
      idle.delete(socket)
      socket.off('close', end)
    }
    socket.once('close', end)
    return end
  }
}
