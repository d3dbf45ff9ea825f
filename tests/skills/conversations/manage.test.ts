import { describe, expect, test } from 'bun:test'
import { fakeClock } from '../../support/clock'
import { at, type Refusal, refusals } from '../../support/refusals'
import { createWorld, type Person } from '../../support/world'

const clock = fakeClock()
const world = await createWorld({ clock })

/** Makes conversations one second apart, oldest first, and answers their ids. */
async function converse(person: Person, ...prompts: string[]): Promise<string[]> {
  const ids: string[] = []
  for (const prompt of prompts) {
    clock.advance(1_000)
    ids.push((await person.send('POST', 'completions', { prompt, mode: 'fast' })).body.conversation_id)
  }
  return ids
}
const listed = async (person: Person, query = '') =>
  (await person.send('GET', `conversations${query}`)).body as {
    conversations: { id: string; title: string; updatedAt: string }[]
    has_more: boolean
    next_cursor: string | null
  }
const idsOf = async (person: Person, query = '') => (await listed(person, query)).conversations.map(({ id }) => id)

describe('the list of conversations (docs/api.md 17)', () => {
  test('is last updated first', async () => {
    const ada = await world.person()
    const [first, second] = await converse(ada, 'one', 'two')
    expect(await idsOf(ada)).toEqual([second!, first!])
    clock.advance(1_000)
    await ada.send('POST', 'completions', { prompt: 'again', conversation_id: first })
    expect(await idsOf(ada)).toEqual([first!, second!])
    clock.advance(1_000)
    await ada.send('PATCH', `conversations/${second}`, { title: 'Renamed' })
    expect(await idsOf(ada)).toEqual([second!, first!])
  })

  test('comes in pages, each row once, whatever is added meanwhile', async () => {
    const ada = await world.person()
    const made = await converse(ada, ...Array.from({ length: 7 }, (_, at) => `prompt ${at}`))
    const seen: string[] = []
    let cursor: string | null = null
    for (let page = 0; page < 4; page++) {
      const found = await listed(ada, `?limit=2${cursor ? `&cursor=${cursor}` : ''}`)
      seen.push(...found.conversations.map(({ id }) => id))
      expect(found.has_more).toBe(found.next_cursor !== null)
      cursor = found.next_cursor
      if (page === 1) await converse(ada, 'a new one in between')
    }
    expect(seen).toEqual([...made].reverse())
    expect(cursor).toBeNull()
  })

  test('pages do not skip what was made in the same millisecond', async () => {
    const ada = await world.person()
    await Promise.all(Array.from({ length: 5 }, (_, at) => ada.send('POST', 'completions', { prompt: `same ${at}` })))
    const first = await listed(ada, '?limit=3')
    const second = await listed(ada, `?limit=3&cursor=${first.next_cursor}`)
    expect(new Set([...first.conversations, ...second.conversations].map(({ id }) => id)).size).toBe(5)
  })

  test("another user's cursor shows nothing of theirs (B34)", async () => {
    const [ada, bob] = [await world.person(), await world.person()]
    await converse(ada, 'mine 1', 'mine 2')
    await converse(bob, 'theirs 1', 'theirs 2')
    const { next_cursor } = await listed(bob, '?limit=1')
    const { conversations } = await listed(ada, `?cursor=${next_cursor}`)
    expect(conversations.every(({ title }) => title.startsWith('mine'))).toBe(true)
  })
})

const as = await world.person()
const [kept] = await converse(as, 'kept')
const also = async () => expect((await as.send('GET', `conversations/${kept}`)).body.conversation.title).toBe('kept')
const listing = (param: string, ...words: string[]) =>
  words.map(
    (word): Refusal => [
      `${param}=${word.slice(0, 20)}`,
      undefined,
      '',
      { request: `GET conversations?${param}=${word}`, param },
    ],
  )
refusals('conversations refuse', { world, as, request: `PATCH conversations/${kept}`, also }, [
  ...at('title', {}, { title: '' }, { title: 5 }, { title: null }, { title: 'x'.repeat(201) }),
  ...listing('limit', '0', '101', '1.5', 'ten'),
  ...listing('cursor', 'nonsense', 'x'.repeat(600)),
  ...listing('q', 'x'.repeat(201)),
])

describe('searching', () => {
  test('finds words of the title and of the last message, in any case', async () => {
    const ada = await world.person()
    const [sums, cats] = await converse(ada, 'What is 20+22?', 'Cats and DOGS')
    expect(await idsOf(ada, '?q=dogs')).toEqual([cats!])
    expect(await idsOf(ada, '?q=42')).toEqual([sums!])
    expect(await idsOf(ada, '?q=birds')).toEqual([])
  })

  test.each(['%25', '_', "'", '%5C', '"; DROP TABLE conversations; --'])('takes %s as itself (F4)', async (q) => {
    const ada = await world.person()
    await converse(ada, 'plain words')
    expect(await idsOf(ada, `?q=${q.includes(' ') ? encodeURIComponent(q) : q}`)).toEqual([])
    const [found] = await converse(ada, `with ${decodeURIComponent(q)} inside`)
    expect(await idsOf(ada, `?q=${q.includes(' ') ? encodeURIComponent(q) : q}`)).toEqual([found!])
  })
})

describe('one conversation', () => {
  test('is read with its messages', async () => {
    const ada = await world.person()
    const [id] = await converse(ada, 'What is 2+2?')
    const { body } = await ada.send('GET', `conversations/${id}`)
    expect(Object.keys(body)).toEqual(['id', 'object', 'created_at', 'metadata', 'conversation', 'request_id'])
    expect(
      body.conversation.messages.map(({ role, content }: { role: string; content: string }) => [role, content]),
    ).toEqual([
      ['user', 'What is 2+2?'],
      ['assistant', '2+2 = 4'],
    ])
  })

  test('is renamed, on the record, its words kept out of it', async () => {
    const ada = await world.person()
    const [id] = await converse(ada, 'old title')
    const { status, body } = await ada.send('PATCH', `conversations/${id}`, { title: 'New canary title' })
    expect(status).toBe(200)
    expect(body.conversation).toMatchObject({ id, title: 'New canary title', messageCount: 2 })
    expect(body.conversation).not.toHaveProperty('messages')
    const { body: rows, text } = await ada.send('GET', 'audit?action=conversation.*')
    expect(rows).toMatchObject([{ action: 'conversation.updated', entityType: 'conversation', entityId: id }])
    expect(text).not.toContain('canary')
  })

  test('is deleted once, with its messages, on the record', async () => {
    const ada = await world.person()
    const [id] = await converse(ada, 'gone')
    const { status, body } = await ada.send('DELETE', `conversations/${id}`)
    expect({ status, ...body }).toMatchObject({ status: 200, object: 'conversation.deleted', deleted: true })
    expect((await ada.send('DELETE', `conversations/${id}`)).status).toBe(404)
    expect((await ada.send('GET', `conversations/${id}`)).status).toBe(404)
    expect(await idsOf(ada)).toEqual([])
    expect((await ada.send('GET', 'audit?action=conversation.deleted')).body).toMatchObject([{ entityId: id }])
    expect(await world.app.container.conversations.verify(world.app.store.read)).toEqual([])
  })

  test('belongs to the user, whichever of their keys asks', async () => {
    const ada = await world.person()
    const [id] = await converse(ada, 'mine')
    const { body: second } = await ada.send('POST', 'keys', { name: 'second' })
    const reply = await ada.send('GET', `conversations/${id}`, undefined, { authorization: `Bearer ${second.key}` })
    expect(reply.status).toBe(200)
  })
})
