import { describe, expect, test } from 'bun:test'
import type { StreamEvent } from '../../src/operators/schema'
import { eventually } from '../support/eventually'
import { createWorld } from '../support/world'

const world = await createWorld()
const TOPICS = 'overview,jobs,deliveries,takeovers,submissions,browser,keys,audit,logs'

const ask = (path: string, signal?: AbortSignal) =>
  world.app.ops.handle(new Request(`http://localhost/ops/v1/${path}`, signal ? { signal } : {}))

type Topic = { topic: string; facts: Record<string, unknown>; rows: Record<string, unknown>[] }
async function snapshot(topics: string): Promise<Record<string, Topic>> {
  const response = await ask(`snapshot?topics=${topics}`)
  expect(response.status).toBe(200)
  return Object.fromEntries(((await response.json()) as { topics: Topic[] }).topics.map((one) => [one.topic, one]))
}

/** Reads a stream until it is left. */
async function follow(topics: string) {
  const leaving = new AbortController()
  const response = await ask(`stream?topics=${topics}`, leaving.signal)
  const events: StreamEvent[] = []
  const reading = (async () => {
    let text = ''
    const decoder = new TextDecoder()
    for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += decoder.decode(bytes, { stream: true })
      const frames = text.split('\n\n')
      text = frames.pop()!
      for (const frame of frames) {
        const data = /^data: (.+)$/m.exec(frame)?.[1]
        if (data) events.push(JSON.parse(data) as StreamEvent)
      }
    }
  })().catch(() => undefined)
  const leave = async () => {
    leaving.abort()
    await reading
  }
  return { events, leave, headers: response.headers }
}

describe('GET /ops/v1/snapshot', () => {
  test('has every topic, also on a server where nothing has happened', async () => {
    expect((await (await world.person()).send('PATCH', 'billing/limits', { daily_cap_cents: 500 })).status).toBe(200)
    const found = await snapshot(TOPICS)
    expect(Object.keys(found)).toEqual(TOPICS.split(','))
    const { spend } = found.overview!.facts as { spend: object }
    expect(spend).toMatchObject({ cost_cents: 0, saved_cents: 0, cap_cents: 500, capped_cents: 0, owners: [] })
    expect(found.overview!.facts).toMatchObject({ status: { health: 'healthy' }, queue: { queued: 0, active: 0 } })
  })

  test('shows keys without their secrets, requests without their bodies, and the record of both', async () => {
    const ada = await world.person({ tier: 'pro' })
    await ada.send('GET', 'models')
    const { logs } = await eventually(
      () => snapshot('logs'),
      ({ logs }) => logs!.rows.some(({ path }) => path === '/api/v1/models'),
    )
    const input = { requested_tier: 'enterprise', use_case: 'launch on Monday', expected_volume: '500 a minute' }
    expect((await ada.send('POST', 'rate-limits/request-increase', input)).status).toBe(201)
    const policy = (await ada.send('POST', 'guardrail-policies', { name: 'support-safe' })).body.id
    await ada.send('PUT', `keys/${ada.keyId}/guardrails`, { guardrail_policy_id: policy })
    const { keys, audit } = await eventually(
      () => snapshot('keys,audit'),
      (found) => found.keys!.rows.some(({ id, asked: request }) => id === ada.keyId && request !== null),
    )
    const key = keys!.rows.find(({ id }) => id === ada.keyId)!
    expect(key.asked).toMatchObject({ tier: 'enterprise', why: 'launch on Monday' })
    expect(key).toMatchObject({ policy: 'support-safe', preference: null })
    expect(Number(keys!.facts.total)).toBeGreaterThan(0)
    expect(key).toMatchObject({ name: 'test', rpm: { used: expect.any(Number) }, spent_today_cents: 0 })
    expect(JSON.stringify([keys, logs, audit])).not.toContain(ada.key)
    const line = logs!.rows.find(({ path }) => path === '/api/v1/models')
    expect(line).toMatchObject({ method: 'GET', status: 200, key: 'test', user: ada.userId })
    expect(audit!.rows.some(({ action, entityId }) => action === 'key.created' && entityId === ada.keyId)).toBe(true)
  })

  test('shows a visitor who waits, with what they said, and has it among what needs a person', async () => {
    const ada = await world.person()
    const input = {
      ...{ api_key_id: ada.keyId, name: 'shop-help', security: { allowedOrigins: ['https://shop.example'] } },
      intents: { enabled: true, keywords: ['real person'], action: 'takeover' },
    }
    const { id } = (await ada.send('POST', 'iframes', input)).body
    const { token, session_id } = (
      await world.send('POST', `iframes/${id}/sessions`, { visitor_id: 'v1' }, { origin: 'https://shop.example' })
    ).body
    const message = { content: 'charged twice. Is there a real person?' }
    const by = { origin: 'https://shop.example', authorization: `Bearer ${token}` }
    await world.send('POST', `iframes/${id}/sessions/${session_id}/messages`, message, by)
    const { takeovers, overview } = await eventually(
      () => snapshot('takeovers,overview'),
      ({ takeovers }) => takeovers!.rows.length > 0,
    )
    expect(takeovers!.rows[0]).toMatchObject({
      widget: 'shop-help',
      takeover_status: 'requested',
      said: message.content,
    })
    const needs = await eventually(
      async () => (await snapshot('overview')).overview!.facts.needs as { kind: string }[],
      (found) => found.length > 0,
    )
    expect(needs[0]).toMatchObject({ kind: 'visitors', count: 1, about: 'shop-help' })
    expect(overview!.facts.status).toMatchObject({ health: 'healthy' })
    expect((await ada.send('POST', `iframes/${id}/conversations/${session_id}/takeover`, {})).status).toBe(200)
    const { takeovers: taken } = await eventually(
      () => snapshot('takeovers'),
      ({ takeovers }) => takeovers!.rows[0]!.takeover_status === 'human',
    )
    expect(taken!.rows[0]).toMatchObject({ key: 'test', back_at: expect.stringMatching(/^\d{4}-/) })
  }, 60_000)

  test('gives more rows of a list to who looks through it', async () => {
    for (let at = 0; at < 600; at++) {
      const line = { id: `req_${at}`, method: 'GET', path: '/api/v1/models', status: 200, ms: 1 }
      world.app.container.traffic.note({ ...line, key: null, user: null, code: null, follows: false })
    }
    expect((await snapshot('logs')).logs!.rows).toHaveLength(500)
    expect((await snapshot('logs&most=2000')).logs!.rows.map(({ id }) => id)).toContain('req_0')
    expect((await snapshot('logs&most=550')).logs!.rows).toHaveLength(550)
    expect((await ask('snapshot?topics=logs&most=9999')).status).toBe(400)
  })

  test('names a source that does not answer, and shows the others with what it said last', async () => {
    expect((await snapshot('overview')).overview!.facts.failing).toEqual([])
    const { health } = world.app.container
    const { check } = health
    Object.assign(health, { check: () => Promise.reject(new Error('away')) })
    const { overview } = await eventually(
      () => snapshot('overview'),
      ({ overview }) => String(overview!.facts.failing) === 'engines,status',
    ).finally(() => Object.assign(health, { check }))
    expect(overview!.facts).toMatchObject({ status: { health: 'healthy' }, queue: { queued: 0 } })
  }, 60_000)

  test('refuses a topic that there is not', async () => {
    const response = await ask('snapshot?topics=jobs,secrets')
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('validation_error')
  })
})

describe('GET /ops/v1/stream', () => {
  test('says who reads, then each topic as it is, then what changes, numbered without a gap', async () => {
    const { events, leave, headers } = await follow('keys')
    expect(headers.get('content-type')).toStartWith('text/event-stream')
    await eventually(() => events.length >= 2)
    expect(events[0]).toMatchObject({ type: 'hello', operator: 'unknown', role: 'admin' })
    expect(events[1]).toMatchObject({ type: 'snapshot', topic: 'keys', seq: 1 })
    const ada = await world.person()
    const notify = () =>
      events.find((event) => event.type === 'delta' && event.changed.some(({ id }) => id === ada.keyId)) as
        | Extract<StreamEvent, { type: 'delta' }>
        | undefined
    await eventually(() => notify() !== undefined)
    expect(notify()!.order![0]).toBe(ada.keyId)
    const numbers = events.flatMap((event) => (event.type === 'hello' ? [] : [event.seq]))
    expect(numbers).toEqual(numbers.map((_, at) => at + 1))
    await leave()
  })

  test('two clients get the same stream, each with its own sequence numbers', async () => {
    const [one, other] = await Promise.all([follow('audit'), follow('audit,logs')])
    await eventually(() => one.events.length >= 2 && other.events.length >= 3)
    expect(one.events[1]).toMatchObject({ topic: 'audit', seq: 1 })
    expect(other.events.slice(1).map((event) => (event.type === 'hello' ? '' : `${event.topic} ${event.seq}`))).toEqual(
      ['audit 1', 'logs 1'],
    )
    await Promise.all([one.leave(), other.leave()])
  })
})
