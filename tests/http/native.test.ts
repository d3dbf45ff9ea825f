// SQLite only: which code routes a request has nothing to do with the database.
import { expect, test } from 'bun:test'
import { createUpstreamWorld, freshPrompt } from '../completions/upstream-world'
import { listen } from '../support/listening'

/** A request to the server's own route, or the same to the framework's. */
type Sent = { method?: string; path?: string; headers?: Record<string, string>; body?: unknown }
type Way = 'native' | 'framework'

const { world } = await createUpstreamWorld({ config: { trustedProxies: '10.0.0.1' } })
const { origin } = listen(world)
const { api, metrics } = world.app
const ada = await world.person()
const session = await world.signedIn(ada)
const scopeless = await world.person({ scopes: ['tools'] })
const poor = await world.person({ cents: 0 })
const slow = await world.person({ tier: 'free' })
const ofPage = await world.person()
await ofPage.send('PATCH', `keys/${ofPage.keyId}`, { allowed_origins: ['https://page.example'] })
for (let call = 0; call < 70; call++) await slow.send('GET', 'models')

const bearer = ({ key }: { key: string }) => ({ authorization: `Bearer ${key}` })
const COMPLETIONS = '/api/v1/completions'
const CHAT = '/api/v1/chat/completions'
const userSays = (content: unknown = 'Hello') => ({ messages: [{ role: 'user', content }] })
const message = { model: 'svc-1-flash', max_tokens: 20, ...userSays() }

/** The same request in both ways; a key of idempotency is one of each. */
const CASES: Record<string, (way: Way) => Sent | Sent[]> = {
  'a read': () => ({ headers: bearer(ada) }),
  'a read with a query': () => ({ path: '/api/v1/models?a=b', headers: bearer(ada) }),
  'a read by a session': () => ({ headers: bearer(session) }),
  'a read by a cookie': () => ({ headers: { cookie: `svc_session=${session.key}` } }),
  'a read in another organization': () => ({ headers: { ...bearer(session), 'x-svc-org': 'org_none' } }),
  'a read for oneself': () => ({ headers: { ...bearer(session), 'x-svc-org': 'personal' } }),
  'a read with a body': () => ({ headers: { ...bearer(ada), 'content-length': '2' } }),
  'another method': () => ({ method: 'PUT', headers: bearer(ada), body: {} }),
  HEAD: () => ({ method: 'HEAD', headers: bearer(ada) }),
  OPTIONS: () => ({ method: 'OPTIONS', headers: bearer(ada) }),
  'a preflight': () => ({
    method: 'OPTIONS',
    path: CHAT,
    headers: { origin: 'https://page.example', 'access-control-request-method': 'POST' },
  }),
  'a slash at the end': () => ({ path: '/api/v1/models/', headers: bearer(ada) }),
  'an encoded path': () => ({ path: '/api/v1/model%73', headers: bearer(ada) }),
  'two slashes': () => ({ path: '/api/v1//models', headers: bearer(ada) }),
  'no credential': () => ({}),
  'no credential for a page': () => ({ headers: { origin: 'https://page.example' } }),
  'a key of nobody': () => ({
    path: CHAT,
    headers: { authorization: `Bearer svc_sk_live_${'x'.repeat(48)}` },
    body: {},
  }),
  'a foreign key': () => ({ headers: { authorization: 'Bearer sk-proj-123' } }),
  'no bearer': () => ({ headers: { authorization: 'Basic YTpi' } }),
  'two credentials': () => ({ headers: { authorization: `${bearer(ada).authorization}, Bearer x` } }),
  'a page that the key allows': () => ({ headers: { ...bearer(ofPage), origin: 'https://page.example' } }),
  'another page': () => ({ headers: { ...bearer(ofPage), origin: 'https://other.example' } }),
  'another page that is paid for': () => ({
    path: CHAT,
    headers: { ...bearer(ofPage), origin: 'null' },
    body: userSays(),
  }),
  'a session of another page': () => ({
    path: COMPLETIONS,
    headers: { cookie: `svc_session=${session.key}`, origin: 'https://other.example' },
    body: { prompt: 'x' },
  }),
  'no scope': () => ({ headers: bearer(scopeless) }),
  'no scope before a bad body': () => ({ path: CHAT, headers: bearer(scopeless), body: '{' }),
  'too many requests': () => ({ headers: bearer(slow) }),
  'too many requests before a bad type': () => ({
    path: CHAT,
    headers: { ...bearer(slow), 'content-type': 'text/plain' },
    body: 'x',
  }),
  'no JSON': () => ({ path: CHAT, headers: bearer(ada), body: '{"a":' }),
  'no UTF-8': () => ({ path: CHAT, headers: bearer(ada), body: new Uint8Array([0x7b, 0xff]) }),
  'no body': () => ({ method: 'POST', path: CHAT, headers: bearer(ada) }),
  'an empty body': () => ({ path: CHAT, headers: bearer(ada), body: '' }),
  null: () => ({ path: COMPLETIONS, headers: bearer(ada), body: 'null' }),
  'a list': () => ({ path: '/api/v1/embeddings', headers: bearer(ada), body: [] }),
  'a wrong body': () => ({ path: CHAT, headers: bearer(ada), body: { messages: 'x', stream: 1 } }),
  'a wrong type': () => ({ path: CHAT, headers: { ...bearer(ada), 'content-type': 'text/plain' }, body: 'x' }),
  'another charset': () => ({
    path: CHAT,
    headers: { ...bearer(ada), 'content-type': 'application/json; charset=latin1' },
    body: userSays(),
  }),
  'a packed body': () => ({ path: CHAT, headers: { ...bearer(ada), 'content-encoding': 'gzip' }, body: userSays() }),
  'a prompt of the system alone': () => ({
    path: CHAT,
    headers: bearer(ada),
    body: { messages: [{ role: 'system', content: 'x' }] },
  }),
  'no money': () => ({ path: CHAT, headers: bearer(poor), body: userSays() }),
  'no such model': () => ({ path: CHAT, headers: bearer(ada), body: { ...userSays(), model: 'none' } }),
  'a chat': () => ({ path: CHAT, headers: bearer(ada), body: { ...userSays('Grüße 東京'), seed: 1 } }),
  'a chat that is streamed': () => ({ path: CHAT, headers: bearer(ada), body: { ...userSays(), stream: true } }),
  'a chat that is streamed and fails': () => ({
    path: CHAT,
    headers: bearer(poor),
    body: { ...userSays(), stream: true },
  }),
  'a completion': () => ({
    path: COMPLETIONS,
    headers: bearer(ada),
    body: { prompt: freshPrompt(), mode: 'fast', conversation_id: null },
  }),
  'a completion without the cache': () => ({
    path: COMPLETIONS,
    headers: { ...bearer(ada), 'cache-control': 'no-cache' },
    body: { prompt: freshPrompt(), mode: 'fast' },
  }),
  'a completion that is streamed': () => ({
    path: COMPLETIONS,
    headers: bearer(ada),
    body: { prompt: freshPrompt(), mode: 'fast', stream: true },
  }),
  'the same key twice': (way) =>
    [1, 2].map(() => ({ path: CHAT, headers: { ...bearer(ada), 'idempotency-key': `same-${way}` }, body: userSays() })),
  'the same key for something else': (way) =>
    [1, 2].map((n) => ({
      path: CHAT,
      headers: { ...bearer(ada), 'idempotency-key': `else-${way}` },
      body: userSays(`${n}`),
    })),
  'the same key after a failure': (way) =>
    [poor, poor].map((person) => ({
      path: CHAT,
      headers: { ...bearer(person), 'idempotency-key': `failed-${way}` },
      body: userSays(),
    })),
  'a bad key of idempotency': () => ({
    path: CHAT,
    headers: { ...bearer(ada), 'idempotency-key': 'ü?' },
    body: userSays(),
  }),
  'a message': () => ({ path: '/api/v1/messages', headers: { 'x-api-key': ada.key }, body: message }),
  'a message that is streamed': () => ({
    path: '/api/v1/messages',
    headers: bearer(ada),
    body: { ...message, stream: true },
  }),
  'a message that is wrong': () => ({ path: '/api/v1/messages', headers: bearer(ada), body: {} }),
  'a message of nobody': () => ({ path: '/v1/messages', headers: { 'x-api-key': 'x' }, body: message }),
  'a message by the base of clients': () => ({
    path: '/v1/messages',
    headers: { 'x-api-key': ada.key },
    body: message,
  }),
  'a chat by the base of clients': () => ({
    path: '/v1/chat/completions?x',
    headers: bearer(ada),
    body: { ...userSays(), n: 1, temperature: 3 },
  }),
  'models by the base of clients': () => ({ path: '/v1/models', headers: { 'x-api-key': ada.key } }),
  'a response': () => ({
    path: '/api/v1/responses',
    headers: bearer(ada),
    body: { model: 'svc-1-flash', input: 'Hello', store: false },
  }),
  'a response that is streamed': () => ({
    path: '/v1/responses',
    headers: bearer(ada),
    body: { model: 'svc-1-flash', input: 'Hello', stream: true, store: false },
  }),
  'a response that is wrong': () => ({ path: '/api/v1/responses', headers: bearer(ada), body: { input: 1 } }),
  vectors: () => ({
    path: '/api/v1/embeddings',
    headers: bearer(ada),
    body: { model: 'svc-1-embed-local', input: 'x' },
  }),
}

/** Made by whoever sends an answer over a connection. */
const OF_CONNECTION = /^(date|content-length|transfer-encoding|connection|keep-alive)$/
const masked = (text: string): string =>
  text
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[a-z]{2,9}_[A-Za-z0-9]{20,48}\b/g, 'ID')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, 'TIME')
    .replace(/-(native|framework)\b/g, '-KEY')
    .replace(/\b\d+ s(?:econds?)?\b/g, 'N s')
    .replace(/("?(?:created|ms|\w*_ms|\w*_at)"?: ?)\d+(\.\d+)?/g, '$1N')

async function ask(way: Way, { method, path = '/api/v1/models', headers = {}, body }: Sent) {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array
  const bytes = Buffer.from(isRaw ? body : body === undefined ? '' : JSON.stringify(body))
  // A request that comes over no connection says its length only when told.
  const json = { 'content-type': 'application/json', 'content-length': `${bytes.length}` }
  const request = new Request(origin + path, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { ...(body === undefined ? {} : json), ...headers },
    ...(body === undefined ? {} : { body: bytes }),
  })
  const lines = world.logged.length
  const counts = await requestsBy()
  const reply = await (way === 'native' ? fetch(request) : api.handle(request))
  const text = await reply.text()
  // The framework writes its line of the log a turn later.
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
  const shown = [...reply.headers].filter(([name]) => !OF_CONNECTION.test(name))
  const logged = world.logged.slice(lines).map((line) => masked(line))
  return {
    status: reply.status,
    headers: Object.fromEntries(
      shown.map(([name, value]) => [
        name,
        /^retry-after$|ratelimit-(?:\w+-)?(?:remaining|reset)/.test(name) ? 'N' : masked(value),
      ]),
    ),
    // Reads of a stream may be cut anywhere.
    body: masked(text).replace(/"(?:content|text|token|delta)":"(?:[^"\\]|\\.)*"/g, 'TEXT'),
    logged,
    counted: (await requestsBy()).filter((row) => !counts.includes(row)).map((row) => row.replace(/ \d+$/, '')),
  }
}

const requestsBy = async (): Promise<string[]> =>
  (await metrics.registry.metrics()).split('\n').filter((line) => line.startsWith('svc_http_requests_total{'))

/** Frames that differ only in how a text was cut are one. */
const joined = (body: string): string[] => [...new Set(body.split('\n\n'))]

test.each(Object.entries(CASES))('%s is answered alike by the server and by the framework', async (_, sent) => {
  const answers = async (way: Way) => {
    const got = []
    for (const one of [sent(way)].flat()) {
      const { body, ...answer } = await ask(way, one)
      got.push({ ...answer, body: joined(body) })
    }
    return got
  }
  expect(await answers('native')).toEqual(await answers('framework'))
})

test.each([fetch, (request: Request) => Promise.resolve(api.handle(request))])(
  'each list of models has the id of its own request, also when many are asked for at once',
  async (send) => {
    const request = () => new Request(`${origin}/api/v1/models`, { headers: bearer(ada) })
    const replies = await Promise.all(Array.from({ length: 50 }, () => send(request())))
    const ids = replies.map(({ headers }) => headers.get('x-request-id'))
    const bodies = await Promise.all(replies.map((reply) => reply.json() as Promise<{ request_id: string }>))
    expect(bodies.map(({ request_id }) => request_id)).toEqual(ids as string[])
    expect(new Set(ids).size).toBe(50)
  },
)

test('the routes that most requests go to are native', () => {
  const served = Object.entries(api.config.serve?.routes ?? {}).flatMap(([path, methods]) =>
    Object.keys(methods as object).map((method) => `${method} ${path}`),
  )
  const both = ['chat/completions', 'completions', 'responses', 'messages', 'embeddings'].flatMap((path) => [
    `POST /api/v1/${path}`,
    `POST /v1/${path}`,
  ])
  expect(served.sort()).toEqual([...both, 'GET /api/v1/models', 'GET /v1/models'].sort())
})
