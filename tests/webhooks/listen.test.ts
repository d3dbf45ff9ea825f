import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { fakeClock } from '../support/clock'
import { createWorld, type Person } from '../support/world'
import { LOCAL, webhooksIn } from './support'

const clock = fakeClock('2030-01-01T12:00:00.000Z')
const world = await createWorld({ config: LOCAL, clock })
const { webhooks } = world.app.container
const { make, publish, get, log, deliver } = webhooksIn(world)
const take = async (by: Person, id: string, input: object = {}) =>
  (await by.send('PUT', `webhooks/${id}/listener`, input)).body

/** The recurring job, now. */
const tidied = async () => {
  await webhooks.tidying().run({} as never)
  await deliver()
}

describe('a webhook without an address', () => {
  test('gives its deliveries to everyone who listens, signed, until they say what became of them', async () => {
    const ada = await world.person()
    const hook = await make(ada, 'listen:')
    const { body: event } = await publish(ada)
    expect(event.matchedWebhooks).toBe(1)
    await deliver()
    expect(await log(ada, hook.id)).toEqual([])
    const { deliveries } = await take(ada, hook.id)
    const [{ event_id, event_type, headers, body }] = deliveries
    expect(event_id).toEqual(event.id)
    expect(event_type).toBe('order.created')
    expect(JSON.parse(body).data).toEqual({ n: 1 })
    const signed = `${headers['svc-webhook-timestamp']}.${body}`
    const hex = createHmac('sha256', hook.signing_secret).update(signed).digest('hex')
    expect(headers['svc-webhook-signature']).toBe(`v1=${hex}`)
    expect((await take(ada, hook.id)).deliveries).toEqual(deliveries)
    const done = [{ event_id, http_status: 503, duration_ms: 7 }]
    expect((await take(ada, hook.id, { done })).deliveries).toEqual([])
    expect((await take(ada, hook.id, { done })).deliveries).toEqual([])
    expect(await log(ada, hook.id)).toMatchObject([
      { event_id, status: 'failed', http_status: 503, error_message: 'http_5xx', duration_ms: 7, next_retry_at: null },
    ])
    await ada.send('POST', `webhooks/${hook.id}/test`, { event_type: 'job.completed', data: { n: 2 } })
    const [tested] = (await take(ada, hook.id)).deliveries
    expect(JSON.parse(tested.body)).toMatchObject({ type: 'job.completed', data: { _test: true, n: 2 } })
    await take(ada, hook.id, { done: [{ event_id: tested.event_id }] })
    const { event_id: second } = tested
    const found = (await log(ada, hook.id)).find((one: { event_id: string }) => one.event_id === second)
    expect(found).toMatchObject({ status: 'success', http_status: null })
  })

  test('is not for others, and one with an address gives nothing', async () => {
    const [ada, eve] = [await world.person(), await world.person()]
    const { id } = await make(ada, 'listen:')
    expect((await eve.send('PUT', `webhooks/${id}/listener`, {})).status).toBe(404)
    const other = await make(ada, 'http://127.0.0.1:8080/hook')
    expect((await ada.send('PUT', `webhooks/${other.id}/listener`, {})).status).toBe(409)
    expect((await ada.send('PUT', `webhooks/${id}/listener`, { wait_seconds: 21 })).status).toBe(400)
  })

  test('ends a minute after the last one listened, with what waits', async () => {
    const ada = await world.person()
    const { id } = await make(ada, 'listen:')
    clock.advance(59_000)
    await take(ada, id)
    clock.advance(59_000)
    expect((await publish(ada)).body.matchedWebhooks).toBe(1)
    await tidied()
    expect((await get(ada, id)).id).toBe(id)
    clock.advance(601_000)
    await tidied()
    expect((await ada.send('GET', `webhooks/${id}`)).status).toBe(404)
    expect((await publish(ada)).body.matchedWebhooks).toBe(0)
  })

  test('tests and triggers carry what an event may carry', async () => {
    const ada = await world.person()
    const { id } = await make(ada, 'listen:')
    const send = (input: object) => ada.send('POST', `webhooks/${id}/test`, input)
    expect((await send({ event_type: 'a.b', data: { big: 'x'.repeat(70_000) } })).status).toBe(400)
    expect((await send({ event_type: 'No Name' })).status).toBe(400)
    expect((await send({ data: { _test: false } })).status).toBe(200)
    const [delivery] = (await take(ada, id)).deliveries
    expect(JSON.parse(delivery.body).data._test).toBe(true)
  })
})
