import { describe, expect, test } from 'bun:test'
import { fakeClock } from '../support/clock'
import { createWorld } from '../support/world'
import { createReceiver, LOCAL, webhooksIn } from './support'

const clock = fakeClock()
const world = await createWorld({ config: LOCAL, clock })
const { make, publish, deliver, log, get } = webhooksIn(world)

describe('an event that is published', () => {
  test('reaches the webhooks that are subscribed to it, and is logged', async () => {
    const ada = await world.person()
    const receiver = createReceiver()
    const hook = await make(ada, receiver.url)
    expect(hook).toMatchObject({ url: receiver.url, event_types: ['order.*'], enabled: true })
    expect(hook.signing_secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    const published = await publish(ada)
    expect(published.status).toBe(201)
    expect(published.body).toMatchObject({ accepted: true, matchedWebhooks: 1, matchedHooks: 0, matchedWorkflows: 0 })
    await publish(ada, 'share.accepted')
    await deliver()
    expect(receiver.got).toHaveLength(1)
    const { headers, body } = receiver.got[0]!
    expect(JSON.parse(body)).toEqual({
      id: published.body.id,
      type: 'order.created',
      created: published.body.timestamp,
      data: { n: 1 },
    })
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'svc-webhooks/1',
      'svc-webhook-id': published.body.id,
      'webhook-id': published.body.id,
    })
    expect(await log(ada, hook.id)).toMatchObject([
      {
        event_id: published.body.id,
        status: 'success',
        http_status: 204,
        attempt: 1,
        error_message: null,
        failed_at: null,
      },
    ])
    expect(await get(ada, hook.id)).toMatchObject({ failure_count: 0, last_delivered_at: expect.any(String) })
  })

  test('is tried again on schedule with the same bytes and a new signature', async () => {
    const ada = await world.person()
    const receiver = createReceiver((_, nth) => new Response(null, { status: nth < 3 ? 500 : 200 }))
    const hook = await make(ada, receiver.url)
    await publish(ada)
    await deliver()
    await deliver()
    expect(receiver.got).toHaveLength(1)
    clock.advance(5_600)
    await deliver()
    expect(receiver.got).toHaveLength(2)
    clock.advance(331_000)
    await deliver()
    expect(receiver.got).toHaveLength(3)
    expect(new Set(receiver.got.map(({ body }) => body)).size).toBe(1)
    expect(new Set(receiver.got.map(({ headers }) => headers['svc-webhook-signature'])).size).toBe(3)
    const rows = await log(ada, hook.id)
    expect(
      rows.map(({ attempt, status, http_status }: Record<string, unknown>) => [attempt, status, http_status]),
    ).toEqual([
      [3, 'success', 200],
      [2, 'failed', 500],
      [1, 'failed', 500],
    ])
    clock.advance(86_400_000)
    await deliver()
    expect(receiver.got).toHaveLength(3)
  })
})

test('what was given up in a time is sent again, and the log is searched by state, type, event and time', async () => {
  const ada = await world.person()
  let isUp = false
  const receiver = createReceiver(() => new Response(null, { status: isUp ? 204 : 400 }))
  const hook = await make(ada, receiver.url, { event_types: ['*'] })
  const path = `webhooks/${hook.id}`
  await publish(ada)
  await publish(ada, 'invoice.paid')
  await deliver()
  isUp = true
  await publish(ada)
  await deliver()
  const found = async (query: string) => (await ada.send('GET', `${path}/deliveries?${query}`)).body
  expect((await found('event_type=invoice.paid')).deliveries.length).toBe(1)
  const [failed] = (await found('status=failed')).deliveries
  expect((await found(`event_id=${failed.event_id}`)).deliveries).toEqual([failed])
  expect((await found('to=2020-01-01')).deliveries).toEqual([])
  const first = await found('limit=1')
  expect(first.deliveries.length).toBe(1)
  expect((await found(`limit=2&cursor=${first.next_cursor}`)).deliveries.length).toBe(2)
  expect((await ada.send('POST', `${path}/retry-failed`, { from: '2999-01-01' })).body.queued).toBe(0)
  const again = await ada.send('POST', `${path}/retry-failed`, { from: '2020-01-01' })
  expect({ status: again.status, queued: again.body.queued }).toEqual({ status: 202, queued: 2 })
  clock.advance(100)
  await deliver()
  expect((await found('status=success')).deliveries.map(({ attempt }: { attempt: number }) => attempt)).toEqual([
    2, 2, 1,
  ])
  expect((await ada.send('POST', `${path}/retry-failed`, { from: '2020-01-01' })).body.queued).toBe(0)
  expect((await (await world.person()).send('POST', `${path}/retry-failed`, { from: '2020-01-01' })).status).toBe(404)
})
