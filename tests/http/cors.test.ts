// SQLite only: what the edge does before any module is asked.
import { describe, expect, test } from 'bun:test'
import { createWorld } from '../support/world'

const world = await createWorld()
const ada = await world.person()
const SHOP = 'https://shop.example'
const EXPOSED = `
  X-Request-Id X-Cache X-Idempotent-Replay X-Has-More X-Next-Cursor X-Svc-Ignored X-Should-Retry Link Retry-After
`
  .trim()
  .split(/\s+/)

const { body: made } = await ada.send('POST', 'keys', { name: 'web', allowed_origins: [SHOP] })
const asPage = (origin: string, path = 'models', method = 'GET', body?: object) =>
  world.send(method, path, body, { authorization: `Bearer ${made.key}`, origin })

describe('pages of other origins (docs/api.md 1.1, 20)', () => {
  test('may read answers if the key allows it', async () => {
    const { status, headers } = await asPage(SHOP)
    expect(status).toBe(200)
    expect(headers.get('access-control-allow-origin')).toBe(SHOP)
    expect(headers.get('vary')).toBe('Origin')
    for (const name of EXPOSED) expect(headers.get('access-control-expose-headers')).toContain(name)
    expect(headers.get('access-control-allow-credentials')).toBeNull()
  })

  test('may read errors and streams too', async () => {
    for (const [path, input] of [
      ['completions', {}],
      ['completions', { prompt: 'hi', stream: true }],
      ['nowhere', {}],
    ] as const) {
      expect((await asPage(SHOP, path, 'POST', input)).headers.get('access-control-allow-origin')).toBe(SHOP)
    }
  })

  test.each([
    'https://evil.example',
    'http://shop.example',
    'https://shop.example:8443',
    'https://shop.example.evil.example',
    'null',
  ])('%s is refused with 403 and may not read why', async (origin) => {
    const { status, body, headers } = await asPage(origin)
    expect({ status, ...body.error }).toMatchObject({
      status: 403,
      code: 'origin_not_allowed',
      type: 'permission_error',
    })
    expect(headers.get('access-control-allow-origin')).toBeNull()
  })

  test('are not named for a key that allows every one, nor without a key: CORS is off by default', async () => {
    const open = await ada.send('GET', 'models', undefined, { origin: SHOP })
    expect(open.status).toBe(200)
    expect(open.headers.get('access-control-allow-origin')).toBeNull()
    for (const [method, path] of [
      ['POST', 'auth/sessions'],
      ['POST', 'auth/signup'],
      ['POST', 'billing/webhook'],
      ['GET', '/sign-in/link'],
      ['GET', '/nowhere'],
    ] as const) {
      const unsigned = await world.send(method, path, method === 'POST' ? {} : undefined, { origin: SHOP })
      expect(unsigned.headers.get('access-control-allow-origin')).toBeNull()
    }
  })

  test.each([
    ['no key', {}],
    ['a key nobody has', { authorization: `Bearer svc_sk_live_${'x'.repeat(40)}` }],
    ['no credential at all', { authorization: 'x' }],
  ])('learn with %s that it is wrong, which no account is asked about', async (_, headers) => {
    for (const [method, path] of [
      ['POST', 'chat/completions'],
      ['GET', 'nowhere'],
    ] as const) {
      const refused = await world.send(method, path, undefined, { ...headers, origin: SHOP })
      expect(refused).toMatchObject({ status: 401, body: { error: { code: 'invalid_api_key' } } })
      expect(refused.headers.get('access-control-allow-origin')).toBe('*')
      expect(refused.headers.get('access-control-expose-headers')).toContain('X-Request-Id')
      expect(refused.headers.get('access-control-allow-credentials')).toBeNull()
    }
  })

  test.each(['health', '/openapi.json'])('may read %s, which anyone may fetch', async (path) => {
    const { status, headers } = await world.send('GET', path, undefined, { origin: SHOP })
    expect({ status, open: headers.get('access-control-allow-origin') }).toEqual({ status: 200, open: '*' })
    expect((await world.send('GET', path)).headers.get('access-control-allow-origin')).toBeNull()
  })

  test('get answers that caches keep apart by origin, also those that no page asked for', async () => {
    const answers = [
      await ada.send('GET', 'models'),
      await world.send('GET', 'models'),
      await world.send('GET', '/openapi.json'),
      await ada.send('POST', 'completions', { prompt: 'hi', stream: true }),
      await asPage('https://evil.example'),
    ]
    for (const { headers } of answers) expect(headers.get('vary')).toBe('Origin')
  })

  test('programs send no origin and pass', async () => {
    expect((await world.send('GET', 'models', undefined, { authorization: `Bearer ${made.key}` })).status).toBe(200)
  })
})

describe('a preflight', () => {
  const ask = (path: string, headers: Record<string, string>) => world.send('OPTIONS', path, undefined, headers)

  test('is answered for methods a route has, without credentials', async () => {
    const { status, headers, text } = await ask('completions', {
      origin: SHOP,
      'access-control-request-method': 'POST',
    })
    expect({ status, text }).toEqual({ status: 204, text: '' })
    expect(headers.get('access-control-allow-origin')).toBe(SHOP)
    expect(headers.get('access-control-allow-methods')).toBe('POST')
    expect(headers.get('access-control-allow-headers')).toContain('authorization')
    expect(headers.get('vary')).toBe('Origin, Access-Control-Request-Method, Access-Control-Request-Headers')
    for (const name of EXPOSED) expect(headers.get('access-control-expose-headers')).toContain(name)
    expect(headers.get('access-control-allow-credentials')).toBeNull()
    expect(headers.get('x-request-id')).toMatch(/^req_/)
  })

  test.each(['authorization,content-type,x-stainless-arch,x-stainless-retry-count', 'Authorization, X-My-Trace_1'])(
    'allows the headers that are asked for: %s',
    async (question) => {
      const { headers } = await ask('chat/completions', {
        origin: SHOP,
        'access-control-request-method': 'POST',
        'access-control-request-headers': question,
      })
      expect(headers.get('access-control-allow-headers')).toBe(question)
    },
  )

  test.each([
    ['a mark', '<script>'],
    ['a star', '*'],
    ['a header with its value', 'a:b'],
    ['2,049 characters', 'x'.repeat(2_049)],
  ])('does not repeat %s, which is no list of headers', async (_, question) => {
    const { status, headers } = await ask('chat/completions', {
      origin: SHOP,
      'access-control-request-method': 'POST',
      'access-control-request-headers': question,
    })
    expect(status).toBe(204)
    expect(headers.get('access-control-allow-headers')).toBe(
      'authorization, content-type, idempotency-key, cache-control, x-api-key, api-key',
    )
  })

  test('does not count against the address it comes from', async () => {
    const left = async () => Number((await world.send('GET', 'health')).headers.get('x-ratelimit-remaining-requests'))
    const before = await left()
    for (let n = 0; n < 5; n++) await ask('completions', { origin: SHOP, 'access-control-request-method': 'POST' })
    expect(await left()).toBe(before - 1)
  })

  test.each([
    ['a method the route lacks', 'completions', { origin: SHOP, 'access-control-request-method': 'DELETE' }],
    ['no origin', 'completions', { 'access-control-request-method': 'POST' }],
    ['no method', 'completions', { origin: SHOP }],
  ])('that is none, for %s, is an OPTIONS like any other', async (_, path, headers) => {
    const reply = await ask(path, headers as unknown as Record<string, string>)
    expect([401, 405]).toContain(reply.status)
    expect(reply.headers.get('access-control-allow-origin')).toBeNull()
  })
})
