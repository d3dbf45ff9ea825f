// Both databases: money.
import { describe, expect, test } from 'bun:test'
import { purchaseRows } from '../../src/billing/payments/repository'
import { fakeClock } from '../support/clock'
import { session } from '../support/stripe'
import type { Person } from '../support/world'
import { createPaymentWorld, ownerOf } from './payment-world'

const clock = fakeClock('2026-03-10T12:00:00.000Z')
const world = await createPaymentWorld(clock)
const { stripe, tell, checkout, paid, rowOf, record, centsOf } = world
const { billing, jobs } = world.app.container
const { store } = world.app

const pageOf = async (id: string) => (await world.send('GET', `/billing/checkout/${id}`)).text

describe('a purchase keeps what the processor said', () => {
  test('when it is opened: the checkout there, and a record of the sum', async () => {
    const ada = await world.person({ cents: 0 })
    const made = await checkout(ada, 700, { cancel_url: 'https://shop.example.com/no' })
    const row = await rowOf(made.checkout_id)
    expect(made.checkout_url).toEndWith(`/c/${row.session_ref}`)
    expect(row).toMatchObject({
      ...{ state: 'open', amount_cents: 700, provider: 'stripe', kind: 'checkout', user_id: ada.userId },
      ...{ payment_ref: null, error: null, ended_at: null, taken: 0, created_at: clock.now() },
      ...{ refunded_cents: 0, refunded_at: 0, disputed_cents: 0, disputed_at: 0, success_url: null },
    })
    expect(await record(ownerOf(ada), 'billing.checkout_created')).toMatchObject([
      { entityType: 'billing', entityId: made.checkout_id, inputSummary: { metadata: { amount_cents: 700 } } },
    ])
    const { params } = stripe.of('/v1/checkout/sessions').at(-1)!
    expect(params).toMatchObject({
      ...{ customer: stripe.newestCustomer(), cancel_url: 'https://shop.example.com/no' },
      ...{ 'payment_intent_data[setup_future_usage]': 'off_session', 'metadata[purchase_id]': made.checkout_id },
    })
    expect(params.success_url).toEndWith(`/billing/checkout/${made.checkout_id}`)
  })

  test('when it could not be opened: that it failed, and nothing was charged', async () => {
    const ada = await world.person({ cents: 0 })
    stripe.fail('/v1/checkout/sessions', { status: 500, headers: { 'stripe-should-retry': 'false' } })
    expect((await ada.send('POST', 'billing/checkout', { amount_cents: 500 })).status).toBe(503)
    const [row] = await record(ownerOf(ada), 'billing.checkout_created')
    const id = row!.entityId!
    expect(await rowOf(id)).toMatchObject({ state: 'failed', ended_at: clock.now(), session_ref: null })
    const text = await pageOf(id)
    expect(text).toContain('This checkout is failed. The checkout could not be opened. Nothing was charged.')
  })

  test('when it is paid: the payment, and the credit once, on the record', async () => {
    const ada = await world.person({ cents: 0 })
    const id = await paid(ada, 900)
    expect(await rowOf(id)).toMatchObject({ state: 'paid', payment_ref: `pi_of_${id}`, ended_at: clock.now() })
    expect(await purchaseRows.first(store.read, { payment_ref: `pi_of_${id}` })).toMatchObject({ id })
    const facts = { amount_cents: 900, provider: 'stripe', by: 'checkout' }
    expect(await record(ownerOf(ada), 'credits.purchased')).toMatchObject([
      { entityType: 'billing', entityId: id, inputSummary: { metadata: facts } },
    ])
    expect(await billing.amountOf(store.read, { owner: ownerOf(ada), ref: `purchase_${id}`, kind: 'purchase' })).toBe(
      900_000_000,
    )
  })

  test.each([
    ['checkout.session.expired', 'expired', ''],
    ['checkout.session.async_payment_failed', 'failed', 'The payment did not go through.'],
  ])('when it comes to nothing: %s, and a payment after all still counts', async (type, state, words) => {
    const ada = await world.person({ cents: 0 })
    const { checkout_id } = await checkout(ada)
    await tell(type, session(checkout_id, 500))
    expect(await rowOf(checkout_id)).toMatchObject({ state, error: words || null })
    expect(await pageOf(checkout_id)).toContain(`This checkout is ${state}. ${words}`)
    await tell('checkout.session.completed', session(checkout_id, 500))
    expect(await rowOf(checkout_id)).toMatchObject({ state: 'paid', error: null })
    await tell(type, session(checkout_id, 500))
    expect((await rowOf(checkout_id)).state).toBe('paid')
    expect(await centsOf(ada)).toBe(500)
  })

  test.each([
    ['another sum', { amount_total: 499, currency: 'eur' }, { paid: 499, currency: 'eur' }],
    ['no sum that is named', { amount_total: null, currency: null }, { paid: 0, currency: '' }],
  ])('when it is of %s: what was ordered, and what came', async (_what, more, came) => {
    const ada = await world.person({ cents: 0 })
    const id = await paid(ada, 500, more)
    expect((await rowOf(id)).state).toBe('open')
    expect(await record(ownerOf(ada), 'credits.purchase_refused')).toMatchObject([
      {
        ...{ entityType: 'billing', entityId: id, userId: ada.userId },
        inputSummary: { metadata: { ordered_cents: 500, ...came } },
      },
    ])
  })
})

describe('the portal of the processor', () => {
  const portal = async (person: Person, body: object = {}) => {
    const { status, body: message } = await person.send('POST', 'billing/portal', body)
    return { status, url: message.portal_url, code: message.error?.code }
  }

  test('opens for a person, who gets a customer of their own, once', async () => {
    const ada = await world.person()
    const before = stripe.of('/v1/customers').length
    const back = { return_url: 'https://shop.example.com/back' }
    expect(await portal(ada, back)).toMatchObject({
      status: 200,
      url: `https://pay.example.com/p/${stripe.newestCustomer()}`,
    })
    await portal(ada)
    expect(stripe.of('/v1/customers')).toHaveLength(before + 1)
    const { params, key } = stripe.of('/v1/customers').at(-1)!
    const user = await world.app.container.orgs.user(store.read, ada.userId)
    expect(params).toMatchObject({ email: user!.email, name: user!.name, 'metadata[owner]': `user:${ada.userId}` })
    expect(key).toBe(`svc-customer-user:${ada.userId}`)
    const requests = stripe.of('/v1/billing_portal/sessions').slice(-2)
    expect(requests[0]!.params.return_url).toBe('https://shop.example.com/back')
    expect(requests[1]!.params.return_url).toMatch(/^https?:\/\/[^/]+$/)
    expect(await record(ownerOf(ada), 'billing.portal_opened')).toMatchObject([
      { entityType: 'billing', entityId: null },
      { entityType: 'billing', entityId: null },
    ])
  })

  test('opens for a team that has paid with a method that is saved, and for no other', async () => {
    const team = await world.person({ ofOrg: true })
    const refused = { status: 409, code: 'team_billing_setup_required' }
    const before = stripe.of('/v1/customers').length
    expect(await portal(team)).toMatchObject(refused)
    expect(stripe.of('/v1/customers')).toHaveLength(before)
    await checkout(team)
    expect(await portal(team)).toMatchObject(refused)
    stripe.saveMethod(stripe.newestCustomer())
    expect(await portal(team)).toMatchObject({ status: 200 })
  })
})

describe('an automatic top-up', () => {
  const auto_top_up = { enabled: true, threshold_cents: 300, amount_cents: 1_000 }
  async function due(method: string | null) {
    const ada = await world.person({ cents: 200 })
    await checkout(ada)
    if (method) stripe.saveMethod(stripe.newestCustomer(), method)
    await ada.send('PATCH', 'billing/limits', { auto_top_up })
    await jobs.runDue('billing.top_up')
    return ada
  }

  test('charges the saved method of its owner, unasked, under the name of the purchase', async () => {
    const ada = await due('pm_mine')
    const { params, key } = stripe.of('/v1/payment_intents').at(-1)!
    const id = params['metadata[purchase_id]']!
    expect(params).toMatchObject({
      ...{ amount: '1000', currency: 'usd', customer: stripe.newestCustomer(), payment_method: 'pm_mine' },
      ...{ off_session: 'true', confirm: 'true' },
    })
    expect(key).toBe(`svc-top-up-${id}`)
    const row = await rowOf(id)
    expect(row).toMatchObject({ state: 'paid', kind: 'top_up', provider: 'stripe', user_id: null, error: null })
    expect(row.payment_ref).toStartWith('pi_')
    expect(await record(ownerOf(ada), 'credits.purchased')).toMatchObject([
      { inputSummary: { metadata: { amount_cents: 1_000, provider: 'stripe', by: 'top_up' } } },
    ])
  })

  test('that fails is on the record with its sum and its reason', async () => {
    const ada = await due(null)
    expect(await record(ownerOf(ada), 'credits.top_up_failed')).toMatchObject([
      {
        entityType: 'billing',
        inputSummary: { metadata: { amount_cents: 1_000, reason: 'There is no saved payment method.' } },
      },
    ])
    const [failed] = await record(ownerOf(ada), 'credits.top_up_failed')
    expect(await rowOf(failed!.entityId!)).toMatchObject({ state: 'failed', ended_at: clock.now(), payment_ref: null })
  })
})

test('and the books hold', async () => {
  expect(await billing.verify(store.read)).toEqual([])
})
