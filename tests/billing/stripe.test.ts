// Both databases: money.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { refusals } from '../support/refusals'
import { charge, dispute, session } from '../support/stripe'
import { createPaymentWorld } from './payment-world'

const world = await createPaymentWorld()
const { stripe, tell, deliver, checkout, paid, buyer, centsOf, actionsOf } = world

describe('a checkout', () => {
  test('asks the processor for just that sum, once, and says where to pay', async () => {
    const ada = await world.person({ cents: 0 })
    const made = await checkout(ada, 1_234, { success_url: 'https://shop.example.com/ok' })
    expect(made).toMatchObject({
      checkout_url: expect.stringContaining('https://pay.example.com/c/cs_'),
      scope: 'user',
    })
    const { params, key } = stripe.of('/v1/checkout/sessions').at(-1)!
    expect(params).toMatchObject({
      mode: 'payment',
      client_reference_id: made.checkout_id,
      'line_items[0][quantity]': '1',
      'line_items[0][price_data][unit_amount]': '1234',
      'line_items[0][price_data][currency]': 'usd',
      'payment_intent_data[metadata][purchase_id]': made.checkout_id,
      success_url: 'https://shop.example.com/ok',
    })
    expect(params.cancel_url).toEndWith(`/billing/checkout/${made.checkout_id}`)
    expect(key).toBe(`svc-checkout-${made.checkout_id}`)
    expect(await centsOf(ada)).toBe(0)
  })

  test('makes one customer for an owner', async () => {
    const before = stripe.of('/v1/customers').length
    const ada = await world.person()
    await checkout(ada)
    await checkout(ada)
    expect(stripe.of('/v1/customers').length).toBe(before + 1)
    expect(stripe.of('/v1/customers').at(-1)!.params['metadata[owner]']).toBe(`user:${ada.userId}`)
  })

  test('of an organization names it on the receipt', async () => {
    const team = await world.person({ ofOrg: true })
    await checkout(team)
    const { params } = stripe.of('/v1/customers').at(-1)!
    expect(params['metadata[owner]']).toBe(`org:${team.orgId}`)
    expect(params.name).toMatch(/^Org \d+$/)
  })

  test('is 503 when the processor is away, and nothing waits for it', async () => {
    const ada = await world.person()
    stripe.fail('/v1/checkout/sessions', { status: 500 }, 3)
    const { status, body } = await ada.send('POST', 'billing/checkout', { amount_cents: 500 })
    expect({ status, code: body.error.code }).toEqual({ status: 503, code: 'service_unavailable' })
    expect(body.error.message).not.toMatch(/stripe/i)
  })
})

refusals('POST /billing/checkout refuses', { world, as: await world.person(), request: 'POST billing/checkout' }, [
  ['too little', { amount_cents: 499 }, '"amount_cents" '],
  ['too much', { amount_cents: 1_000_001 }, '"amount_cents" '],
  ['what is not whole', { amount_cents: 500.5 }, '"amount_cents" '],
  ['words', { amount_cents: '500' }, '"amount_cents" '],
  ['nothing', {}, '"amount_cents" '],
])

describe('what the processor says', () => {
  test('a paid checkout adds its credit, and is on the record', async () => {
    const ada = await world.person({ cents: 0 })
    const reply = await tell('checkout.session.completed', session((await checkout(ada)).checkout_id, 500))
    expect(reply.body).toMatchObject({ received: true })
    expect(await centsOf(ada)).toBe(500)
    expect(await actionsOf(ada)).toContain('credits.purchased')
  })

  test('the same event a hundred times at once adds it once', async () => {
    const ada = await world.person({ cents: 0 })
    const { checkout_id } = await checkout(ada)
    const { payload, signature } = await stripe.event('checkout.session.completed', session(checkout_id, 500))
    const replies = await Promise.all(Array.from({ length: 100 }, () => deliver(payload, signature)))
    expect(replies.every(({ status }) => status === 200)).toBe(true)
    expect(await centsOf(ada)).toBe(500)
  })

  test('a method that pays days later adds nothing before it has', async () => {
    const ada = await world.person({ cents: 0 })
    const { checkout_id } = await checkout(ada)
    await tell('checkout.session.completed', session(checkout_id, 500, { payment_status: 'unpaid' }))
    expect(await centsOf(ada)).toBe(0)
    await tell('checkout.session.async_payment_succeeded', session(checkout_id, 500))
    expect(await centsOf(ada)).toBe(500)
  })

  test.each([
    ['another sum', { amount_total: 501 }],
    ['another currency', { currency: 'jpy' }],
  ])('a payment of %s than was ordered adds nothing, and is on the record', async (_what, more) => {
    const ada = await world.person({ cents: 0 })
    const { checkout_id } = await checkout(ada)
    expect((await tell('checkout.session.completed', session(checkout_id, 500, more))).status).toBe(200)
    expect(await centsOf(ada)).toBe(0)
    expect(await actionsOf(ada)).toContain('credits.purchase_refused')
  })

  test('about something that was not bought here means nothing', async () => {
    for (const id of ['someone-elses', crypto.randomUUID()]) {
      expect((await tell('checkout.session.completed', session(id, 500))).status).toBe(200)
    }
    expect((await tell('customer.created', { id: 'cus_1' })).status).toBe(200)
  })
})

describe('money that goes back', () => {
  test('a refund takes out what is there, and new credit first pays what is still owed', async () => {
    const { ada, id } = await buyer(1_000)
    const { billing } = world.app.container
    const spent = { owner: `user:${ada.userId}` as const, amount: -700_000_000, ref: `spent-${ada.userId}`, note: null }
    await world.app.store.write((tx) => billing.adjust(tx, spent))
    await tell('charge.refunded', charge(id, 400))
    expect(await centsOf(ada)).toBe(0)
    await paid(ada)
    expect(await centsOf(ada)).toBe(400)
  })

  test('a dispute that is won gives back what it took', async () => {
    const { ada, id } = await buyer()
    const now = Date.now()
    await tell('charge.dispute.created', dispute(id, 500, 'needs_response'), { at: now })
    expect(await centsOf(ada)).toBe(0)
    await tell('charge.dispute.closed', dispute(id, 500, 'won'), { at: now + 2_000, signedAt: now })
    expect(await centsOf(ada)).toBe(500)
    expect(await actionsOf(ada)).toEqual(expect.arrayContaining(['credits.refunded', 'credits.restored']))
  })

  test.each([
    ['a refund below nothing', 'charge.refunded', (id: string) => charge(id, -300)],
    ['a refund of no number', 'charge.refunded', (id: string) => ({ ...charge(id, 0), amount_refunded: null })],
    ['a dispute below nothing', 'charge.dispute.created', (id: string) => dispute(id, -300, 'needs_response')],
  ])('%s moves nothing, and is on the record', async (_what, type, object) => {
    const { ada, id } = await buyer()
    await tell('charge.refunded', charge(id, 100), { at: world.clock.now() - 5_000 })
    expect(await tell(type, object(id))).toMatchObject({ status: 200, body: { received: true } })
    expect(await centsOf(ada)).toBe(400)
    expect(await actionsOf(ada)).toContain(`credits.${type.includes('dispute') ? 'dispute' : 'refund'}_unmatched`)
  })

  test('more than was paid takes out what was paid', async () => {
    const ada = await world.person({ cents: 100 })
    await tell('charge.refunded', charge(await paid(ada), 50_000))
    expect(await centsOf(ada)).toBe(100)
  })

  test('of a payment that is known here needs no word of the processor', async () => {
    const { ada, id } = await buyer()
    const path = `/v1/payment_intents/pi_of_${id}`
    expect((await tell('charge.refunded', charge(id, 200))).status).toBe(200)
    expect({ cents: await centsOf(ada), of: stripe.of(path).length }).toEqual({ cents: 300, of: 0 })
  })

  test('while the processor is away is 503, and counts when it is told again', async () => {
    const ada = await world.person({ cents: 0 })
    const { checkout_id } = await checkout(ada)
    const { payload, signature } = await stripe.event('charge.refunded', charge(checkout_id, 200))
    stripe.fail(`/v1/payment_intents/pi_of_${checkout_id}`, { status: 500 }, 3)
    expect((await deliver(payload, signature)).status).toBe(503)
    expect((await deliver(payload, signature)).status).toBe(200)
    await tell('checkout.session.completed', session(checkout_id, 500))
    expect(await centsOf(ada)).toBe(300)
  })

  test.each([
    ['that the processor does not know', 'pi_gone'],
    ['that it does not name', null],
  ])('of a payment %s is taken in, and on the record of the server', async (_what, payment_intent) => {
    const gone = { type: 'invalid_request_error', code: 'resource_missing' }
    stripe.fail('/v1/payment_intents/pi_gone', { status: 404, error: gone })
    const { status, body } = await tell('charge.refunded', { ...charge('unknown', 100), payment_intent })
    expect({ status, received: body.received }).toEqual({ status: 200, received: true })
    const { items } = await world.app.container.audit.list(world.app.store.read, 'server', { limit: 1 })
    expect(items[0]).toMatchObject({
      action: 'credits.refund_unmatched',
      inputSummary: { metadata: { payment: payment_intent, cents: 100 } },
    })
  })

  test('in any order, and told twice, the events of one checkout end in the same balance', async () => {
    const at = Date.now()
    const eventsOf = (id: string) => [
      { type: 'checkout.session.completed', object: session(id, 1_000), at },
      { type: 'payment_intent.succeeded', object: intent(id, 1_000), at },
      { type: 'charge.refunded', object: charge(id, 100), at: at + 1_000 },
      { type: 'charge.refunded', object: charge(id, 300), at: at + 2_000 },
      { type: 'charge.dispute.created', object: dispute(id, 200, 'needs_response'), at: at + 3_000 },
      { type: 'charge.dispute.closed', object: dispute(id, 200, 'won'), at: at + 5_000 },
      { type: 'checkout.session.expired', object: session(id, 1_000), at: at + 6_000 },
    ]
    const orders = fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6, 0, 3, 5], { minLength: 10, maxLength: 10 })
    await fc.assert(
      fc.asyncProperty(orders, async (order) => {
        const ada = await world.person({ cents: 0 })
        const { checkout_id } = await checkout(ada, 1_000)
        const events = await Promise.all(
          eventsOf(checkout_id).map((each) => stripe.event(each.type, each.object, { at: each.at, signedAt: at })),
        )
        for (const index of order)
          expect((await deliver(events[index]!.payload, events[index]!.signature)).status).toBe(200)
        expect(await centsOf(ada)).toBe(700)
      }),
      { numRuns: 20 },
    )
  })
})

test('and the books hold', async () => {
  expect(await world.app.container.billing.verify(world.app.store.read)).toEqual([])
})

const intent = (id: string, cents: number) => ({
  id: `pi_of_${id}`,
  object: 'payment_intent',
  metadata: { purchase_id: id },
  amount_received: cents,
  currency: 'usd',
})
