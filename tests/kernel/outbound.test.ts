import { expect, test } from 'bun:test'
import { createServer } from 'node:net'
import { createOutbound, type OutboundFailure, type Resolve, trustedFetch } from '../../src/kernel/outbound'
import { isEgressGuarded } from '../../src/kernel/outbound-canary'
import { serveLocally } from '../support/listening'

const names = new Map([
  ['private.test.example', ['10.0.0.1']],
  ['loopback.test.example', ['127.0.0.1']],
  ['mixed.test.example', ['93.184.215.14', '127.0.0.1']],
  ['six.test.example', ['::1']],
  ['mapped.test.example', ['::ffff:127.0.0.1']],
])
const resolve: Resolve = async (host) =>
  (names.get(host) ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))

let canary = 0
const server = serveLocally(async (request) => {
  canary++
  const path = new URL(request.url).pathname
  if (path === '/hop') return new Response(null, { status: 302, headers: { location: 'http://127.0.0.1:1/' } })
  if (path === '/big') return new Response('x'.repeat(5_000))
  if (path === '/hang') await Bun.sleep(5_000)
  if (path === '/gzip') return new Response(Bun.gzipSync('x'.repeat(50)), { headers: { 'content-encoding': 'gzip' } })
  return Response.json({ method: request.method, host: request.headers.get('host'), body: await request.text() })
})

const here = `http://127.0.0.1:${server.port}`
const lab = createOutbound({ allow: ['127.0.0.1/32'], resolve })
const limits = { maxBytes: 2_000, timeoutMs: 2_000 }

test.each([...names.keys()])('a name with a private address is refused when connecting (J11): %s', async (name) => {
  canary = 0
  const strict = createOutbound({ resolve })
  await expect(strict.fetchPublic(`http://${name}:${server.port}/`, limits)).rejects.toMatchObject({
    code: 'url_blocked',
  })
  await expect(strict.assertPublicUrl(`http://${name}/`)).rejects.toMatchObject({ code: 'url_blocked' })
  expect(canary).toBe(0)
})

test('a name that answers publicly when checked and privately when called gains nothing (J13)', async () => {
  canary = 0
  let calls = 0
  const rebinding: Resolve = async () => [{ address: calls++ % 2 ? '127.0.0.1' : '93.184.215.14', family: 4 }]
  const strict = createOutbound({ resolve: rebinding })
  const url = `http://rebind.test.example:${server.port}/`
  for (let round = 0; round < 1_000; round++) {
    calls = 0
    await strict.assertPublicUrl(url)
    await expect(strict.fetchPublic(url, limits)).rejects.toMatchObject({ code: 'url_blocked' })
  }
  expect(canary).toBe(0)
})

test('an exempt address is called with the method, body and its own host header (J2)', async () => {
  const answer = await lab.fetchPublic(`${here}/echo`, {
    ...limits,
    method: 'POST',
    headers: { host: 'evil.example', 'x-own': '1' },
    body: '{"a":1}',
  })
  expect(answer.status).toBe(200)
  expect(JSON.parse(Buffer.from(answer.body).toString())).toEqual({
    method: 'POST',
    host: `127.0.0.1:${server.port}`,
    body: '{"a":1}',
  })
})

test('a redirect is answered, not followed', async () => {
  canary = 0
  expect((await lab.fetchPublic(`${here}/hop`, limits)).status).toBe(302)
  expect(canary).toBe(1)
})

test('compressed bytes are unpacked, to no more than an answer may have', async () => {
  const { body } = await lab.fetchPublic(`${here}/gzip`, limits)
  expect(body[0]).not.toBe(0x1f)
  const less = { ...limits, maxBytes: body.length - 1 }
  await expect(lab.fetchPublic(`${here}/gzip`, less)).rejects.toMatchObject({ kind: 'too-large' })
})

const failures: [string, () => Promise<unknown>, OutboundFailure['kind']][] = [
  ['more bytes than allowed', () => lab.fetchPublic(`${here}/big`, limits), 'too-large'],
  ['an answer that does not come', () => lab.fetchPublic(`${here}/hang`, { ...limits, timeoutMs: 80 }), 'timeout'],
  ['a closed port', () => lab.fetchPublic('http://127.0.0.1:1999/', limits), 'connect'],
  ['a name nobody knows', () => lab.fetchPublic('http://nobody.test.example/', limits), 'dns'],
  [
    'a caller who left',
    () => lab.fetchPublic(`${here}/hang`, { ...limits, signal: AbortSignal.timeout(50) }),
    'aborted',
  ],
]

test.each(failures)('%s has an error kind of its own', async (_what, call, kind) => {
  await expect(call()).rejects.toMatchObject({ name: 'OutboundFailure', kind })
})

test('a server without TLS has another error kind than a closed port', async () => {
  const url = here.replace('http:', 'https:')
  await expect(lab.fetchPublic(url, limits)).rejects.toMatchObject({ name: 'OutboundFailure', kind: 'tls' })
})

test('the start-up canary is not reached', async () => {
  expect(await isEgressGuarded()).toBe(true)
})

test('a connection that is cut in the middle of the answer is an error', async () => {
  const rude = createServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf')
    setTimeout(() => socket.destroy(), 20)
  }).listen(0, '127.0.0.1')
  await new Promise((done) => rude.once('listening', done))
  const { port } = rude.address() as { port: number }
  await expect(lab.fetchPublic(`http://127.0.0.1:${port}/`, limits)).rejects.toMatchObject({ kind: 'reset' })
  rude.close()
})

test('an answer whose head drips without end is given up when the time is up (J25)', async () => {
  const dripping = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.write('HTTP/1.1 200 OK\r\n')
    const drip = setInterval(() => socket.write('x-more: 1\r\n'), 20)
    socket.on('close', () => clearInterval(drip))
  }).listen(0, '127.0.0.1')
  await new Promise((done) => dripping.once('listening', done))
  const { port } = dripping.address() as { port: number }
  const request = lab.fetchPublic(`http://127.0.0.1:${port}/`, { ...limits, statusOnly: true, timeoutMs: 200 })
  await expect(request).rejects.toMatchObject({ kind: 'timeout' })
  dripping.close()
})

test('requests to an upstream that begin together leave together, and each gets its own answer', async () => {
  const send = globalThis.fetch
  let sent = 0
  globalThis.fetch = Object.assign(
    (...given: Parameters<typeof fetch>) => {
      sent++
      return send(...given)
    },
    { preconnect: send.preconnect },
  )
  try {
    const all = Array.from({ length: 8 }, (_, at) => trustedFetch(server.url.href, { method: 'POST', body: `${at}` }))
    const lost = trustedFetch(server.url.href, { signal: AbortSignal.abort(new Error('left')) })
    expect(sent).toBe(1)
    await expect(lost).rejects.toThrow('left')
    const bodies = await Promise.all(all.map(async (one) => ((await (await one).json()) as { body: string }).body))
    expect(bodies).toEqual(['0', '1', '2', '3', '4', '5', '6', '7'])
    const alone = trustedFetch(server.url.href, {})
    expect(sent).toBe(10)
    expect((await alone).status).toBe(200)
  } finally {
    globalThis.fetch = send
  }
})
