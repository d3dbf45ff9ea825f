import { afterAll, expect, test } from 'bun:test'
import { sessionRepository } from '../../src/widgets/repository'
import { CHAT } from '../../src/widgets/transcript'
import { eventually } from '../support/eventually'
import { readFrames } from '../support/frames'
import { startUpstream } from '../support/upstream'
import { type Chat, createWidgetWorld, SHOP } from './world'

const upstream = await startUpstream()
afterAll(() => upstream.stop())
const engines = {
  upstreams: { up: { kind: 'compat' as const, baseUrl: upstream.url, maxOutputTokens: 200 } },
  models: { 'svc-1-flash': ['up:scripted'] },
}
const world = await createWidgetWorld({ config: { engines } })
const { widget, begin, say, asVisitor, transcript } = world
const fast = { behavior: { mode: 'fast' } }

test('an engine that dies in the middle: what was said is kept, an error ends it, nothing says done (P7)', async () => {
  const { owner, id } = await widget(fast)
  const chat = await begin(id)
  const names = readFrames((await say(chat, '[[cut]] [[tokens:40]]', { stream: true })).text).map(({ event }) => event)
  expect(names.at(-1)).toBe('error')
  expect(names).not.toContain('done')
  expect(names).not.toContain('reply')
  const { messages } = (await transcript(owner, chat)('GET')).body
  expect(messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant'])
  expect(messages[1].content.length).toBeGreaterThan(0)
})

test('an answer that never ends is ended at the budget, and shown as far as it went (P13)', async () => {
  const { status, body } = await say(await begin((await widget(fast)).id), '[[never]]')
  expect({ status, role: body.reply.role }).toEqual({ status: 200, role: 'assistant' })
  await eventually(
    () => upstream.calls.at(-1)!,
    ({ aborted, ended }) => aborted || ended,
  )
})

test('a visitor who leaves at the first word finds the whole answer when they come back (P5)', async () => {
  const chat = await begin((await widget(fast)).id)
  const leaving = new AbortController()
  const { body } = await world.app.api.handle(messageTo(chat, '[[slow:20]] [[tokens:20]]', leaving.signal))
  await body!.getReader().read()
  leaving.abort()
  const seen = async () => (await asVisitor(chat)('GET', '')).body.messages
  const messages = await eventually(seen, (found) => found.length === 2)
  expect(messages[1].content.split(' ').length).toBeGreaterThanOrEqual(20)
})

test('what concerns the owner is not told to visitors: no credit, and a key that is gone (M14)', async () => {
  const poor = await world.person({ cents: 0 })
  const [unpaid, keyless] = [await widget(fast, poor), await widget(fast)]
  const chats = [await begin(unpaid.id), await begin(keyless.id)]
  expect((await keyless.owner.send('DELETE', `keys/${keyless.owner.keyId}`)).status).toBe(200)
  for (const chat of chats) {
    const { status, body, text } = await say(chat, 'What is 2 + 3?')
    expect({ status, code: body.error.code }).toEqual({ status: 503, code: 'service_unavailable' })
    expect(text).not.toMatch(/credit|balance|key|cent/i)
    // They may still ask for a person.
    expect((await asVisitor(chat)('POST', '/request-human')).body.takeover_status).toBe('requested')
  }
})

test('who follows a chat and does not read is told of one typing, and nothing piles up (P4)', async () => {
  const { owner, id } = await widget(fast)
  const chat = await begin(id)
  await transcript(owner, chat)('POST', '/takeover')
  const { store, live, widgets } = world.app.container
  const [session] = await sessionRepository.byIds(store.read, [chat.sessionId as never])
  const [leaving, written] = [new AbortController(), [] as string[]]
  const write = ({ event }: { event: string }) => {
    written.push(event)
    return new Promise<never>(() => {})
  }
  const following = widgets.hub.follow(session!, 0, write, leaving.signal)
  for (let n = 0; n < 100; n++) live.publish(CHAT, chat.sessionId, { what: 'typing', role: 'operator' })
  await eventually(() => written.includes('takeover'))
  leaving.abort()
  await following
  expect(written.toSorted()).toEqual(['takeover', 'typing'])
})

function messageTo({ id, token, sessionId }: Chat, content: string, signal: AbortSignal): Request {
  return new Request(`http://localhost/api/v1/iframes/${id}/sessions/${sessionId}/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, origin: SHOP, 'content-type': 'application/json' },
    body: JSON.stringify({ content, stream: true }),
    signal,
  })
}
