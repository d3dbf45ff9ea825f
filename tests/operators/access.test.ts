import { describe, expect, test } from 'bun:test'
import { OPERATOR_ROLES, type OperatorRole } from '../../src/kernel/caller'
import { iso } from '../../src/kernel/clock'
import { fakeClock } from '../support/clock'
import { eventually } from '../support/eventually'
import { createWorld } from '../support/world'
import { operatorSender, remoteSender } from './support'

const clock = fakeClock()
const world = await createWorld({ clock, config: { opsListen: '127.0.0.1:0' } })
const here = operatorSender(world)
const remote = (key: string | null) => remoteSender(world, key)

let added = 0
const add = async (role: OperatorRole, input: object = {}) => {
  const { status, body } = await here('POST', 'operators', { name: `key ${++added}`, role, ...input })
  expect(status).toBe(200)
  return body as { id: string; key: string; name: string; prefix: string }
}
const keys = Object.fromEntries(
  await Promise.all(OPERATOR_ROLES.map(async (role) => [role, (await add(role)).key] as const)),
) as Record<OperatorRole, string>

const tenant = await world.person()

describe('an operator key', () => {
  test('is shown once, and opens the API from another machine under its own name', async () => {
    const made = await add('admin')
    expect(made).toMatchObject({ object: 'operator_key', role: 'admin', status: 'active', last_used_at: null })
    expect(made.key).toMatch(/^svc_op_[0-9A-Za-z]{48}$/)
    const send = remote(made.key)
    expect((await send('GET', 'status')).status).toBe(200)
    const { text } = await here('GET', 'operators')
    expect(text).not.toContain(made.key)
    expect(text).not.toContain(Bun.SHA256.hash(made.key, 'hex'))
    const ada = await world.person()
    const stated = { 'x-svc-operator': 'someone else', 'x-svc-transport': 'socket', 'x-svc-reason': 'ticket%207' }
    await send('POST', 'credits', { owner: ada.userId, amount_cents: 5 }, stated)
    const { items } = await world.app.container.audit.list(world.app.store.read, `user:${ada.userId}`, { limit: 1 })
    expect(items[0]!.inputSummary).toMatchObject({
      operator: { name: made.name, role: 'admin', transport: 'remote', reason: 'ticket 7' },
    })
  })

  test('shows when it was last used, to the minute', async () => {
    const made = await add('viewer')
    const lastUsed = async () =>
      (await here('GET', 'operators')).body.operators.find(({ id }: { id: string }) => id === made.id).last_used_at
    await remote(made.key)('GET', 'status')
    const first = iso(clock.now())
    expect(await lastUsed()).toBe(first)
    clock.advance(59_000)
    await remote(made.key)('GET', 'status')
    expect(await lastUsed()).toBe(first)
    clock.advance(1_000)
    await remote(made.key)('GET', 'status')
    expect(await lastUsed()).toBe(iso(clock.now()))
  })

  test.each([
    ['revoked', (id: string) => here('DELETE', `operators/${id}`)],
    ['replaced', (id: string) => here('POST', `operators/${id}/rotate`)],
  ])('that is %s ends what it still reads', async (_, stop) => {
    const made = await add('viewer')
    const headers = { authorization: `Bearer ${made.key}` }
    const request = new Request('http://localhost/ops/v1/stream?topics=keys', { headers })
    const response = await world.app.remoteOps!.handle(request)
    let isOver = false
    const reading = response.text().then(() => {
      isOver = true
    })
    expect([200, 201]).toContain((await stop(made.id)).status)
    await eventually(() => {
      clock.advance(1_000)
      return isOver
    })
    await reading
  })

  test('is over at once when it is revoked, and its name is free again', async () => {
    const made = await add('admin', { name: 'priya' })
    expect((await here('POST', 'operators', { name: 'priya', role: 'viewer' })).status).toBe(409)
    const revoked = { id: made.id, name: 'priya', status: 'revoked', revoked_at: iso(clock.now()) }
    expect((await here('DELETE', 'operators/priya')).body).toMatchObject(revoked)
    clock.advance(1_000)
    expect((await here('DELETE', `operators/${made.id}`)).body).toMatchObject(revoked)
    expect((await remote(made.key)('GET', 'status')).status).toBe(401)
    expect((await here('DELETE', `operators/${made.id}`)).body.status).toBe('revoked')
    expect((await here('POST', `operators/${made.id}/rotate`)).status).toBe(409)
    expect((await here('POST', 'operators', { name: 'priya', role: 'viewer' })).status).toBe(200)
  })

  test('is over at its end', async () => {
    const made = await add('viewer', { expires_at: iso(clock.now() + 1_000) })
    expect((await remote(made.key)('GET', 'status')).status).toBe(200)
    clock.advance(1_000)
    expect((await remote(made.key)('GET', 'status')).status).toBe(401)
    const shown = (await here('GET', 'operators')).body.operators.find(({ id }: { id: string }) => id === made.id)
    expect(shown).toMatchObject({ status: 'expired', revoked_at: null })
  })

  test('that is rotated works with its new secret only', async () => {
    const made = await add('viewer')
    const { body } = await here('POST', `operators/${encodeURIComponent(made.name)}/rotate`)
    expect(body).toMatchObject({ id: made.id, name: made.name, role: 'viewer' })
    expect((await remote(made.key)('GET', 'status')).status).toBe(401)
    expect((await remote(body.key)('GET', 'status')).status).toBe(200)
  })

  test('leaves its life in the record of the server, without its secret', async () => {
    const made = await add('billing', { name: 'recorded' })
    await here('POST', 'operators/recorded/rotate')
    await here('DELETE', 'operators/recorded')
    const { items } = await world.app.container.audit.list(world.app.store.read, 'server', {
      limit: 3,
      entity_id: made.id,
    })
    expect(items.map(({ action }) => action)).toEqual(['operator.revoked', 'operator.rotated', 'operator.added'])
    expect(JSON.stringify(items)).not.toContain('svc_op_')
  })
})

describe('the API on TCP', () => {
  const credentials: [string, Record<string, string>][] = [
    ['nothing', {}],
    ['an empty header', { authorization: '' }],
    ['the wrong scheme', { authorization: `Basic ${keys.admin}` }],
    [
      'a key of the form that nobody has',
      { authorization: `Bearer ${keys.admin.replace(/.$/, (last) => (last === 'x' ? 'y' : 'x'))}` },
    ],
    ['a key in lower case', { authorization: `Bearer ${keys.admin.toLowerCase()}` }],
    ['two keys', { authorization: `Bearer ${keys.admin}, ${keys.admin}` }],
    ['an API key', { authorization: `Bearer ${tenant.key}` }],
    ['the words of the socket', { 'x-svc-operator': 'root', 'x-svc-transport': 'socket' }],
    ['a cookie', { cookie: `svc_session=${keys.admin}` }],
  ]
  test.each(credentials)('answers 401 to %s, on every path alike', async (_what, headers) => {
    for (const [method, path] of [
      ['GET', 'status'],
      ['GET', '/metrics'],
      ['GET', 'nothing'],
      ['POST', 'credits'],
      ['PUT', 'keys/x'],
    ] as const) {
      const reply = await remote(null)(method, path, method === 'GET' ? undefined : '{broken', headers)
      expect({ path, status: reply.status, code: reply.body.error.code }).toEqual({
        path,
        status: 401,
        code: 'invalid_api_key',
      })
      expect(reply.headers.get('x-request-id')).toBe(reply.body.error.request_id)
    }
  })

  test('is no way into the tenant API', async () => {
    const bearer = { authorization: `Bearer ${keys.admin}` }
    expect((await world.send('GET', 'keys', undefined, bearer)).status).toBe(401)
    expect((await remote(keys.admin)('GET', '/api/v1/models')).status).toBe(404)
  })

  test('gives Prometheus its numbers for a viewer key', async () => {
    const { status, text } = await remote(keys.viewer)('GET', '/metrics')
    expect({ status, text: text.includes('process_resident_memory_bytes') }).toEqual({ status: 200, text: true })
  })
})

describe('what a new operator key may not be', () => {
  test.each([
    ['nameless', { role: 'viewer' }],
    ['named with a blank', { name: ' ', role: 'viewer' }],
    ['named in 65 characters', { name: 'x'.repeat(65), role: 'viewer' }],
    ['without a role', { name: 'a' }],
    ['of a role that is none', { name: 'a', role: 'root' }],
    ['over before it begins', { name: 'a', role: 'viewer', expires_at: '2020-01-01T00:00:00Z' }],
  ])('%s', async (_why, input) => {
    expect((await here('POST', 'operators', input)).body.error).toMatchObject({ code: 'validation_error' })
  })

  test.each(['DELETE', 'POST'])('one that is not there (%s)', async (method) => {
    const path = method === 'POST' ? 'operators/nobody/rotate' : 'operators/nobody'
    expect((await here(method, path)).status).toBe(404)
  })
})
