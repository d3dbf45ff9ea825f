import { describe, expect, test } from 'bun:test'
import { mintSecret } from '../../src/accounts/keys/lookup'
import { startTarget } from './support'
import { keepsItsPromises } from './support/oracle'
import { sendRaw, whole } from './support/raw'
import { attack, type Row } from './support/rows'

const target = await startTarget()
const { k1, kx } = target.people.secrets
const flipped = k1.slice(0, -8) + (k1.at(-8) === 'a' ? 'b' : 'a') + k1.slice(-7)
const models = { ask: 'GET models', as: null } as const
const refused = { ...models, is: 401, code: 'invalid_api_key' } as const
const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })

const rows: Row[] = [
  {
    ...refused,
    id: 'A1',
    what: 'no credential is 401 with WWW-Authenticate',
    also: ({ headers }) => expect(headers.get('www-authenticate')).toBe('Bearer'),
  },
  {
    ...models,
    id: 'A4',
    what: 'the scheme may be written in lower case',
    is: 200,
    headers: { authorization: `bearer ${k1}` },
  },
  {
    ...refused,
    id: 'A7',
    what: 'a key in a cookie of any name opens nothing',
    headers: { cookie: `api_key=${k1}; k=${k1}` },
  },
  {
    ...refused,
    id: 'A7',
    what: 'a key in the session cookie is no session',
    headers: { cookie: `svc_session=${k1}` },
    code: 'invalid_session',
  },
  {
    ...refused,
    id: 'A7',
    what: 'a key in the body opens nothing',
    ask: 'POST completions',
    body: { prompt: 'x', api_key: k1 },
  },
  { ...refused, id: 'A8', what: 'a revoked key', ...bearer(kx) },
  { ...refused, id: 'A10', what: 'one character flipped', ...bearer(flipped) },
  { ...refused, id: 'A10', what: 'a wrong checksum', ...bearer(`${k1.slice(0, -1)}${k1.at(-1) === 'a' ? 'b' : 'a'}`) },
  { ...refused, id: 'A10', what: 'the key in upper case', ...bearer(k1.toUpperCase()) },
  { ...refused, id: 'A10', what: 'the key in lower case', ...bearer(k1.toLowerCase()) },
  { ...refused, id: 'A10', what: 'the key without its last character', ...bearer(k1.slice(0, -1)) },
  { ...refused, id: 'A10', what: 'the key and one character more', ...bearer(`${k1}0`) },
  { ...refused, id: 'A11', what: 'a key of 8 KB', ...bearer(`svc_sk_live_${'a'.repeat(8_000)}`) },
  { ...refused, id: 'A11', what: 'a key with %00 in it', ...bearer(`${k1.slice(0, 20)}%00${k1.slice(20)}`) },
  { ...refused, id: 'A11', what: 'a key with ../ in it', ...bearer('svc_sk_live_../../etc/passwd') },
  { ...refused, id: 'A11', what: 'a statement for a key', ...bearer(`svc_sk_live_'/**/OR/**/1=1--`) },
  { ...refused, id: 'A10', what: 'a key of another server', ...bearer('sk-proj-abcdefghijklmnopqrstuvwxyz') },
  { ...refused, id: 'A10', what: 'a token of another part of this server', ...bearer('svc_wt_abcdefghijkl') },
]
attack('A. who is asking', target, rows)

describe('A. the header, byte by byte', () => {
  const get = (header: string) => sendRaw(target.port, whole('GET /api/v1/models HTTP/1.1', header), 1)

  test.each([
    ['A2 an empty header', 'Authorization: '],
    ['A2 a scheme alone', 'Authorization: Bearer'],
    ['A2 a scheme and a space', 'Authorization: Bearer '],
    ['A5 two keys in one header', `Authorization: Bearer ${k1}, Bearer ${k1}`],
    ['A11 an emoji', 'Authorization: Bearer svc_sk_live_\u{1f511}'],
    ['A12 another scheme', `Authorization: Basic ${k1}`],
  ])('%s is 401', async (_, header) => {
    expect((await get(header)).statuses).toEqual([401])
  })

  test.each([
    ['A5 two spaces', `Authorization: Bearer  ${k1}`],
    ['A5 a space at the end', `Authorization: Bearer ${k1} `],
    ['A5 a tab', `Authorization: Bearer\t${k1}`],
  ])('%s around the whole key are read as one', async (_, header) => {
    expect((await get(header)).statuses).toEqual([200])
  })

  test('A11 a carriage return in the key ends the connection with 400', async () => {
    expect((await get(`Authorization: Bearer ${k1.slice(0, 9)}\r${k1.slice(9)}`)).statuses).toEqual([400])
  })

  test('A13 a key of 10 MB ends the connection with 431', async () => {
    const bytes = whole('GET /api/v1/models HTTP/1.1', `Authorization: Bearer svc_sk_live_${'a'.repeat(10_000_000)}`)
    const { statuses, closed } = await sendRaw(target.port, bytes)
    expect({ statuses, closed }).toEqual({ statuses: [431], closed: true })
  })

  test('two Authorization headers are never read as one key', async () => {
    const bytes = whole('GET /api/v1/models HTTP/1.1', `Authorization: Bearer ${kx}`, `Authorization: Bearer ${k1}`)
    expect((await sendRaw(target.port, bytes, 1)).statuses).toEqual([401])
  })
})

describe('A. what a refusal tells', () => {
  test('A20 unknown, revoked, altered and mistyped keys get the same answer, byte for byte', async () => {
    const unknown = mintSecret('svc_sk_live_').token
    const mistyped = `${unknown.slice(0, -1)}${unknown.at(-1) === 'a' ? 'b' : 'a'}`
    const notices = await Promise.all(
      [unknown, kx, flipped, mistyped].map(async (key) => {
        const { body, status } = await target.send('GET', 'models', { key })
        return JSON.stringify({ status, ...body.error, request_id: '' })
      }),
    )
    expect(new Set(notices).size).toBe(1)
  })

  test('A20 a wrong password and an unknown address get the same answer', async () => {
    const attempt = async (email: string) => {
      const { status, body } = await target.send('POST', 'auth/sessions', {
        as: null,
        body: { email, password: 'wrong-password' },
      })
      return { status, ...body.error, request_id: '' }
    }
    expect(await attempt('u1@example.com')).toEqual(await attempt('nobody@example.com'))
  })

  test.each([
    ['A17 a slash more', '/api/v1/health/'],
    ['A17 an encoded way up', '/api/v1/health/..%2fmodels'],
    ['A17 two slashes', '//api/v1/health'],
    ['A17 two slashes before models', '/api/v1//models'],
    ['A17 upper case', '/api/v1/HEALTH'],
    ['A17 a parameter', '/api/v1/health;x=1'],
    ['A17 two encoded ways up', '/api/v1/health%2f..%2fmodels'],
    ['A17 a route that is none', '/api/v1/nowhere'],
    ['A17 an encoded letter of the version', '/api/%761/models'],
    ['A17 an encoded slash', '/api%2fv1/models'],
    ['A17 an address as a path', `http://127.0.0.1:${target.port}//api/v1/keys`],
    ['A17 a way up out of the version', '/x/../api/v1/models'],
  ])('%s opens nothing', async (_, path) => {
    const { statuses, text } = await sendRaw(target.port, whole(`GET ${path} HTTP/1.1`), 1)
    expect(statuses[0]).toBeOneOf([401, 404])
    expect(text).toContain('{"error":{')
    expect(text).not.toContain('svc-core')
  })

  test.each(['evil"><script>', 'a/api/v1', '/api/v1/health?', 'x://y', '', '[::1'])(
    'A16 the host "%s" does not make a route public',
    async (host) => {
      const bytes = ['GET /api/v1/keys HTTP/1.1', `Host: ${host}`, 'Connection: close', '', ''].join('\r\n')
      expect((await sendRaw(target.port, bytes, 1)).statuses).toEqual([401])
    },
  )

  test.each([
    ['A23 markup', '<script>alert(1)</script>'],
    ['A23 10 KB', 'a'.repeat(10_000)],
    ["A23 another's id", 'req_000000000000000000000000'],
    ['A23 a well-formed one, which the contract ignores as well', 'abcdefgh-12345678'],
  ])('%s as X-Request-Id is not taken over', async (_, sent) => {
    const { headers, text } = await target.send('GET', 'models', { headers: { 'x-request-id': sent } })
    expect(headers.get('x-request-id')).not.toBe(sent)
    expect(text).not.toContain(sent)
  })
})

test('A14 2,000 random keys are each refused, and K1 from the same address still works', async () => {
  const strangers = Array.from({ length: 2_000 }, () => mintSecret('svc_sk_live_').token)
  const statuses: number[] = []
  const workers = Array.from({ length: 32 }, async () => {
    for (let key = strangers.pop(); key; key = strangers.pop()) {
      statuses.push((await target.send('GET', 'models', { key })).status)
    }
  })
  await Promise.all(workers)
  expect(statuses.filter((status) => status !== 401)).toEqual([])
  expect((await target.send('GET', 'models')).status).toBe(200)
})

keepsItsPromises(target)
