import { describe, expect, test } from 'bun:test'
import { createServer } from 'node:net'
import { emailOf, issueInvitation } from '../accounts/orgs/team'
import { fakeClock } from '../support/clock'
import { type Refusal, refusals } from '../support/refusals'
import { createWorld, type Reply } from '../support/world'
import { createReceiver, LOCAL, webhooksIn } from './support'

const clock = fakeClock()
const world = await createWorld({ config: { ...LOCAL, maxWebhooks: 4, maxActiveWebhooks: 2 }, clock })
const { make, publish, deliver, get } = webhooksIn(world)
const url = 'https://203.0.112.7/hook'
const input = { url, event_types: ['order.*'] }

refusals(
  'POST /webhooks refuses (J32, J38)',
  { world, as: await world.person(), request: 'POST webhooks', body: input },
  [
    ['a word for the address', { url: 'nowhere' }, '"url" '],
    ['no event types', { event_types: [] }, '"event_types" '],
    ['one that is a word', { event_types: ['nope'] }, /^"event_types/],
    ['one twice', { event_types: ['*', '*'] }, /^"event_types/],
    ['a thousand of them', { event_types: Array.from({ length: 1_000 }, (_, n) => `order.n${n}`) }, '"event_types" '],
    ['an empty word in one', { event_types: ['order..created'] }, /^"event_types/],
    ['a star in the middle of one', { event_types: ['order.*.created'] }, /^"event_types/],
    ['a line break in one', { event_types: ['order.created\r\nx: y'] }, /^"event_types/],
    ['one in capitals', { event_types: ['Order.Created'] }, /^"event_types/],
    ['one of 129 characters', { event_types: [`order.${'x'.repeat(123)}`] }, /^"event_types/],
    ['a secret of one character', { secret: 'x' }, '"secret" has 1 character; at least 16 are needed.'],
    ['a secret of 15', { secret: 'x'.repeat(15) }, '"secret" has 15 characters'],
    ['a secret of 257', { secret: 'x'.repeat(257) }, '"secret" has 257 characters'],
    ...['\n', '\u0000', '\t', '\u007f', '\u0085'].map(
      (control): Refusal => [`a secret with ${JSON.stringify(control)}`, { secret: `a secret of${control}my own` }, ''],
    ),
  ],
)

describe('POST /webhooks', () => {
  test.each(
    `
    http://10.0.0.1/hook http://169.254.169.254/latest/meta-data/ http://[::ffff:10.0.0.1]/ http://[fd00::1]/
    https://user:secret@example.com/ ftp://example.com/ https://example.com:22/
  `
      .trim()
      .split(/\s+/),
  )('refuses the address %s, also in a change', async (bad) => {
    const ada = await world.person()
    const made = await ada.send('POST', 'webhooks', { ...input, url: bad })
    expect(made).toMatchObject({ status: 400, body: { error: { code: 'url_blocked', param: 'url' } } })
    const { id } = (await ada.send('POST', 'webhooks', input)).body
    expect((await ada.send('PATCH', `webhooks/${id}`, { url: bad })).body.error.code).toBe('url_blocked')
    expect((await get(ada, id)).url).toBe(url)
  })

  test('tells nothing of the ports of an address that it refuses, and does not knock (J28)', async () => {
    let visitorRequests = 0
    const server = createServer(() => {
      visitorRequests += 1
    }).listen(0, '0.0.0.0')
    await new Promise((ready) => server.once('listening', ready))
    const { port } = server.address() as { port: number }
    const ada = await world.person()
    const refusalAt = async (at: number) => {
      const made = await ada.send('POST', 'webhooks', { ...input, url: `http://0.0.0.0:${at}/` })
      const { request_id: _, ...error } = made.body.error
      return { status: made.status, error: JSON.stringify(error).replaceAll(`:${at}/`, '') }
    }
    const [open, closed] = [await refusalAt(port), await refusalAt(port === 8_081 ? 8_082 : 8_081)]
    await new Promise((done) => server.close(done))
    expect(open).toMatchObject({ status: 400, error: expect.stringContaining('"url_blocked"') })
    expect(closed).toEqual(open)
    expect(visitorRequests).toBe(0)
  })

  test('fills nothing into an address (J29), and its description into no header (J38)', async () => {
    const [ada, receiver] = [await world.person(), createReceiver()]
    await make(ada, `${receiver.url}/\${HOME}/{{env.HOME}}/$HOME`, { description: 'mine\r\nx-injected: 1' })
    await publish(ada)
    await deliver()
    expect(receiver.got.map(({ path }) => path)).toEqual(['/hook/$%7BHOME%7D/%7B%7Benv.HOME%7D%7D/$HOME'])
    expect(JSON.stringify(receiver.got[0]!.headers)).not.toContain('injected')
  })

  test('shows the secret once: the one that was sent, or a random one', async () => {
    const ada = await world.person()
    const secret = 'a secret of my own'
    const made = await ada.send('POST', 'webhooks', { ...input, secret })
    expect(made.status).toBe(201)
    expect(made.body.signing_secret).toEqual(secret)
    expect(made.body.enabled).toBe(true)
    expect(made.body._note).toEqual(expect.any(String))
    const { text } = await ada.send('GET', `webhooks/${made.body.id}`)
    const list = await ada.send('GET', 'webhooks')
    for (const shown of [text, list.text]) expect(shown).not.toContain(secret)
  })

  test('counts enabled ones against one bound and all against another (J34)', async () => {
    const ada = await world.person()
    const ids: string[] = []
    for (let n = 0; n < 2; n++) ids.push((await ada.send('POST', 'webhooks', input)).body.id)
    const third = await ada.send('POST', 'webhooks', input)
    expect({ status: third.status, code: third.body.error.code }).toEqual({ status: 409, code: 'conflict' })
    expect(third.body.error.message).toContain('SVC_MAX_ACTIVE_WEBHOOKS')
    for (let n = 0; n < 2; n++) {
      await ada.send('PATCH', `webhooks/${ids.at(-1)}`, { enabled: false })
      ids.push((await ada.send('POST', 'webhooks', input)).body.id)
    }
    expect((await ada.send('PATCH', `webhooks/${ids[1]}`, { enabled: true })).status).toBe(409)
    await ada.send('PATCH', `webhooks/${ids.at(-1)}`, { enabled: false })
    expect((await ada.send('POST', 'webhooks', input)).body.error.message).toContain('SVC_MAX_WEBHOOKS')
    expect((await ada.send('PATCH', `webhooks/${ids[1]}`, { enabled: true })).status).toBe(200)
  })
})

test('POST /webhooks/{id}/test sends a test event the normal way, whatever is subscribed, ten times a minute (J35)', async () => {
  const ada = await world.person()
  const receiver = createReceiver()
  const { id } = await make(ada, receiver.url)
  const answers: Reply[] = []
  for (let n = 0; n < 11; n++) answers.push(await ada.send('POST', `webhooks/${id}/test`))
  expect(answers.map(({ status }) => status)).toEqual([...Array(10).fill(200), 429])
  expect(answers[0]!.body.sent).toBe(true)
  expect(Number(answers[10]!.headers.get('retry-after'))).toBe(60)
  await deliver()
  expect(receiver.got).toHaveLength(10)
  const sent = receiver.got.map(({ body }) => JSON.parse(body)).find((one) => one.id === answers[0]!.body.event_id)
  expect(sent).toMatchObject({ type: 'completion.created', data: { _test: true, message: expect.any(String) } })
  clock.advance(60_000)
  expect((await ada.send('POST', `webhooks/${id}/test`)).status).toBe(200)
})

describe('a webhook', () => {
  test('that is changed, disabled or deleted receives accordingly', async () => {
    const ada = await world.person()
    const receiver = createReceiver()
    const { id } = await make(ada, receiver.url)
    await ada.send('PATCH', `webhooks/${id}`, { event_types: ['share.accepted'] })
    expect((await publish(ada, 'order.created')).body.matchedWebhooks).toBe(0)
    expect((await publish(ada, 'share.accepted')).body.matchedWebhooks).toBe(1)
    await ada.send('PATCH', `webhooks/${id}`, { enabled: false })
    expect((await publish(ada, 'share.accepted')).body.matchedWebhooks).toBe(0)
    await deliver()
    expect(receiver.got).toEqual([])
    await ada.send('PATCH', `webhooks/${id}`, { enabled: true })
    await publish(ada, 'share.accepted')
    await ada.send('DELETE', `webhooks/${id}`)
    await deliver()
    expect(receiver.got).toEqual([])
    const t = await world.app.container.published.list(world.callAs(ada), { limit: 10 })
    expect(t.events.length).toBeGreaterThan(0)
  })

  test('of an organization is for those who may manage them, and receives what its keys do', async () => {
    const [owner, member] = [await world.person(), await world.person()]
    const org = (await owner.send('POST', 'orgs', { name: 'Team' })).body.id
    const { token } = await issueInvitation(world, org, await emailOf(world, member), 'member')
    await member.send('POST', `invitations/${token}/accept`)
    for (const each of [owner, member]) await each.send('POST', `orgs/${org}/activate`)
    const receiver = createReceiver()
    const made = await make(owner, receiver.url, { event_types: ['key.created'] })
    expect(made.org_id).toBe(org)
    for (const [method, path, body] of [
      ['GET', 'webhooks'],
      ['GET', `webhooks/${made.id}`],
      ['GET', `webhooks/${made.id}/deliveries`],
      ['GET', `webhooks/${made.id}/stats`],
      ['POST', 'webhooks', input],
      ['PATCH', `webhooks/${made.id}`, { enabled: false }],
      ['POST', `webhooks/${made.id}/test`],
      ['POST', `webhooks/${made.id}/rotate-secret`],
      ['DELETE', `webhooks/${made.id}`],
    ] as const) {
      const reply = await member.send(method, path, body)
      expect({ path, status: reply.status, code: reply.body.error.code }).toEqual({
        path,
        status: 403,
        code: 'forbidden',
      })
    }
    await owner.send('POST', 'keys', { name: 'its', org_id: org })
    await deliver()
    expect(receiver.got.map(({ body }) => JSON.parse(body))).toMatchObject([
      { type: 'key.created', data: { name: 'its', scope: 'org', org_id: org } },
    ])
  })

  test('says how its deliveries went', async () => {
    const ada = await world.person()
    const receiver = createReceiver((_, nth) => new Response(null, { status: nth === 1 ? 400 : 200 }))
    const { id } = await make(ada, receiver.url)
    expect((await ada.send('GET', `webhooks/${id}/stats`)).body.deliveries.success_rate_percent).toBeNull()
    for (let n = 0; n < 3; n++) await publish(ada)
    await deliver()
    await publish(ada)
    expect((await ada.send('GET', `webhooks/${id}/stats`)).body).toMatchObject({
      webhook_id: id,
      enabled: true,
      consecutive_failures: 0,
      last_delivered_at: expect.any(String),
      deliveries: { total: 3, successes: 2, failures: 1, success_rate_percent: 66.67, pending: 1 },
    })
  })
})
