import { expect, test } from 'bun:test'
import type { Call } from '../../src/kernel/caller'
import type { KeyId } from '../../src/kernel/ids'
import { createTeam } from '../accounts/orgs/team'
import { callOf, keyCaller } from '../support/callers'
import type { Person } from '../support/world'
import { createWidgetWorld, heardFrom } from '../widgets/world'

const world = await createWidgetWorld()
type Event = {
  seq: number
  topic: string
  rows?: Row[]
  changed?: Row[]
  skipped?: number
  facts?: Record<string, unknown>
}
type Row = { id: string; request_id: string; kind: string; session_id: string }

/** Follows topics as a person. */
async function follow(person: Person, query: string, headers: Record<string, string> = {}) {
  const leaving = new AbortController()
  const response = await world.app.api.handle(
    new Request(`http://localhost/api/v1/live?${query}`, {
      headers: { authorization: `Bearer ${person.key}`, ...headers },
      signal: leaving.signal,
    }),
  )
  const { until, ...rest } = heardFrom(response)
  return {
    ...rest,
    next: async (event: string, topic: string) =>
      (await until((one) => one.event === event && one.data.topic === topic)).data as unknown as Event,
    leave: () => leaving.abort(),
  }
}

test('a topic is a snapshot and then what changes, by the same filter', async () => {
  const ada = await world.person()
  await ada.send('POST', 'completions', { prompt: 'Count to three', mode: 'fast' })
  const stream = await follow(ada, 'topics=requests,usage&requests.mode=fast')
  const snapshot = await stream.next('snapshot', 'requests')
  expect({ seq: snapshot.seq, rows: snapshot.rows!.length }).toEqual({ seq: 1, rows: 1 })
  await ada.send('POST', 'completions', { prompt: 'Count to four', mode: 'think' })
  const { body } = await ada.send('POST', 'completions', { prompt: 'Count to five', mode: 'fast' })
  const delta = await stream.next('delta', 'requests')
  expect(delta).toMatchObject({ seq: 2, skipped: 0, changed: [{ request_id: body.request_id }] })
  stream.leave()
})

test('streams of the same calls share a reading, and a key sees its own alone', async () => {
  const ada = await world.person({ ofOrg: false })
  const { body } = await ada.send('POST', 'completions', { prompt: 'Count to six', mode: 'fast' })
  const look = async (call: Call) => (await world.app.container.usageReading.looks.requests(call, { limit: 10 })).found
  const [first, again] = await Promise.all([look(world.callAs(ada)), look(world.callAs(ada))])
  expect(again).toBe(first)
  expect(first.items.map(({ request_id }) => request_id)).toEqual([body.request_id])
  const otherKey = callOf(keyCaller({ userId: ada.userId, keyId: 'another' as KeyId }))
  expect((await look(otherKey)).items).toEqual([])
})

test('streams of one account share its sums, and nobody else gets them', async () => {
  const [ada, bob] = [await world.person({ ofOrg: false }), await world.person({ ofOrg: false })]
  await ada.send('POST', 'completions', { prompt: 'Count to six', mode: 'fast' })
  const { clock, usageReading } = world.app.container
  const from = new Date(clock.now() - 3_600_000).toISOString()
  const look = (person: Person) => usageReading.report(world.callAs(person), { from }, 900)
  const [first, again, other] = await Promise.all([look(ada), look(ada), look(bob)])
  expect(again).toBe(first)
  expect({ own: first.totals.requests, others: other.totals.requests }).toEqual({ own: 1, others: 0 })
})

test('chats that wait and jobs appear as they change, and what waits is a need', async () => {
  const { owner, id } = await world.widget()
  const chat = await world.begin(id)
  await world.say(chat, 'Hello')
  expect((await owner.send('GET', 'needs')).body.needs).toEqual([])
  const stream = await follow(owner, 'topics=takeovers,jobs,runs,deliveries,browser,needs')
  await stream.next('snapshot', 'needs')
  await world.asVisitor(chat)('POST', '/request-human', { reason: 'A refund' })
  expect((await stream.next('delta', 'takeovers')).changed).toMatchObject([
    { session_id: chat.sessionId, takeover_status: 'requested', waiting_since: expect.any(String) },
  ])
  expect((await owner.send('GET', 'needs')).body.needs).toMatchObject([
    { kind: 'visitor_waiting', severity: 'now', count: 1, section: 'inbox', since: expect.any(String) },
  ])
  stream.leave()
})

test('caps, failing keys and credit are needs of who may see them', async () => {
  const team = await createTeam(world)
  const soon = new Date(Date.now() + 3 * 86_400_000).toISOString()
  const session = await world.signedIn(team.owner)
  await session.send('POST', 'keys', { name: 'Old', expires_at: soon })
  expect((await session.send('GET', 'needs')).body.needs).toMatchObject([
    { kind: 'key_expiring', severity: 'soon', section: 'keys', text: expect.stringContaining('Old') },
  ])
  expect((await (await world.signedIn(team.viewer)).send('GET', 'needs')).body.needs).toEqual([])
})

test('a stream ends with its key, and refuses what it cannot follow', async () => {
  const eve = await world.person()
  expect((await eve.send('GET', 'live?topics=weather')).status).toBe(400)
  expect((await eve.send('GET', 'live?topics=requests&requests.status=9xx')).status).toBe(400)
  const stream = await follow(eve, 'topics=requests')
  await stream.next('snapshot', 'requests')
  expect((await (await world.signedIn(eve)).send('DELETE', `keys/${eve.keyId}`)).status).toBe(200)
  await stream.done
  expect(stream.heard.at(-1)!.event).toBe('error')
})
