import { describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { frameAncestors } from '../../src/widgets'
import { createWidgetWorld, SHOP } from './world'

const world = await createWidgetWorld({ config: { widgetSessionsPerHour: 5, widgetMessagesPerMinute: 20 } })
const { widget, begin, say, asVisitor, transcript, page } = world
const { id, owner } = await widget()
const chat = await begin(id)

test.each(['messages', 'request-human', 'identify', 'feedback'])(
  '%s refuses a wrong token before a bad body',
  async (verb) => {
    for (const body of [undefined, {}, { content: 1, rating: 0 }]) {
      const { status, body: refusal } = await page('POST', `${id}/sessions/${chat.sessionId}/${verb}`, body)
      expect({ status, code: refusal.error.code }).toEqual({ status: 401, code: 'invalid_token' })
    }
  },
)

describe('pages', () => {
  test.each([
    null,
    'null',
    'https://evil.example',
    `${SHOP}.evil.example`,
    `${SHOP}:444`,
    'https://SHOP.example',
    'http://shop.example',
    'https://shop.exampl',
    'https://a.shop.example',
    `${SHOP}/`,
    `${SHOP},https://evil.example`,
  ])('from %s nothing is begun or said (M2)', async (origin) => {
    const headers: Record<string, string> = origin === null ? {} : { origin }
    const token = { authorization: `Bearer ${chat.token}` }
    const tried = [
      await world.send('POST', `iframes/${id}/sessions`, {}, headers),
      await world.send('GET', `iframes/${id}/public`, undefined, headers),
      await world.send(
        'POST',
        `iframes/${id}/sessions/${chat.sessionId}/messages`,
        { content: 'x' },
        { ...headers, ...token },
      ),
    ]
    expect(tried.map(({ status, body }) => [status, body.error.code])).toEqual(
      Array(3).fill([403, 'origin_not_allowed']),
    )
    for (const { headers } of tried) expect(headers.get('access-control-allow-origin')).toBeNull()
  })

  test('frames are for the allowed origins, and for none without any (M1)', () => {
    expect(frameAncestors([SHOP, 'https://b.example'])).toBe(`${SHOP} https://b.example`)
    expect(frameAncestors([])).toBe("'none'")
    expect(frameAncestors([SHOP], true)).toBe("'self'")
  })

  test('the page of the widget is served from here, so its own origin is allowed', async () => {
    const own = { origin: 'http://localhost', host: 'localhost', 'sec-fetch-site': 'same-origin' }
    const made = await world.send('POST', `iframes/${id}/sessions`, { page_url: `${SHOP}/hats` }, own)
    expect(made.status).toBe(201)
    const read = await world.send('GET', `iframes/${id}/public`, undefined, { 'sec-fetch-site': 'same-origin' })
    expect(read.status).toBe(200)
    const { body } = await owner.send('GET', `iframes/${id}/conversations/${made.body.session_id}`)
    expect(body.visitor.origin).toBe(SHOP)
  })

  test('a preview is shown to any page, for 15 minutes', async () => {
    const { body } = await owner.send('POST', `iframes/${id}/preview-token`)
    expect(body.preview_url).toContain(`/embed/widget/${id}?preview=${body.token}`)
    const from = { origin: 'https://elsewhere.example' }
    const made = (preview_token: string) => world.send('POST', `iframes/${id}/sessions`, { preview_token }, from)
    expect((await made(body.token)).status).toBe(201)
    const foreign = async () => {
      const other = await widget()
      return (await other.owner.send('POST', `iframes/${other.id}/preview-token`)).body.token
    }
    const late = `${body.token.slice(0, -1)}${body.token.endsWith('0') ? '1' : '0'}`
    for (const wrong of [late, 'svc_wp_0_0', '', await foreign()])
      expect((await made(wrong)).body.error.code).toBe('invalid_token')
  })
})

describe('tokens', () => {
  test('open their own chat, from the page they were given to', async () => {
    const other = await begin(id)
    const wrong = [undefined, 'Bearer nonsense', `Bearer ${other.token}`, `Bearer ${owner.key}`, `bearer ${chat.token}`]
    for (const authorization of wrong) {
      const headers = { origin: SHOP, ...(authorization ? { authorization } : {}) }
      const { status, body } = await world.send('GET', `iframes/${id}/sessions/${chat.sessionId}`, undefined, headers)
      expect({ status, code: body.error.code }).toEqual({ status: 401, code: 'invalid_token' })
    }
    const elsewhere = await widget({ security: { allowedOrigins: [SHOP] } })
    const there = await world.page('GET', `${elsewhere.id}/sessions/${chat.sessionId}`, undefined, {
      authorization: `Bearer ${chat.token}`,
    })
    expect(there.status).toBe(401)
    expect((await world.page('GET', `${id}/sessions/${randomUUID()}`)).status).toBe(401)
    expect((await owner.send('GET', `iframes`, undefined, { authorization: `Bearer ${chat.token}` })).status).toBe(401)
  })

  test('a visitor id is no credential (M4)', async () => {
    const { id } = await widget()
    await say(await begin(id, { visitor_id: 'customer-7' }), 'My address is secret')
    expect((await asVisitor(await begin(id, { visitor_id: 'customer-7' }))('GET', '')).body.messages).toEqual([])
  })
})

describe('limits', () => {
  test.each([-1, 0, 1e9, 10_001])('maxPromptLength is not %p (M13)', async (maxPromptLength) => {
    expect((await owner.send('PATCH', `iframes/${id}`, { behavior: { maxPromptLength } })).status).toBe(400)
  })

  test('a message is not longer than the widget takes (M13)', async () => {
    const chat = await begin((await widget({ behavior: { maxPromptLength: 10 } })).id)
    for (const content of ['', '   ', 'x'.repeat(11), 'x'.repeat(1_000_000)])
      expect((await say(chat, content)).status).toBe(400)
    expect((await say(chat, 'x'.repeat(10))).status).toBe(200)
  })

  test.each(['🌾', '🇳🇴', '👨‍👩‍👧‍👦', 'e\u0301', '한'.normalize('NFD')])('counts %s as one character', async (one) => {
    const chat = await begin((await widget({ behavior: { maxPromptLength: 200 } })).id)
    const sent = []
    for (const times of [101, 200, 201]) sent.push((await say(chat, one.repeat(times))).status)
    expect(sent).toEqual([200, 200, 400])
  })

  test('one address begins only so many chats (M14)', async () => {
    const { id } = await widget()
    const tried = []
    for (let at = 0; at < 8; at++) tried.push((await page('POST', `${id}/sessions`, {})).status)
    expect(tried).toEqual([201, 201, 201, 201, 201, 429, 429, 429])
  })

  test('strictAbuse slows down who is rapid, and who says the same', async () => {
    const { id, owner } = await widget({ behavior: { strictAbuse: true } })
    const chat = await begin(id)
    await transcript(owner, chat)('POST', '/takeover')
    const same = []
    for (let at = 0; at < 3; at++) same.push((await say(chat, 'Hello?')).status)
    expect(same).toEqual([200, 200, 429])
    const rapid = []
    for (let at = 0; at < 10; at++) rapid.push((await say(chat, `n ${at}`)).status)
    expect(rapid).toEqual([...Array(8).fill(200), 429, 429])
  })

  test('a chat has only so many messages', async () => {
    const { id, owner } = await widget({ security: { maxMessagesPerSession: 2 } })
    const chat = await begin(id)
    await transcript(owner, chat)('POST', '/takeover')
    const messages = [await say(chat, 'a'), await say(chat, 'b'), await say(chat, 'c')]
    expect(messages.map(({ status }) => status)).toEqual([200, 200, 429])
  })
})

test('a widget that is disabled takes nothing from open chats (M17)', async () => {
  const { id, owner } = await widget()
  const chat = await begin(id)
  await owner.send('PATCH', `iframes/${id}`, { status: 'disabled' })
  expect((await say(chat, 'Hello?')).status).toBe(404)
  expect((await page('GET', `${id}/public`)).status).toBe(404)
  await owner.send('PATCH', `iframes/${id}`, { status: 'active' })
  expect((await say(chat, 'Hello?')).status).toBe(200)
})

test('release: not another’s, twice, whatever is sent (M8, D11)', async () => {
  const stranger = await world.person()
  for (const { sessionId } of [chat, { sessionId: randomUUID() }, { sessionId: 'nonsense' }])
    expect((await stranger.send('POST', `iframes/${id}/conversations/${sessionId}/release`)).status).toBe(404)
  const other = await widget({}, owner)
  expect((await transcript(owner, { ...chat, id: other.id })('POST', '/release')).status).toBe(404)
  const foreign = await begin((await widget()).id)
  for (const [method, path] of [
    ['GET', ''],
    ['POST', '/takeover'],
    ['POST', '/release'],
    ['POST', '/close'],
  ] as const)
    expect((await transcript(owner, { ...foreign, id })(method, path)).status).toBe(404)
  for (const body of [undefined, {}, [1], 'text', '{"a', { takeover_status: 'human' }]) {
    const { status, body: answer } = await transcript(owner, chat)('POST', '/release', body)
    expect({ status, takeoverStatus: answer.takeover_status }).toEqual({ status: 200, takeoverStatus: 'ai' })
  }
  expect((await transcript(await world.signedIn(owner), chat)('POST', '/release')).body.takeover_status).toBe('ai')
})
