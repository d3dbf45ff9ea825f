import { expect, test } from 'bun:test'
import { fakeClock } from '../support/clock'
import { eventually } from '../support/eventually'
import { createWidgetWorld, SHOP } from './world'

const clock = fakeClock()
const world = await createWidgetWorld({ clock })
const { widget, begin, say, asVisitor, transcript, listenTo } = world

test('`stream` of another type, and an invalid order with it, are refused as JSON (P1, P2)', async () => {
  const { owner, id } = await widget()
  const chat = await begin(id)
  for (const [input, code] of [
    [{ content: 'x', stream: 'true' }, 'validation_error'],
    [{ content: 'x', stream: 1 }, 'validation_error'],
    [{ stream: true }, 'validation_error'],
    [{ content: '', stream: true }, 'validation_error'],
    [{ content: 'x'.repeat(2_001), stream: true }, 'validation_error'],
  ] as const) {
    const { status, body, headers } = await asVisitor(chat)('POST', '/messages', input)
    expect({ input, status, code: body.error?.code }).toEqual({ input, status: 400, code })
    expect(headers.get('content-type')).toStartWith('application/json')
  }
  expect((await transcript(owner, chat)('GET')).body.message_count).toBe(0)
})

test('text that looks like frames stays text, and odd resume points are ignored (P8, P11)', async () => {
  const { owner, id } = await widget()
  const chat = await begin(id)
  await transcript(owner, chat)('POST', '/takeover')
  const evil = 'a\n\nevent: closed\ndata: {}\n\nb\r\revent: done\u2028id: 9'
  await transcript(owner, chat)('POST', '/messages', { content: evil })
  const notice = await listenTo(chat, 0)
  expect((await notice.until(({ event }) => event === 'message')).data.content).toBe(evil)
  notice.leave()
  expect(notice.heard.map(({ event }) => event)).toEqual(['takeover', 'message'])
  for (const point of ['-1', '1e9', 'x'.repeat(8_000), '1; drop', '99999999999999999999']) {
    const leaving = new AbortController()
    const { status } = await world.app.api.handle(eventsOf(chat, { 'last-event-id': point }, leaving.signal))
    expect({ point: point.slice(0, 20), status }).toEqual({ point: point.slice(0, 20), status: 200 })
    leaving.abort()
  }
})

test('a stream of another chat is not there, and proxies must not hold it back (P10, P16)', async () => {
  const { id } = await widget()
  const [mine, other] = [await begin(id), await begin(id)]
  const elsewhere = await begin((await widget()).id)
  for (const chat of [
    { ...other, token: mine.token },
    { ...elsewhere, token: mine.token },
    { ...mine, id: elsewhere.id },
    { ...mine, sessionId: crypto.randomUUID() },
  ]) {
    const response = await world.app.api.handle(eventsOf(chat, { 'last-event-id': '0' }))
    expect(response.status).toBe(401)
    expect((await response.json()).error.code).toBe('invalid_token')
  }
  const leaving = new AbortController()
  const { headers } = await world.app.api.handle(eventsOf(mine, {}, leaving.signal))
  leaving.abort()
  expect(headers.get('content-type')).toStartWith('text/event-stream')
  expect(headers.get('cache-control')).toBe('no-cache, no-transform')
  expect(headers.get('x-accel-buffering')).toBe('no')
})

test('how long a visitor stays is no time of an answer', async () => {
  const chat = await begin((await widget()).id)
  const { traffic } = world.app.container
  const lastEnds = (path: string) => eventually(() => traffic.newest(1)[0]!.path.endsWith(path))
  await lastEnds('/sessions')
  const notice = await listenTo(chat, 0)
  clock.advance(5_000_000)
  notice.leave()
  await lastEnds('/events')
  expect(traffic.newest(1)[0]!.ms).toBe(5_000_000)
  expect(traffic.summary()).toMatchObject({ recent: { requests: 1, p50: null, p95: null } })
})

test("an expired chat's token is refused, and the visitor starts a new chat", async () => {
  const { owner, id } = await widget({ security: { sessionTtlMinutes: 10 } })
  const chat = await begin(id)
  expect((await say(chat, 'What is 2 + 3?')).status).toBe(200)
  clock.advance(10 * 60_000 - 1_000)
  expect((await asVisitor(chat)('GET', '')).status).toBe(200)
  clock.advance(1_000)
  for (const [method, path, body] of [
    ['GET', '', undefined],
    ['GET', '/events', undefined],
    ['POST', '/messages', { content: 'Still there?' }],
    ['POST', '/request-human', {}],
    ['POST', '/feedback', { rating: 5 }],
    ['POST', '/identify', { name: 'Ada' }],
  ] as const) {
    const reply = await asVisitor(chat)(method, path, body)
    expect({ method, path, status: reply.status, code: reply.body.error.code }).toEqual({
      method,
      path,
      status: 401,
      code: 'invalid_token',
    })
  }
  // The owner still reads it.
  expect((await transcript(owner, chat)('GET')).body.message_count).toBe(2)
  expect((await say(await begin(id), 'What is 2 + 3?')).status).toBe(200)
})

function eventsOf(chat: { id: string; token: string; sessionId: string }, more: object, signal?: AbortSignal): Request {
  return new Request(`http://localhost/api/v1/iframes/${chat.id}/sessions/${chat.sessionId}/events`, {
    headers: { authorization: `Bearer ${chat.token}`, origin: SHOP, ...more },
    ...(signal ? { signal } : {}),
  })
}
