// Both databases: which entries are found, and in which order, is up to its statements.
import { describe, expect, test } from 'bun:test'
import canonicalize from 'canonicalize'
import { sha256Hex } from '../../src/kernel/crypto'
import { createWorld } from '../support/world'

const world = await createWorld()

type Event = { action: string; prevHash: string; hash: string; inputSummary: Record<string, unknown> }

describe('GET /audit', () => {
  test('is a bare array, newest first, of what the account did', async () => {
    const ada = await world.person()
    await ada.send('POST', 'completions', { prompt: 'My secret is 12345', mode: 'fast' })
    await ada.send('POST', 'keys', { name: 'ci' })
    const reply = await ada.send('GET', 'audit')
    expect(reply.status).toBe(200)
    expect(reply.headers.get('x-request-id')).toStartWith('req_')
    expect(reply.headers.get('x-has-more')).toBe('false')
    expect(reply.headers.get('link')).toBeNull()
    const [key, completion] = reply.body
    expect([key.action, completion.action]).toEqual(['key.created', 'completion.created'])
    expect(completion.inputSummary).toMatchObject({
      method: 'POST',
      endpoint: '/completions',
      api_key_id: ada.keyId,
      mode: 'fast',
      prompt_sha256: sha256Hex('My secret is 12345'),
      prompt_length: 18,
    })
    expect(completion.outputSummary).toMatchObject({ status: 200, request_id: completion.requestId })
    expect(reply.text).not.toContain('12345')
  })

  test('pages by headers, and every link leads on', async () => {
    const ada = await world.person()
    for (let made = 0; made < 4; made++) await ada.send('POST', 'keys', { name: `key ${made}` })
    const whole: Event[] = (await ada.send('GET', 'audit?action=key.*')).body
    const paged: Event[] = []
    let path: string | null = '/api/v1/audit?action=key.*&limit=2'
    while (path) {
      const reply = await ada.send('GET', path)
      expect(reply.body.length).toBeLessThanOrEqual(2)
      paged.push(...reply.body)
      const more = reply.headers.get('x-has-more') === 'true'
      expect(reply.headers.get('x-next-cursor') !== null).toBe(more)
      path = more ? /^<([^>]+)>; rel="next"$/.exec(reply.headers.get('link')!)![1]! : null
    }
    expect(paged).toEqual(whole)
  })

  test('gives enough to check the chain without this server', async () => {
    const ada = await world.person()
    for (let made = 0; made < 3; made++) await ada.send('POST', 'keys', {})
    const events: Event[] = (await ada.send('GET', 'audit')).body.reverse()
    let before = '0'.repeat(64)
    for (const { hash, ...event } of events) {
      expect(event.prevHash).toBe(before)
      expect(sha256Hex(before + canonicalize(event))).toBe(hash)
      before = hash
    }
  })

  test('never shows what others did', async () => {
    const [ada, eve] = [await world.person(), await world.person()]
    await ada.send('POST', 'keys', { name: 'mine' })
    const seen: Event[] = (await eve.send('GET', 'audit')).body
    expect(seen.some(({ inputSummary }) => inputSummary.api_key_id === ada.keyId)).toBe(false)
  })

  test.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=ten', 'limit'],
    ['status=99', 'status'],
    ['status=ok', 'status'],
    ['cursor=!!', 'cursor'],
    ['from=last%20week', 'from'],
    ['to=2026-02-30', 'to'],
  ])('?%s is 400 and names %s', async (query, param) => {
    const ada = await world.person()
    const reply = await ada.send('GET', `audit?${query}`)
    expect([reply.status, reply.body.error.code, reply.body.error.param]).toEqual([400, 'validation_error', param])
  })

  test.each(['audit', 'audit/export', 'audit/integrity'])('of dates the wrong way round is 400 on %s', async (path) => {
    const ada = await world.person()
    const moment = '2026-01-02T00:00:00Z'
    for (const range of ['from=2026-01-03&to=2026-01-02', `from=${moment}&to=${moment}`]) {
      const { status, body } = await ada.send('GET', `${path}?${range}`)
      expect([status, body.error.code, body.error.param]).toEqual([400, 'validation_error', 'from'])
    }
    expect((await ada.send('GET', `${path}?from=2026-01-02&to=2026-01-02`)).status).toBe(200)
    expect((await ada.send('GET', 'audit?action=audit.exported')).body.length).toBe(path === 'audit/export' ? 1 : 0)
  })

  test('needs the billing scope', async () => {
    const ada = await world.person({ scopes: ['completions'] })
    expect((await ada.send('GET', 'audit')).body.error.code).toBe('missing_scope')
    expect((await world.send('GET', 'audit')).status).toBe(401)
  })

  test.each(['POST', 'PUT', 'PATCH', 'DELETE'])(
    'cannot be changed: %s is 405, of one event 404 (I21)',
    async (method) => {
      const ada = await world.person()
      await ada.send('POST', 'keys', {})
      const [event] = (await ada.send('GET', 'audit')).body
      expect((await ada.send(method, 'audit', {})).status).toBe(405)
      expect((await ada.send(method, `audit/${event.id}`, {})).status).toBe(404)
    },
  )
})
