import { expect, test } from 'bun:test'
import { createLive } from '../../src/cluster'
import { createWatch } from '../../src/widgets/service'
import { CHAT } from '../../src/widgets/transcript'
import { createWidgetWorld, heardFrom } from '../widgets/world'

const world = await createWidgetWorld()
type Row = { session_id: string; takeover_status: string; message_count: number }

async function inbox(cookie: string, chat?: string) {
  const leaving = new AbortController()
  const response = await world.app.api.handle(
    new Request(`http://localhost/console/inbox/events${chat ? `?chat=${chat}` : ''}`, {
      headers: { cookie, 'sec-fetch-site': 'same-origin' },
      signal: leaving.signal,
    }),
  )
  return { ...heardFrom(response), leave: () => leaving.abort() }
}

test('the inbox hears of a new chat, of who waits and of each message, and ends with the session', async () => {
  const { id, owner } = await world.widget()
  const { store, sessions } = world.app.container
  const { token } = await store.write((tx) => sessions.open(tx, owner.userId))
  const cookie = `svc_session=${token}`
  const queue = await inbox(cookie)
  const rowsOf = ({ data }: { data: Record<string, unknown> }) => (data.conversations ?? []) as Row[]
  await queue.until(({ event }) => event === 'queue')
  const chat = await world.begin(id)
  await queue.until((notice) => rowsOf(notice).some(({ session_id }) => session_id === chat.sessionId))
  const open = await inbox(cookie, `${id}/${chat.sessionId}`)
  await world.asVisitor(chat)('POST', '/request-human', {})
  await queue.until((notice) => rowsOf(notice).some(({ takeover_status }) => takeover_status === 'requested'))
  await world.transcript(owner, chat)('POST', '/takeover', {})
  await world.say(chat, 'Are you there?')
  await open.until(({ data }) => JSON.stringify(data.messages ?? []).includes('Are you there?'))
  expect((await world.app.api.handle(new Request('http://localhost/console/inbox/events'))).status).toBe(401)
  await world.app.api.handle(
    new Request('http://localhost/sign-out', { method: 'POST', headers: { cookie, 'sec-fetch-site': 'same-origin' } }),
  )
  await Promise.all([queue.done, open.done])
})

test('who watches widgets is told of their chats only, of what may have been missed, and no more once it left', () => {
  const live = createLive({ wire: null, node: 'a', clock: world.clock, onError: () => undefined })
  const { watch, writes } = createWatch({ live, clock: world.clock })
  const notices: (string | null)[] = []
  const leave = watch(['one', 'two'], (writing) => void notices.push(writing))
  live.publish(CHAT, 's', { what: 'message', widget: 'one' })
  live.publish(CHAT, 's', { what: 'message', widget: 'three' })
  live.publish(CHAT, 's', { what: 'typing', role: 'operator', widget: 'two' })
  expect(writes('s')).toBe(false)
  live.publish(CHAT, 's', { what: 'typing', role: 'user', widget: 'two' })
  expect(notices).toEqual([null, 's'])
  expect(writes('s')).toBe(true)
  live.publish(CHAT, 's', { what: 'message', widget: 'three' })
  expect(writes('s')).toBe(false)
  leave()
  live.publish(CHAT, 's', { what: 'message', widget: 'one' })
  expect(notices).toHaveLength(2)
})
