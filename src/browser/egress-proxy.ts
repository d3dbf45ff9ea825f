import { connect, createServer, type Socket } from 'node:net'
import type { Outbound } from '../kernel/outbound'

/** The parsed head of a proxy request: its destination, and the head to send there. */
type ProxyHead = {
  tunnel: boolean
  /** `host:port`. */
  authority: string
  /** The head for the server itself. Empty for a tunnel. */
  head: string
}

/** Hop-by-hop headers, including those that keep a connection open for a next request, possibly to another host. */
const HOP = /^(proxy-[a-z-]+|connection|keep-alive|te|trailer)\s*:/i

const REFUSED = 'This address cannot be opened here: it is not a public http or https address.'

/** The answer to a blocked request. */
const refused = (why = REFUSED): string =>
  [
    'HTTP/1.1 403 Forbidden',
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(why)}`,
    'Connection: close',
    '',
    why,
  ].join('\r\n')

type Deps = { outbound: Pick<Outbound, 'dialPublic' | 'assertPublicUrl'>; listen: string; upstream: string }

/** The proxy of one session, the only way out for its pages. */
export type EgressProxy = {
  /** Value for `--proxy-server`. */
  url: string
  /** Number of transferred bytes, both directions. */
  bytes(): number
  close(): void
}

const MAX_HEAD = 64 * 1024
const MAX_SOCKETS = 256

/**
 * Opens the proxy of a session. The browser knows no other way out, so it sends every request here: documents, scripts,
 * redirects, WebSockets, downloads. Each connection goes through `outbound`, which checks the address that the name has
 * at that moment (docs/promises.md I24, catalogue N). `through` routes them through the operator's own proxy.
 */
export async function openEgressProxy(deps: Deps, through: boolean): Promise<EgressProxy> {
  const open = new Set<Socket>()
  let bytes = 0
  const count = (chunk: Uint8Array) => {
    bytes += chunk.length
  }
  const server = createServer((client) => {
    if (open.size > MAX_SOCKETS) return client.destroy()
    track(open, client)
    client.on('data', count)
    readHead(client).then(
      ({ text, rest }) => serve(client, readProxyHead(text), rest),
      () => client.destroy(),
    )
  })
  await new Promise<void>((done, fail) => {
    server.once('error', fail)
    server.listen(0, deps.listen, done)
  })
  const { port } = server.address() as { port: number }
  return {
    url: `http://${deps.listen.includes(':') ? `[${deps.listen}]` : deps.listen}:${port}`,
    bytes: () => bytes,
    close() {
      server.close()
      for (const socket of open) socket.destroy()
    },
  }

  async function serve(client: Socket, wanted: ProxyHead | null, rest: Buffer): Promise<void> {
    if (!wanted) return void client.end(refused('This is not a request from a browser.'))
    try {
      const server = await (through ? dialThrough(deps, wanted.authority) : deps.outbound.dialPublic(wanted.authority))
      if (client.destroyed) return void server.destroy()
      track(open, server)
      server.on('data', count)
      if (wanted.tunnel) client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      else server.write(wanted.head)
      if (rest.length) server.write(rest)
      join(client, server, wanted.tunnel)
    } catch (error) {
      // Answers that the other side cannot be reached.
      client.end(
        (error as { code?: string }).code === 'url_blocked'
          ? refused()
          : 'HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
      )
    }
  }
}

function track(open: Set<Socket>, socket: Socket): void {
  open.add(socket)
  socket.on('close', () => open.delete(socket))
  socket.on('error', () => socket.destroy())
}

/** Pipes bytes both ways. Changes the head of a plain HTTP answer, so that the next request gets its own connection. */
function join(client: Socket, server: Socket, tunnel: boolean): void {
  client.pipe(server)
  client.on('close', () => server.destroy())
  server.on('close', () => client.end())
  if (tunnel) return void server.pipe(client)
  readHead(server).then(
    ({ text, rest }) => {
      client.write(closing(text))
      if (rest.length) client.write(rest)
      server.pipe(client)
    },
    () => client.destroy(),
  )
}

/** The bytes before the first blank line, and those after it. Rejects when there is no such line. */
function readHead(socket: Socket): Promise<{ text: string; rest: Buffer }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ text: string; rest: Buffer }>()
  let read = Buffer.alloc(0)
  const onData = (chunk: Buffer) => {
    read = Buffer.concat([read, chunk])
    const end = read.indexOf('\r\n\r\n')
    if (end < 0 && read.length <= MAX_HEAD) return
    socket.off('data', onData)
    socket.off('close', onClose)
    socket.pause()
    if (end < 0) reject(new Error('the head is too long'))
    else resolve({ text: read.subarray(0, end).toString('latin1'), rest: read.subarray(end + 4) })
  }
  const onClose = () => reject(new Error('closed'))
  socket.on('data', onData)
  socket.on('close', onClose)
  // After an earlier head the socket is paused.
  socket.resume()
  return promise
}

/** A tunnel through the operator's proxy, after the same check of the address. */
async function dialThrough({ outbound, upstream }: Deps, authority: string): Promise<Socket> {
  await outbound.assertPublicUrl(`https://${authority}/`)
  const { hostname, port, username, password } = new URL(upstream)
  const socket = connect({ host: hostname, port: Number(port || 80) })
  socket.on('error', () => socket.destroy())
  const login = username ? Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`) : null
  const auth = login ? `Proxy-Authorization: Basic ${login.toString('base64')}\r\n` : ''
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${auth}\r\n`)
  const { text, rest } = await readHead(socket)
  if (!/^HTTP\/1\.[01] 200/.test(text)) {
    socket.destroy()
    throw new Error('the proxy refused')
  }
  if (rest.length) socket.unshift(rest)
  return socket
}

/** Parses the head that a browser sends to its proxy. Null for a head that no browser sends. */
function readProxyHead(text: string): ProxyHead | null {
  const [first = '', ...lines] = text.split('\r\n')
  const [method, target, version] = first.split(' ')
  if (!method || !target || !/^HTTP\/1\.[01]$/.test(version ?? '')) return null
  if (method === 'CONNECT') return { tunnel: true, authority: target, head: '' }
  const url = /^http:\/\/[^/]/i.test(target) ? URL.parse(target) : null
  if (!url) return null
  const upgrades = lines.some((line) => /^upgrade\s*:/i.test(line))
  const remaining = lines.filter((line) => line && (upgrades ? !/^proxy-/i.test(line) : !HOP.test(line)))
  const head = [
    `${method} ${url.pathname}${url.search} HTTP/1.1`,
    ...remaining,
    ...(upgrades ? [] : ['Connection: close']),
  ]
  return { tunnel: false, authority: `${url.hostname}:${url.port || 80}`, head: `${head.join('\r\n')}\r\n\r\n` }
}

/** The head of an answer, changed so that the browser does not reuse the connection. An upgrade stays unchanged. */
function closing(head: string): string {
  const [status = '', ...lines] = head.split('\r\n')
  if (/^HTTP\/1\.[01] 101/.test(status)) return `${head}\r\n\r\n`
  const remaining = lines.filter((line) => line && !HOP.test(line))
  return `${[status, ...remaining, 'Connection: close'].join('\r\n')}\r\n\r\n`
}
