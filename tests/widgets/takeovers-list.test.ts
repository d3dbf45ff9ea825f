import { expect, test } from 'bun:test'
import { createWidgetWorld } from './world'

const world = await createWidgetWorld()
const { widget, begin, say, asVisitor, transcript } = world
type Row = { session_id: string; config_name: string; waiting_since: string | null }

test('the inbox has the conversations of all widgets, by state, in pages, found by words', async () => {
  const { owner, id } = await widget({ name: 'Shop' } as never)
  const other = await widget({ name: 'Blog' } as never, owner)
  const chats = [await begin(id), await begin(other.id), await begin(id)]
  for (const [n, chat] of chats.entries()) await say(chat, `Hello number ${n}, 100% sure`)
  const [first, second, third] = chats as [(typeof chats)[0], (typeof chats)[0], (typeof chats)[0]]
  await asVisitor(first)('POST', '/request-human', { reason: 'A refund' })
  await transcript(owner, second)('POST', '/takeover', {})
  await transcript(owner, third)('POST', '/close')
  const list = async (query: string): Promise<Row[]> => {
    const { status, body } = await owner.send('GET', `takeovers?${query}`)
    expect({ query, status }).toEqual({ query, status: 200 })
    return body.takeovers
  }
  const idsOf = async (query: string) => (await list(query)).map(({ session_id }) => session_id)
  expect(await list('state=waiting')).toMatchObject([
    { session_id: first.sessionId, config_name: 'Shop', waiting_since: expect.any(String) },
  ])
  expect(await list('state=mine')).toMatchObject([{ session_id: second.sessionId, waiting_since: null }])
  expect(await idsOf('state=closed')).toEqual([third.sessionId])
  expect(new Set(await idsOf(''))).toEqual(new Set([first.sessionId, second.sessionId]))
  expect(await idsOf(`config_id=${other.id}`)).toEqual([second.sessionId])
  expect(await idsOf('q=NUMBER%200')).toEqual([first.sessionId])
  expect(await idsOf('q=1_0')).toEqual([])
  expect(await idsOf('q=100%25&state=closed')).toEqual([third.sessionId])
  for (const query of ['limit=1', 'limit=1&q=number']) {
    const { body } = await owner.send('GET', `takeovers?${query}`)
    const next = (await owner.send('GET', `takeovers?${query}&cursor=${body.next_cursor}`)).body
    expect({ query, found: [...body.takeovers, ...next.takeovers].length, more: next.has_more }).toEqual({
      ...{ query, found: 2, more: next.has_more },
    })
  }
  const stranger = await world.person()
  expect((await stranger.send('GET', 'takeovers')).body.takeovers).toEqual([])
  expect((await stranger.send('GET', `takeovers?config_id=${id}`)).body.takeovers).toEqual([])
  expect((await owner.send('GET', 'takeovers?state=lost')).status).toBe(400)
})
