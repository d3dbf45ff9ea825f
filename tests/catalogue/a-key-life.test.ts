import { describe, expect, test } from 'bun:test'
import { eventually, startTarget } from './support'
import { keepsItsPromises } from './support/oracle'
import { attack, type Row } from './support/rows'

/** A: keys from their rotation to their end, and the pages that may use them; I-11: asking for more. */

const target = await startTarget()
const { send, people } = target

const PAGE = 'https://app.example'
const bound = (await send('POST', 'keys', { body: { name: 'bound', allowed_origins: [PAGE] } })).body
const from = (origin: string) => ({ key: bound.key as string, headers: { origin } })

const origins: Row[] = [
  { id: 'A8', what: 'a page that is allowed', ask: 'GET models', ...from(PAGE), is: 200 },
  { id: 'A8', what: 'no page at all', ask: 'GET models', key: bound.key, is: 200 },
  ...[
    ['another host', 'https://evil.example'],
    ['another scheme', 'http://app.example'],
    ['another port', 'https://app.example:8443'],
    ['a longer name', 'https://app.example.evil.example'],
    ['a name before it', 'https://evil-app.example'],
    ['the origin of no page', 'null'],
    ['a trailing slash', 'https://app.example/'],
    ['capitals', 'HTTPS://APP.EXAMPLE'],
    ['two origins', 'https://app.example, https://evil.example'],
    ['a wildcard', '*'],
  ].map(
    ([what, origin]): Row => ({
      id: 'A8',
      what: `a page of ${what}`,
      ask: 'GET models',
      ...from(origin!),
      is: 403,
      code: 'origin_not_allowed',
      also: ({ headers }) => expect(headers.get('access-control-allow-origin')).toBeNull(),
    }),
  ),
]
attack('A. pages and keys', target, origins)

describe('A. the order of refusals (contract 1.5)', () => {
  const strange = { headers: { origin: 'https://evil.example' } }

  test('the credential before the origin', async () => {
    expect((await send('GET', 'models', { as: 'kx', ...strange })).status).toBe(401)
  })

  test('the origin before the rate, and it is not counted', async () => {
    const made = (await send('POST', 'keys', { body: { allowed_origins: [PAGE], rpm_limit: 2 } })).body
    for (let n = 0; n < 5; n++) {
      expect((await send('GET', 'models', { key: made.key, ...strange })).body.error.code).toBe('origin_not_allowed')
    }
    expect((await send('GET', 'models', { key: made.key })).headers.get('x-ratelimit-remaining-requests')).toBe('1')
  })

  test('the origin before the scope and the body', async () => {
    const made = (await send('POST', 'keys', { body: { allowed_origins: [PAGE], scopes: ['tools'] } })).body
    const { status, body } = await send('POST', 'completions', { key: made.key, ...strange, body: '{broken' })
    expect({ status, code: body.error.code }).toEqual({ status: 403, code: 'origin_not_allowed' })
    expect((await send('POST', 'completions', { key: made.key, body: '{broken' })).body.error.code).toBe(
      'missing_scope',
    )
  })

  test('the rate before the scope', async () => {
    const made = (await send('POST', 'keys', { body: { scopes: ['tools'], rpm_limit: 1 } })).body
    expect((await send('GET', 'keys', { key: made.key })).body.error.code).toBe('missing_scope')
    expect((await send('GET', 'keys', { key: made.key })).status).toBe(429)
  })
})

describe('A. rotation', () => {
  const rotation: Row[] = [
    ['a grace below nothing', { grace_period_seconds: -1 }],
    ['a grace above seven days', { grace_period_seconds: 604_801 }],
    ['half a second of grace', { grace_period_seconds: 0.5 }],
    ['a grace in words', { grace_period_seconds: '60' }],
    ['a grace of null', { grace_period_seconds: null }],
    ['a body that is a list', []],
  ].map(
    ([what, body]): Row => ({
      id: 'A19',
      what: what as string,
      ask: `POST keys/${bound.id}/rotate`,
      body,
      is: 400,
      code: 'validation_error',
    }),
  )
  attack('refused', target, [
    ...rotation,
    {
      id: 'A8',
      what: "another's key",
      ask: `POST keys/${people.keyIds.k2}/rotate`,
      body: {},
      is: 404,
      code: 'not_found',
    },
    {
      id: 'A22',
      what: 'by a key that may not',
      ask: `POST keys/${bound.id}/rotate`,
      as: 'k0',
      body: '{',
      is: 403,
      code: 'missing_scope',
    },
    {
      id: 'A8',
      what: 'a revoked key',
      ask: `POST keys/${people.keyIds.kx}/rotate`,
      body: {},
      is: 409,
      code: 'conflict',
    },
  ])

  test('A22 a key with one scope does not get hold of a key with five', async () => {
    const narrow = (await send('POST', 'keys', { body: { scopes: ['billing'] } })).body
    const { status, body } = await send('POST', `keys/${bound.id}/rotate`, { key: narrow.key, body: {} })
    expect({ status, code: body.error.code }).toEqual({ status: 403, code: 'missing_scope' })
    expect((await send('GET', `keys/${bound.id}`)).body.status).toBe('active')
  })

  test('A19 the new secret is in its answer and nowhere else; the old one ends with its grace', async () => {
    const made = (await send('POST', 'keys', { body: { name: 'turned' } })).body
    const turned = await send('POST', `keys/${made.id}/rotate`, { body: { grace_period_seconds: 1 } })
    const fresh = turned.body.key as string
    expect(turned.body).toMatchObject({ id: made.id, status: 'rotating', prefix: fresh.slice(0, 16) })
    for (const path of ['keys', `keys/${made.id}`, 'audit?limit=100']) {
      expect((await send('GET', path)).text).not.toContain(fresh)
    }
    expect((await send('GET', 'models', { key: fresh })).status).toBe(200)
    const works = async () => (await send('GET', 'models', { key: made.key })).status
    await eventually(works, (status) => status === 401)
    expect((await send('GET', `keys/${made.id}`)).body.status).toBe('active')
  })

  test('A20 a secret that a rotation ended is refused in the words for one nobody has', async () => {
    const made = (await send('POST', 'keys', { body: {} })).body
    await send('POST', `keys/${made.id}/rotate`, { body: { grace_period_seconds: 0 } })
    const words = ({ status, text, body }: Awaited<ReturnType<typeof send>>) =>
      [status, text.replaceAll(body.error.request_id, 'req')].join()
    const ended = words(await send('GET', 'models', { key: made.key }))
    expect(ended).toBe(words(await send('GET', 'models', { as: 'kx' })))
  })

  test('twenty at once leave one key with secrets that all work until their end', async () => {
    const made = (await send('POST', 'keys', { body: { name: 'raced' } })).body
    const turned = await Promise.all(
      Array.from({ length: 20 }, () => send('POST', `keys/${made.id}/rotate`, { body: {} })),
    )
    expect(turned.map(({ status }) => status)).toEqual(Array(20).fill(200))
    const secrets = [made.key, ...turned.map(({ body }) => body.key as string)]
    expect(new Set(secrets).size).toBe(21)
    const statuses = await Promise.all(secrets.map(async (key) => (await send('GET', 'models', { key })).status))
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect((await send('POST', `keys/${made.id}/rotate`, { body: { grace_period_seconds: 0 } })).status).toBe(200)
    const after = await Promise.all(secrets.map(async (key) => (await send('GET', 'models', { key })).status))
    expect(new Set(after)).toEqual(new Set([401]))
  })
})

describe('I-11. asking for more', () => {
  const ORDER = { requested_tier: 'enterprise', use_case: 'a', expected_volume: 'b' }

  test('fifty at once are one request', async () => {
    const requests = await Promise.all(
      Array.from({ length: 50 }, () => send('POST', 'rate-limits/request-increase', { as: 'free', body: ORDER })),
    )
    const counts = (status: number) => requests.filter((reply) => reply.status === status).length
    expect({ of201: counts(201), of409: counts(409) }).toEqual({ of201: 1, of409: 49 })
  })

  attack('refused', target, [
    ...['__proto__', 'constructor', 'free', 'ENTERPRISE', '', null, 1, ['pro']].map(
      (requested_tier): Row => ({
        id: 'I-11',
        what: `tier ${JSON.stringify(requested_tier)}`,
        ask: 'POST rate-limits/request-increase',
        as: 'k1b',
        body: { ...ORDER, requested_tier },
        is: 400,
        code: 'validation_error',
      }),
    ),
    {
      id: 'I-11',
      what: 'a megabyte of use case',
      ask: 'POST rate-limits/request-increase',
      as: 'k1b',
      body: { ...ORDER, use_case: 'x'.repeat(1_000_000) },
      is: 400,
      code: 'validation_error',
    },
    {
      id: 'I-11',
      what: 'a key that is at the top',
      ask: 'POST rate-limits/request-increase',
      as: 'k1b',
      body: ORDER,
      is: 400,
      code: 'validation_error',
    },
  ])
})

keepsItsPromises(target)
