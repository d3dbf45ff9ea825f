import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { operatorCall, type Person } from '../support/world'
import { createWidgetWorld } from './world'

const world = await createWidgetWorld()
const { widget, begin, say, asVisitor, transcript, listenTo } = world
const VISITORS = { external_id: 'customer-7', email: 'ada@shop.example' }

/** As an owner's server would sign it, by the words of the guide alone. */
const signed = (secret: string, until: number, { external_id = '', email = '', name = '' }: Record<string, string>) =>
  `${until}.${createHmac('sha256', secret).update(`${until}\n${external_id}\n${email}\n${name}`).digest('hex')}`
const inAnHour = () => Math.floor(world.clock.now() / 1_000) + 3_600

describe('who a visitor is', () => {
  test('is what the page says, and proven only where the owner’s server has signed it (M4, M5)', async () => {
    const { owner, id } = await widget()
    const chat = await begin(id)
    const identify = (body: object) => asVisitor(chat)('POST', '/identify', body)
    expect((await identify({ ...VISITORS, hash: signed('', inAnHour(), VISITORS) })).body.error.code).toBe(
      'invalid_token',
    )
    const message = await identify({ ...VISITORS, context: { plan: 'pro', cart: 3 } })
    expect({ status: message.status, verified: message.body.verified }).toEqual({ status: 200, verified: false })
    const seen = async () => (await transcript(owner, chat)('GET')).body.visitor
    expect(await seen()).toMatchObject({
      identity: { ...VISITORS, name: null, verified: false },
      context: { plan: 'pro', cart: 3 },
    })
    const { secret: first } = (await owner.send('POST', `iframes/${id}/identity-secret`)).body
    const { secret } = (await owner.send('POST', `iframes/${id}/identity-secret`)).body
    expect(secret).toMatch(/^svc_wi_[0-9a-f]{64}$/)
    expect(secret).not.toBe(first)
    const hash = signed(secret, inAnHour(), VISITORS)
    expect((await identify({ ...VISITORS, hash })).body).toMatchObject({ verified: true })
    expect((await seen()).identity.verified).toBe(true)
    expect((await identify({ context: { plan: 'free' } })).body.verified).toBe(true)
    expect(await seen()).toMatchObject({ identity: { verified: true }, context: { plan: 'free' } })
    // Nothing of it is an answer to a visitor, nor a way into another chat of the same person.
    expect((await asVisitor(chat)('GET', '')).text).not.toContain('customer-7')
    const other = await begin(id)
    expect((await asVisitor(other)('POST', '/identify', { ...VISITORS, hash })).status).toBe(200)
    expect((await asVisitor({ ...other, sessionId: chat.sessionId })('GET', '')).status).toBe(401)
    const eve = { external_id: 'customer-8' }
    expect((await identify({ ...eve, hash: signed(secret, inAnHour(), eve) })).status).toBe(409)
  })

  test('is refused where the signature does not hold (M5)', async () => {
    const { owner, id } = await widget()
    const { secret: old } = (await owner.send('POST', `iframes/${id}/identity-secret`)).body
    const { secret } = (await owner.send('POST', `iframes/${id}/identity-secret`)).body
    const chat = await begin(id)
    const until = inAnHour()
    const good = signed(secret, until, VISITORS)
    const moved = { external_id: '', email: 'customer-7\nada@shop.example' }
    for (const [what, body, status] of [
      ['of another secret', { ...VISITORS, hash: signed('svc_wi_', until, VISITORS) }, 401],
      ['of the secret before', { ...VISITORS, hash: signed(old, until, VISITORS) }, 401],
      ['of no secret', { ...VISITORS, hash: signed('', until, VISITORS) }, 401],
      ['of other values', { ...VISITORS, email: 'eve@shop.example', hash: good }, 401],
      ['of a later time', { ...VISITORS, hash: good.replace(/^\d+/, String(until + 60)) }, 401],
      ['whose time is over', { ...VISITORS, hash: signed(secret, until - 7_200, VISITORS) }, 401],
      ['that is empty', { ...VISITORS, hash: '' }, 401],
      ['without a time', { ...VISITORS, hash: good.slice(11) }, 401],
      ['in capitals', { ...VISITORS, hash: good.toUpperCase() }, 401],
      ['as a token that names its algorithm', { ...VISITORS, hash: 'eyJhbGciOiJub25lIn0.eyJzdWIiOiI3In0.' }, 401],
      ['of nobody', { hash: signed(secret, until, {}) }, 401],
      ['of lines that were moved', { ...moved, hash: good }, 400],
      ['that is no text', { ...VISITORS, hash: ['x'] }, 400],
    ] as const) {
      const reply = await asVisitor(chat)('POST', '/identify', body)
      expect({ what, status: reply.status }).toEqual({ what, status })
    }
    expect((await transcript(owner, chat)('GET')).body.visitor.identity).toBeNull()
    const other = await begin((await owner.send('POST', `iframes/${id}/duplicate`, {})).body.id)
    expect((await asVisitor(other)('POST', '/identify', { ...VISITORS, hash: good })).status).toBe(401)
  })
})

/** Another member of a person's organization, with a key of it. */
async function colleagueOf({ orgId }: Person) {
  const { store, orgs, keys } = world.app.container
  const alone = await world.person()
  return store.write(async (tx) => {
    const userId = alone.userId
    await orgs.members.join(tx, operatorCall(), { orgId: orgId!, userId, role: 'member', invitedBy: null })
    const { key } = await keys.createIn(tx, operatorCall(), { name: 'bob', userId, orgId, tier: 'pro' })
    const { email } = (await orgs.user(tx, userId))!
    const send: Person['send'] = (method, path, body, headers) =>
      world.send(method, path, body, { authorization: `Bearer ${key}`, ...headers })
    return { bob: { ...alone, key, send }, email }
  })
}

describe('people who answer', () => {
  test('write notes that the visitor never sees', async () => {
    const { owner, id } = await widget()
    const chat = await begin(id)
    await transcript(owner, chat)('POST', '/takeover', { operator_name: 'Ann' })
    const notice = await listenTo(chat, 0)
    const { status, body } = await transcript(owner, chat)('POST', '/notes', { content: 'Wants a refund: SECRET-NOTE' })
    expect({ status, content: body.note.content }).toEqual({ status: 201, content: 'Wants a refund: SECRET-NOTE' })
    await transcript(owner, chat)('POST', '/messages', { content: 'One moment.' })
    await notice.until(({ data }) => data.content === 'One moment.')
    notice.leave()
    expect(JSON.stringify(notice.heard)).not.toContain('SECRET-NOTE')
    expect((await asVisitor(chat)('GET', '')).text).not.toContain('SECRET-NOTE')
    expect((await transcript(owner, chat)('GET')).body.notes).toMatchObject([
      { content: 'Wants a refund: SECRET-NOTE' },
    ])
    await transcript(owner, chat)('POST', '/release')
    expect((await say(chat, 'What is 2 + 3?')).text).not.toContain('SECRET-NOTE')
    const { body: events } = await owner.send('GET', `audit?entity_id=${chat.sessionId}&action=widget.note_added`)
    expect(events).toHaveLength(1)
    expect(JSON.stringify(events)).not.toContain('SECRET-NOTE')
  })

  test('hand a chat to a colleague, and to nobody else', async () => {
    const ada = await world.person({ ofOrg: true })
    const { bob, email } = await colleagueOf(ada)
    const chat = await begin((await widget({}, ada)).id)
    const handover = (to: string) => transcript(ada, chat)('POST', '/handover', { to, note: 'Knows the order.' })
    expect((await handover(email)).status).toBe(409)
    await transcript(ada, chat)('POST', '/takeover')
    expect((await handover('nobody@example.com')).status).toBe(404)
    expect((await handover((await world.person()).userId)).status).toBe(404)
    const notice = await listenTo(chat)
    const { status, body } = await handover(email.toUpperCase())
    expect({ status, id: body.operator.id }).toEqual({ status: 200, id: bob.userId })
    await notice.until(({ event, data }) => event === 'takeover' && data.takeover_status === 'human')
    notice.leave()
    expect((await transcript(ada, chat)('POST', '/messages', { content: 'Mine?' })).status).toBe(409)
    expect((await transcript(bob, chat)('POST', '/messages', { content: 'Bob here.' })).status).toBe(201)
    expect((await transcript(bob, chat)('GET')).body.notes).toMatchObject([{ content: 'Knows the order.' }])
  })

  test('ask the AI for a draft, which is charged and not sent', async () => {
    const { owner, id } = await widget()
    const chat = await begin(id)
    const at = transcript(owner, chat)
    expect((await at('POST', '/draft')).status).toBe(409)
    await at('POST', '/takeover')
    await say(chat, 'What is 2 + 3?')
    const before = (await owner.send('GET', 'usage')).body.balance.balance_cents
    const { status, body } = await at('POST', '/draft')
    expect(status).toBe(200)
    expect(body.draft).toContain('5')
    expect((await owner.send('GET', 'usage')).body.balance.balance_cents).toBeCloseTo(before - body.cost_cents, 4)
    const { messages, takeover_status } = (await at('GET')).body
    expect(messages).toHaveLength(1)
    expect(takeover_status).toBe('human')
  })
})

test('of one chat so many streams are open, and no more', async () => {
  const { id } = await widget()
  const chat = await begin(id)
  const streams = await Promise.all(Array.from({ length: 20 }, () => listenTo(chat)))
  expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200))
  // Of the process that has the others: each counts its own.
  const response = await world.app.api.handle(
    new Request(`http://localhost/api/v1/iframes/${id}/sessions/${chat.sessionId}/events`, {
      headers: { authorization: `Bearer ${chat.token}` },
    }),
  )
  const { error } = (await response.json()) as { error: { code: string } }
  expect({ status: response.status, code: error.code }).toEqual({ status: 429, code: 'rate_limit_exceeded' })
  for (const stream of streams) stream.leave()
})

test('a page of another site does nothing with a dashboard session (M7)', async () => {
  const { owner, id } = await widget()
  const chat = await begin(id)
  await transcript(owner, chat)('POST', '/takeover')
  const { key } = await world.signedIn(owner)
  const release = (headers: Record<string, string>, body: string | null = '{}') =>
    world.app.api.handle(
      new Request(`http://localhost/api/v1/iframes/${id}/conversations/${chat.sessionId}/messages`, {
        method: 'POST',
        headers: { cookie: `svc_session=${key}`, host: 'localhost', 'content-length': `${body?.length}`, ...headers },
        body,
      }),
    )
  const text = '{"content":"Stolen"}'
  for (const [headers, status] of [
    [{ 'content-type': 'application/json', origin: 'https://evil.example' }, 403],
    [{ 'content-type': 'application/json', origin: 'null' }, 403],
    [{ 'content-type': 'application/json', 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'content-type': 'application/x-www-form-urlencoded', origin: 'https://evil.example' }, 403],
    [{ 'content-type': 'text/plain', origin: 'https://evil.example' }, 403],
    [{ 'content-type': 'text/plain', 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'content-type': 'text/plain', origin: 'http://localhost' }, 415],
    [{ 'content-type': 'application/x-www-form-urlencoded', origin: 'http://localhost' }, 415],
    [{ 'content-type': 'multipart/form-data; boundary=a', origin: 'http://localhost' }, 415],
  ] as const)
    expect({ headers, status: (await release(headers, text)).status }).toEqual({ headers, status })
  expect((await transcript(owner, chat)('GET')).body.message_count).toBe(0)
  expect((await release({ 'content-type': 'application/json', origin: 'http://localhost' }, text)).status).toBe(201)
})
