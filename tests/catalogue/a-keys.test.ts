import { describe, expect, test } from 'bun:test'
import { eventually, startTarget } from './support'
import { keepsItsPromises } from './support/oracle'
import { attack, type Row } from './support/rows'

const target = await startTarget()
const { send, people } = target
const billing = await people.newcomer({ scopes: ['billing'] })

/** The processor's callback carries its own signature (contract 1.2). */
const GOLDEN_PUBLIC = [
  'GET /health',
  'POST /auth/links',
  'POST /auth/links/redeem',
  'POST /auth/sessions',
  'POST /auth/signup',
  'POST /billing/webhook',
]
/** Routes of visitors, who have no account: the page's origin and the token of their chat are checked instead (M). */
const VISITORS = [
  ...['GET', 'HEAD'].flatMap((method) =>
    ['public', 'sessions/{sessionId}', 'sessions/{sessionId}/events'].map((path) => `${method} /iframes/{id}/${path}`),
  ),
  ...[
    '',
    '/{sessionId}/feedback',
    '/{sessionId}/identify',
    '/{sessionId}/messages',
    '/{sessionId}/request-human',
    '/{sessionId}/typing',
  ].map((path) => `POST /iframes/{id}/sessions${path}`),
]

const rows: Row[] = [
  {
    id: 'A22',
    what: 'a key without scopes makes no keys',
    ask: 'POST keys',
    as: 'k0',
    body: { name: 'a', scopes: ['billing', 'connectors'] },
    is: 403,
    code: 'missing_scope',
  },
  {
    id: 'A22',
    what: 'a key does not give scopes that it lacks',
    ask: 'POST keys',
    key: billing.key,
    body: { name: 'a', scopes: ['billing', 'connectors'] },
    is: 403,
    code: 'missing_scope',
  },
  {
    id: 'A22',
    what: 'a key does not give itself scopes that it lacks',
    ask: `PUT keys/${billing.keyId}`,
    key: billing.key,
    body: { scopes: ['billing', 'completions'] },
    is: 403,
    code: 'missing_scope',
  },
  {
    id: 'A22',
    what: 'tier, owner and hash in the order of a key are not taken',
    ask: 'POST keys',
    body: { name: 'a', tier: 'pro', user_id: 'x', key_hash: 'x', id: 'x', status: 'revoked' },
    is: 201,
    also: ({ body }) => expect(body).toMatchObject({ tier: 'free', status: 'active' }),
  },
  {
    id: 'A22',
    what: 'the scope is asked for before the body is read',
    ask: 'POST keys',
    as: 'k0',
    body: '{not json',
    is: 403,
    code: 'missing_scope',
  },
  {
    id: 'A22',
    what: 'a limit above the tier',
    ask: 'POST keys',
    body: { rpm_limit: 61 },
    is: 400,
    code: 'validation_error',
  },
  {
    id: 'A8',
    what: "another's key cannot be revoked",
    ask: `DELETE keys/${people.keyIds.k1}`,
    as: 'k2',
    is: 404,
    code: 'not_found',
  },
  {
    id: 'A8',
    what: "another's key cannot be read",
    ask: `GET keys/${people.keyIds.k1}`,
    as: 'k2',
    is: 404,
    code: 'not_found',
  },
  {
    id: 'A8',
    what: "another's key cannot be changed",
    ask: `PUT keys/${people.keyIds.k1}`,
    as: 'k2',
    body: { name: 'x' },
    is: 404,
  },
]
attack('A. keys that make keys', target, rows)

describe('A. the life of a key', () => {
  test('A19 the whole key is in the creation answer and never again', async () => {
    const made = await send('POST', 'keys', { body: { name: 'x' } })
    expect(made.status).toBe(201)
    const secret = made.body.key as string
    expect(secret).toMatch(/^svc_sk_live_[0-9A-Za-z]{48}$/)
    const later = await Promise.all([
      send('GET', 'keys'),
      send('GET', `keys/${made.body.id}`),
      send('PUT', `keys/${made.body.id}`, { body: { name: 'y' } }),
      send('GET', 'audit?limit=100'),
      send('DELETE', `keys/${made.body.id}`),
    ])
    for (const { status, text } of later) {
      expect(status).toBe(200)
      expect(text).not.toContain(secret)
      expect(text).not.toContain(secret.slice(-20))
      expect(text).not.toContain(Bun.SHA256.hash(secret, 'hex'))
    }
    expect(later[1]!.body.prefix).toBe(secret.slice(0, 16))
    expect(later[1]!.body).not.toHaveProperty('key')
  })

  test('A8 a deleted key is refused from the very next request on', async () => {
    const { body } = await send('POST', 'keys', { body: { name: 'short' } })
    expect((await send('GET', 'models', { key: body.key })).status).toBe(200)
    expect((await send('DELETE', `keys/${body.id}`)).body).toMatchObject({ revoked: true, id: body.id })
    expect((await send('GET', 'models', { key: body.key })).status).toBe(401)
  })

  test('A8 while 16 readers hold a key, none is let in after its revocation was acknowledged', async () => {
    const { body } = await send('POST', 'keys', { body: { name: 'raced' } })
    let revoked = false
    let late = 0
    let served = 0
    const readers = Array.from({ length: 16 }, async () => {
      for (let turn = 0; turn < 12; turn++) {
        const after = revoked
        const { status } = await send('GET', 'rate-limits', { key: body.key })
        served += 1
        if (after && status !== 401) late += 1
      }
    })
    await eventually(() => served > 0)
    await send('DELETE', `keys/${body.id}`)
    revoked = true
    await Promise.all(readers)
    expect(late).toBe(0)
  })

  test('A8 a key past its expiry is refused', async () => {
    const expiry = Date.now() + 3_000
    const soon = new Date(expiry).toISOString()
    const { body } = await send('POST', 'keys', { body: { name: 'brief', expires_at: soon } })
    const late: number[] = []
    await eventually(async () => {
      const requestedAt = Date.now()
      const { status } = await send('GET', 'models', { key: body.key })
      if (status === 200 && requestedAt > expiry) late.push(requestedAt - expiry)
      return status === 401 && requestedAt
    })
    expect(late).toEqual([])
  })

  test('A15 a session ends when it is signed out', async () => {
    const account = { email: 'u1@example.com', password: 'pw-u1@example.com-canary-7f3a' }
    const { body } = await send('POST', 'auth/sessions', { as: null, body: account })
    const mine = { key: body.session_token as string }
    expect((await send('GET', 'auth/me', mine)).status).toBe(200)
    expect((await send('DELETE', 'auth/sessions', mine)).status).toBe(200)
    expect((await send('GET', 'auth/me', mine)).status).toBe(401)
  })
})

describe('A. what needs a credential', () => {
  test('A16 every route of the document with every method, but for the six that are public and those of visitors', async () => {
    const document = (await send('GET', '/openapi.json', { as: null })).body
    const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']
    const open: string[] = []
    for (const path of Object.keys(document.paths)) {
      for (const method of methods) {
        const url = path.replace(/\{\w+\}/g, '00000000-0000-4000-8000-000000000000')
        const sending = ['GET', 'HEAD'].includes(method) ? { as: null } : { as: null, body: {} }
        const { status } = await send(method, `/api/v1${url}`, sending)
        if (status !== 401) open.push(`${method} ${path}`)
      }
    }
    expect(open.sort()).toEqual([...GOLDEN_PUBLIC, ...VISITORS, 'HEAD /health'].sort())
  })

  test('A16 a revoked key and a key without scopes open none of them either', async () => {
    const document = (await send('GET', '/openapi.json', { as: null })).body
    for (const [path, verbs] of Object.entries(
      document.paths as Record<
        string,
        Record<string, { security?: object[]; 'x-required-scope'?: string; requestBody?: { content: object } }>
      >,
    )) {
      for (const [method, route] of Object.entries(verbs)) {
        if (!route.security?.length) continue
        const url = `/api/v1${path.replace(/\{\w+\}/g, '00000000-0000-4000-8000-000000000000')}`
        const isForm = 'multipart/form-data' in (route.requestBody?.content ?? {})
        const form = isForm ? { headers: { 'content-type': 'multipart/form-data; boundary=b' } } : {}
        const body = ['get', 'delete'].includes(method) ? {} : { body: '{not json', ...form }
        expect((await send(method.toUpperCase(), url, { as: 'kx', ...body })).status).toBe(401)
        if (!route['x-required-scope']) continue
        const { status, body: answer } = await send(method.toUpperCase(), url, { as: 'k0', ...body })
        expect({ path, status, code: answer.error.code }).toEqual({ path, status: 403, code: 'missing_scope' })
      }
    }
  })

  test('Q13 nothing of the inside is served on the tenant port', async () => {
    for (const path of [
      '/metrics',
      '/ops/v1/status',
      '/ops/v1/keys',
      '/debug',
      '/.env',
      '/.git/config',
      '/admin',
      '/swagger',
      '/__bun',
      '/src/main.ts',
    ]) {
      expect((await send('GET', path)).status).toBe(404)
    }
  })
})

keepsItsPromises(target)
