import { describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { emailOf, issueInvitation } from '../accounts/orgs/team'
import { operatorSender } from '../operators/support'
import { createWorld } from '../support/world'

const world = await createWorld()
const ops = operatorSender(world)

describe('POST /events', () => {
  test('publishes, and GET /events lists newest first, by name and time', async () => {
    const ada = await world.person()
    const input = { orgId: ada.userId, eventType: 'order.created', payload: { a: [1, null] }, sourceConnector: 'shop' }
    const { status, body } = await ada.send('POST', 'events', input)
    expect(status).toBe(201)
    expect(body).toMatchObject({
      ...input,
      id: expect.stringMatching(/^evt_/),
      timestamp: expect.any(String),
      accepted: true,
      matchedHooks: 0,
      matchedWebhooks: 0,
      matchedWorkflows: 0,
    })
    await ada.send('POST', 'events', { orgId: ada.userId, eventType: 'ping' })
    const { body: listed } = await ada.send('GET', 'events')
    expect(listed.events.map(({ eventType }: { eventType: string }) => eventType).sort()).toEqual([
      'order.created',
      'ping',
    ])
    for (const [family, count] of [
      ['order.*', 1],
      ['ord.*', 0],
      ['order_.*', 0],
    ] as const) {
      const { body } = await ada.send('GET', `events?eventType=${family}`)
      expect({ family, events: body.events.length }).toEqual({ family, events: count })
    }
    const { body: found } = await ada.send('GET', 'events?eventType=order.created')
    expect(found).toMatchObject({ has_more: false, next_cursor: null })
    const { accepted, matchedHooks, matchedWebhooks, matchedWorkflows, request_id, ...event } = body
    expect(found.events).toEqual([event])
    expect((await ada.send('GET', 'events?to=2020-01-01')).body.events).toEqual([])
    expect((await ada.send('GET', 'events?from=')).body.error.code).toBe('validation_error')
    expect((await ada.send('GET', 'events?from=2020-01-01&limit=1')).body).toMatchObject({ has_more: true })
    expect((await ops('GET', `events?owner=${ada.userId}`)).body.events).toHaveLength(2)
    expect((await (await world.person()).send('GET', 'events')).body.events).toEqual([])
  })

  test.each([
    ['no name', { eventType: undefined }, 400],
    ['an empty name', { eventType: '' }, 400],
    ['an empty word', { eventType: 'a..b' }, 400],
    ['spaces and capitals', { eventType: 'A B' }, 400],
    ['1,000 characters', { eventType: 'a'.repeat(1_000) }, 400],
    ['a reserved name', { eventType: 'svc.internal.started' }, 400],
    ['a name of the server', { eventType: 'key.revoked' }, 400],
    ['no organization', { orgId: undefined }, 400],
    ['an organization that is no id', { orgId: 'acme' }, 400],
    ['an organization of others (D10)', { orgId: randomUUID() }, 403],
  ])('refuses %s (R1)', async (_, wrong, status) => {
    const ada = await world.person()
    const reply = await ada.send('POST', 'events', { orgId: ada.userId, eventType: 'order.created', ...wrong })
    expect(reply.status).toEqual(status)
    expect(reply.body.error.code).toEqual(status === 403 ? 'forbidden' : 'validation_error')
    expect((await ada.send('GET', 'events')).body.events).toEqual([])
  })

  test('refuses large and deep payloads, and drops `__proto__` (R2)', async () => {
    const ada = await world.person()
    const send = (payload: string) =>
      ada.send('POST', 'events', `{"orgId":"${ada.userId}","eventType":"order.created","payload":${payload}}`, {
        'content-type': 'application/json',
      })
    const large = await send(`"${'x'.repeat(64 * 1024)}"`)
    expect(large).toMatchObject({ status: 400, body: { error: { code: 'validation_error', param: 'payload' } } })
    expect((await send(`"${'x'.repeat(64 * 1024 - 2)}"`)).status).toBe(201)
    expect((await send(`${'['.repeat(65)}${']'.repeat(65)}`)).status).toBe(400)
    expect((await send('{"__proto__":{"a":1},"b":2}')).body.payload).toEqual({ b: 2 })
  })

  test('is for members of the organization; viewers only read, and its keys act for it alone', async () => {
    const [owner, viewer] = [await world.person(), await world.person()]
    const org = (await owner.send('POST', 'orgs', { name: 'Team' })).body.id
    const { token } = await issueInvitation(world, org, await emailOf(world, viewer), 'viewer')
    await viewer.send('POST', `invitations/${token}/accept`)
    const event = { orgId: org, eventType: 'order.created' }
    const published = await owner.send('POST', 'events', event)
    expect(published.status).toBe(201)
    // In the record of the organization, and in that of everyone who published it (docs/api.md 11.2).
    for (const record of [
      (await owner.send('GET', 'audit?action=event.published')).body,
      (await ops('GET', `audit?owner=${org}&action=event.published`)).body.events,
    ])
      expect(record).toMatchObject([{ entityId: published.body.id, userId: owner.userId }])
    expect((await viewer.send('POST', 'events', event)).status).toBe(403)
    expect((await viewer.send('GET', `events?orgId=${org}`)).body.events).toHaveLength(1)
    expect((await viewer.send('GET', 'events')).body.events).toEqual([])
    const bot = await world.person({ ofOrg: true })
    expect((await bot.send('POST', 'events', { ...event, orgId: bot.orgId })).status).toBe(201)
    for (const orgId of [bot.userId, org]) {
      expect((await bot.send('POST', 'events', { ...event, orgId })).status).toBe(403)
    }
    expect((await ops('POST', 'events', event)).body.orgId).toBe(org)
  })
})
