import { afterAll, expect, test } from 'bun:test'
import { createServer, type Socket } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { createOutbound, type Resolve } from '../../src/kernel/outbound'
import { keepConnections } from '../../src/kernel/outbound-send'
import { selfSigned } from '../support/certificate'
import { eventually } from '../support/eventually'

const NO_CONTENT = 'HTTP/1.1 204 No Content\r\n\r\n'
const limits = { method: 'POST', body: '{}', maxBytes: 1_000, timeoutMs: 5_000, statusOnly: true } as const
const again = { ...limits, repeatable: true } as const

/** A receiver that counts its connections, and answers each request of one as it is told. */
async function listen(answer: (socket: Socket, nth: number) => void = (socket) => void socket.write(NO_CONTENT)) {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    let requests = 0
    socket.on('data', (chunk) => {
      for (let n = chunk.toString().split('POST ').length - 1; n > 0; n--) answer(socket, ++requests)
    })
    socket.on('error', () => undefined)
  }).listen(0, '0.0.0.0')
  await new Promise((ready) => server.once('listening', ready))
  afterAll(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { sockets, port: (server.address() as { port: number }).port }
}

const resolveTo = (addresses: Record<string, string[]>): Resolve => {
  return async (host) => addresses[host]!.map((address) => ({ address, family: 4 }))
}
const resolve = resolveTo({ 'a.example': ['127.0.0.1'], 'b.example': ['127.0.0.1'] })
const lab = (more: Resolve = resolve) => createOutbound({ allow: ['127.0.0.0/30'], resolve: more })
const status = async (answer: Promise<{ status: number }>) => (await answer).status

test('only a request that may be repeated leaves and takes kept connections', async () => {
  const { sockets, port } = await listen()
  const outbound = lab()
  const url = `http://a.example:${port}/`
  for (let n = 0; n < 3; n++) expect(await status(outbound.fetchPublic(url, again))).toBe(204)
  expect(sockets).toHaveLength(1)
  for (let n = 0; n < 2; n++) expect(await status(outbound.fetchPublic(url, limits))).toBe(204)
  expect(sockets).toHaveLength(3)
})

test('a kept connection serves its own host, port and addresses only, and its own guard', async () => {
  const [one, other] = [await listen(), await listen()]
  const places = { 'a.example': ['127.0.0.1'], 'b.example': ['127.0.0.1'] }
  const outbound = lab(resolveTo(places))
  await outbound.fetchPublic(`http://a.example:${one.port}/`, again)
  await outbound.fetchPublic(`http://b.example:${one.port}/`, again)
  await outbound.fetchPublic(`http://127.0.0.1:${one.port}/`, again)
  expect(one.sockets).toHaveLength(3)
  await outbound.fetchPublic(`http://a.example:${other.port}/`, again)
  expect(other.sockets).toHaveLength(1)
  places['a.example'] = ['127.0.0.2']
  await outbound.fetchPublic(`http://a.example:${one.port}/`, again)
  expect(one.sockets).toHaveLength(4)
  await lab().fetchPublic(`http://b.example:${one.port}/`, again)
  expect(one.sockets).toHaveLength(5)
})

test('a name that is rebound to a private address is refused although its old connection is still open (J13)', async () => {
  const { sockets, port } = await listen()
  const places = { 'a.example': ['127.0.0.1'] }
  const outbound = lab(resolveTo(places))
  const url = `http://a.example:${port}/`
  await outbound.fetchPublic(url, again)
  for (const bad of [['127.0.0.9'], ['127.0.0.1', '10.0.0.1'], ['169.254.169.254']]) {
    places['a.example'] = bad
    await expect(outbound.fetchPublic(url, again)).rejects.toMatchObject({ code: 'url_blocked' })
  }
  expect(sockets).toHaveLength(1)
  places['a.example'] = ['127.0.0.1']
  expect(await status(outbound.fetchPublic(url, again))).toBe(204)
  expect(sockets).toHaveLength(1)
})

test('a kept connection that the other side has ended is not an answer: the request goes again, once', async () => {
  const quitting = await listen((socket, nth) => (nth > 1 ? socket.destroy() : socket.write(NO_CONTENT)))
  const url = `http://a.example:${quitting.port}/`
  const outbound = lab()
  for (let n = 0; n < 3; n++) expect(await status(outbound.fetchPublic(url, again))).toBe(204)
  expect(quitting.sockets).toHaveLength(3)
  const rude = await listen((socket) => socket.destroy())
  await expect(lab().fetchPublic(`http://a.example:${rude.port}/`, again)).rejects.toMatchObject({ kind: 'reset' })
  expect(rude.sockets).toHaveLength(1)
})

test('behind a half-open proxy a request ends in time, and the next one has a new connection', async () => {
  const silent = await listen((socket, nth) => void (nth > 1 || socket.write(NO_CONTENT)))
  const url = `http://a.example:${silent.port}/`
  const outbound = lab()
  expect(await status(outbound.fetchPublic(url, again))).toBe(204)
  await expect(outbound.fetchPublic(url, { ...again, timeoutMs: 300 })).rejects.toMatchObject({ kind: 'timeout' })
  expect(silent.sockets).toHaveLength(1)
  expect(await status(outbound.fetchPublic(url, again))).toBe(204)
  expect(silent.sockets).toHaveLength(2)
})

test('an unrequested answer ends its connection', async () => {
  const { sockets, port } = await listen((socket, nth) => {
    socket.write(nth === 1 ? NO_CONTENT : 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
  })
  const outbound = lab()
  const url = `http://a.example:${port}/`
  expect(await status(outbound.fetchPublic(url, again))).toBe(204)
  sockets[0]!.write('HTTP/1.1 299 Smuggled\r\nContent-Length: 0\r\n\r\n')
  await new Promise((done) => sockets[0]!.once('close', done))
  expect(await status(outbound.fetchPublic(url, again))).toBe(204)
  expect(sockets).toHaveLength(2)
})

test('connections are kept in small numbers and for a short time', async () => {
  const { sockets, port } = await listen()
  const { optionsFor, idleCount } = keepConnections({ idleEach: 4, idleAll: 6, idleMs: 200 })
  const { request } = await import('node:http')
  const call = (host: string) => {
    const { promise, resolve: done, reject } = Promise.withResolvers<void>()
    const options = { ...optionsFor(new URL('http://x'), ['127.0.0.1']), host, port, method: 'POST' }
    const sent = request({ ...options, lookup: (_, how, found) => found(null, how.all ? KNOWN : '127.0.0.1', 4) })
    sent.on('response', (incoming) => incoming.resume().on('end', done))
    sent.on('error', reject).end()
    return promise
  }
  await Promise.all(Array.from({ length: 8 }, () => call('a.example')))
  await eventually(() => idleCount() === 4)
  await Promise.all(Array.from({ length: 4 }, () => call('b.example')))
  await eventually(() => idleCount() === 6)
  expect(sockets).toHaveLength(12)
  await eventually(() => idleCount() === 0)
  await eventually(() => sockets.every(({ destroyed, readableEnded }) => destroyed || readableEnded))
})

const KNOWN = [{ address: '127.0.0.1', family: 4 }]

test('a kept connection of TLS is for the name that was verified on it', async () => {
  const { cert, key } = selfSigned()
  setDefaultCACertificates([...getCACertificates('default'), cert])
  const seen = new Set<number>()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls: { cert, key },
    fetch(request) {
      seen.add(server.requestIP(request)!.port)
      return new Response(null, { status: 204 })
    },
  })
  afterAll(() => server.stop(true))
  const outbound = lab(resolveTo({ localhost: ['127.0.0.1'], 'other.example': ['127.0.0.1'] }))
  for (let n = 0; n < 2; n++) {
    expect(await status(outbound.fetchPublic(`https://localhost:${server.port}/`, again))).toBe(204)
    await expect(outbound.fetchPublic(`https://other.example:${server.port}/`, again)).rejects.toMatchObject({
      kind: 'tls',
    })
  }
  expect(seen.size).toBe(1)
})
