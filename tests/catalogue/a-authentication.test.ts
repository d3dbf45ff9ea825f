import { describe, expect, test } from 'bun:test'
import { mintSecret } from '../../src/accounts/keys/lookup'
import { startTarget } from './support'
import { keepsItsPromises } from './support/oracle'
import { sendRaw, whole } from './support/raw'
import { attack } from './support/rows'

const target = await startTarget()
const { k1, kx } = target.people.secrets

/*
 * docs/attacks.md A1 and A8 are rows of tests/contract/credentials; docs/attacks.md A4, A10, A12 and A20, and what a
 * header and a cookie may hold, of tests/accounts/keys/lookup and tests/accounts/auth.
 */
const refused = { as: null, is: 401, code: 'invalid_api_key' } as const
attack('A. who is asking', target, [
  { ...refused, id: 'A7', what: 'a key in the body opens nothing', body: { prompt: 'x', api_key: k1 } },
  {
    ...{ ...refused, id: 'A11', what: 'a statement for a key', ask: 'GET models' },
    headers: { authorization: `Bearer svc_sk_live_'/**/OR/**/1=1--` },
  },
])

describe('A. the header, byte by byte', () => {
  const get = (header: string) => sendRaw(target.port, whole('GET /api/v1/models HTTP/1.1', header), 1)

  test.each([
    ['A2 an empty header', 'Authorization: '],
    ['A5 two keys in one header', `Authorization: Bearer ${k1}, Bearer ${k1}`],
    ['A11 an emoji', 'Authorization: Bearer svc_sk_live_\u{1f511}'],
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
