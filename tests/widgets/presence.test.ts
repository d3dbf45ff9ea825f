import { afterAll, expect, test } from 'bun:test'
import { openChats } from '../../src/widgets'
import { eventually } from '../support/eventually'
import { createWidgetWorld } from './world'

const world = await createWidgetWorld()
const { widget, begin, asVisitor, desk, follow } = world

const { store, widgets } = world.app.container
const loop = widgets.hub.start()
afterAll(() => loop.stop())

const wanted = { intents: { enabled: true, keywords: [], action: 'takeover' } }

test('who closes the page while a person is asked for has left, and is there again when it is opened', async () => {
  const { owner, id } = await widget(wanted)
  const chat = await begin(id)
  const seen = async () => (await openChats(store.read)).chats.find((one) => one.id === chat.sessionId)!
  const left = async () => (await seen()).left_at
  const stream = await follow(chat)
  expect((await asVisitor(chat)('POST', '/request-human', {})).status).toBe(200)
  expect(await left()).toBeNull()
  stream.leave()
  await eventually(left, (at) => at !== null)
  expect((await desk(owner, chat)('GET')).body.visitor_left_at).toMatch(/^\d{4}-/)
  const again = await follow(chat)
  await eventually(left, (at) => at === null)
  again.leave()
}, 60_000)

test('the usual wait is told once somebody has waited, and not before', async () => {
  const { owner, id } = await widget(wanted)
  const [first, next] = [await begin(id), await begin(id)]
  const waitOf = async (chat: typeof first) => {
    await asVisitor(chat)('POST', '/request-human', {})
    const stream = await follow(chat)
    const { data } = await stream.until(({ event }) => event === 'takeover')
    stream.leave()
    return data
  }
  expect(await waitOf(first)).toEqual({ takeover_status: 'requested', operator: null })
  expect((await desk(owner, first)('POST', '/takeover', {})).status).toBe(200)
  expect(await waitOf(next)).toEqual({
    takeover_status: 'requested',
    operator: null,
    usual_wait_s: expect.any(Number),
  })
}, 60_000)
