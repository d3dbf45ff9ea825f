import { afterAll, expect, test } from 'bun:test'
import { openChats } from '../../src/widgets'
import { eventually } from '../support/eventually'
import { createWidgetWorld } from './world'

const world = await createWidgetWorld()
const { widget, begin, asVisitor, transcript, listenTo } = world

const { store, widgets } = world.app.container
const loop = widgets.hub.start()
afterAll(() => loop.stop())

const wanted = { intents: { enabled: true, keywords: [], action: 'takeover' } }

test('who closes the page while a person is asked for has left, and is there again when it is opened', async () => {
  const { owner, id } = await widget(wanted)
  const chat = await begin(id)
  const seen = async () => (await openChats(store.read)).chats.find((one) => one.id === chat.sessionId)!
  const left = async () => (await seen()).left_at
  const stream = await listenTo(chat)
  expect((await asVisitor(chat)('POST', '/request-human', {})).status).toBe(200)
  expect(await left()).toBeNull()
  stream.leave()
  await eventually(left, (at) => at !== null)
  expect((await transcript(owner, chat)('GET')).body.visitor_left_at).toMatch(/^\d{4}-/)
  const again = await listenTo(chat)
  await eventually(left, (at) => at === null)
  again.leave()
}, 60_000)

test('the usual wait is told once somebody has waited, and not before', async () => {
  const { owner, id } = await widget(wanted)
  const [first, next] = [await begin(id), await begin(id)]
  const waitOf = async (chat: typeof first) => {
    await asVisitor(chat)('POST', '/request-human', {})
    const stream = await listenTo(chat)
    const { data } = await stream.until(({ event }) => event === 'takeover')
    stream.leave()
    return data
  }
  expect(await waitOf(first)).toEqual({ takeover_status: 'requested', operator: null })
  expect((await transcript(owner, first)('POST', '/takeover', {})).status).toBe(200)
  expect(await waitOf(next)).toEqual({ takeover_status: 'requested', operator: null, usual_wait_s: expect.any(Number) })
}, 60_000)

test('that a visitor types is told to the people who answer, for a while, and not to the AI or the visitor', async () => {
  const { owner, id } = await widget(wanted)
  const chat = await begin(id, { visitor_id: 'b2f1a6de-4d6c-4b0e-9c62-0f6f3b6f1c11' })
  const stream = await listenTo(chat)
  const type = () => asVisitor(chat)('POST', '/typing', {})
  expect((await type()).body).toMatchObject({ typing: true })
  expect(widgets.watch.writes(chat.sessionId)).toBe(false)
  await asVisitor(chat)('POST', '/request-human', {})
  expect((await type()).status).toBe(200)
  expect(widgets.watch.writes(chat.sessionId)).toBe(true)
  expect((await asVisitor({ ...chat, token: 'svc_wt_other' })('POST', '/typing', {})).status).toBe(401)
  const since = async () => (await openChats(store.read)).chats.find((one) => one.id === chat.sessionId)!
  const before = await since()
  await world.say(chat, 'Hello?')
  expect(widgets.watch.writes(chat.sessionId)).toBe(false)
  // What a waiting visitor says does not send them to the end of the queue.
  expect((await since()).since).toBe(before.since)
  expect(before.visits).toBe(1)
  expect((await transcript(owner, chat)('POST', '/takeover', {})).status).toBe(200)
  expect((await transcript(owner, chat)('POST', '/typing', {})).status).toBe(200)
  expect((await stream.until(({ event }) => event === 'typing')).data).toEqual({ role: 'operator' })
  stream.leave()
  await begin(id, { visitor_id: 'b2f1a6de-4d6c-4b0e-9c62-0f6f3b6f1c11' })
  expect((await since()).visits).toBe(2)
}, 60_000)
