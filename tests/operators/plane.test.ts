import { describe, expect, test } from 'bun:test'
import { createWorld } from '../support/world'
import { operatorSender } from './support'

const world = await createWorld()
const send = operatorSender(world)

describe('the operator API', () => {
  test('gives every answer a request id, in the header and in the body', async () => {
    const { status, headers, body } = await send('GET', 'status')
    expect(status).toBe(200)
    expect(headers.get('x-request-id')).toMatch(/^req_/)
    expect(body.request_id).toBe(headers.get('x-request-id'))
  })

  const refusals = [
    ['an unknown route', 'GET', 'nothing', undefined, 404, 'not_found'],
    ['a method that is none', 'PATCH', 'status', {}, 405, 'method_not_allowed'],
    ['a body that is not JSON', 'POST', 'credits', '{', 400, 'validation_error'],
    ['a grant without an amount', 'POST', 'credits', {}, 400, 'validation_error'],
    ['a grant of nothing', 'POST', 'credits', { amount_cents: 0 }, 400, 'validation_error'],
    ['a grant that takes', 'POST', 'credits', { amount_cents: -5 }, 400, 'validation_error'],
    ['a tier that is none', 'PUT', 'keys/x', { tier: 'gold' }, 400, 'validation_error'],
    ['a key nobody has', 'GET', 'keys/no-such-key', undefined, 404, 'not_found'],
    ['a list of an unknown org', 'GET', 'keys?org=nobody', undefined, 404, 'not_found'],
    ['a list of too many', 'GET', 'keys?limit=1000', undefined, 400, 'validation_error'],
    ['a backup to a relative path', 'POST', 'backups', { out: 'here' }, 400, 'validation_error'],
    ['a test of an upstream that is not there', 'POST', 'engines/test?upstream=none', {}, 404, 'not_found'],
    [
      'an engine with a name that is none',
      'POST',
      'engines',
      { name: '../x', kind: 'compat', models: ['a'], test: false },
      400,
      'validation_error',
    ],
  ] as const

  test.each(refusals)('refuses %s', async (_why, method, path, body, status, code) => {
    const reply = await send(method, path, body)
    expect({ status: reply.status, code: reply.body.error.code }).toEqual({ status, code })
    expect(reply.body.error.request_id).toBe(reply.headers.get('x-request-id'))
  })

  test('names the methods of an address that exists', async () => {
    expect((await send('PATCH', 'status', {})).headers.get('allow')).toBe('GET, HEAD')
  })

  test('takes JSON only', async () => {
    const reply = await send('POST', 'credits', 'amount_cents=5', {
      'content-type': 'application/x-www-form-urlencoded',
    })
    expect(reply.status).toBe(415)
  })

  test('is not served to tenants', async () => {
    const ada = await world.person()
    for (const path of ['/ops/v1/status', '/metrics']) expect((await ada.send('GET', path)).status).toBe(404)
  })

  test('records who the operator said they were, and survives one who says nonsense', async () => {
    const ada = await world.person()
    const stated = { 'x-svc-operator': encodeURIComponent('säm@host (uid 7)'), 'x-svc-reason': '%zz' }
    await send('POST', 'credits', { owner: ada.userId, amount_cents: 1 }, stated)
    const { items } = await world.app.container.audit.list(world.app.store.read, `user:${ada.userId}`, { limit: 1 })
    expect(items[0]!.inputSummary).toMatchObject({ operator: { name: 'säm@host (uid 7)', reason: null } })
  })
})

describe('/metrics', () => {
  test('counts requests by route and status, and measures this process', async () => {
    await (await world.person()).send('GET', 'models')
    // A request is counted when its answer is out, which is after its caller has it.
    await new Promise((resolve) => setImmediate(resolve))
    const { status, headers, text } = await send('GET', '/metrics')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toStartWith('text/plain; version=0.0.4')
    expect(text).toMatch(/^svc_http_requests_total\{method="GET",route="\/api\/v1\/models",status="200"\} 1$/m)
    expect(text).toMatch(/^process_resident_memory_bytes \d+$/m)
    expect(text).toMatch(/^nodejs_eventloop_lag_seconds [\d.e-]+$/m)
  })

  test('never holds a key, an id or a query', async () => {
    const ada = await world.person()
    await ada.send('GET', `keys/${ada.keyId}?secret=canary`)
    const { text } = await send('GET', '/metrics')
    expect(text).not.toContain(ada.keyId)
    expect(text).not.toContain('canary')
  })
})
