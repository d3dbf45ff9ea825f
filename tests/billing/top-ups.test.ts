// Both databases: money.
import { describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { jobs as jobRows } from '../../src/jobs/table'
import { fakeClock } from '../support/clock'
import { eventually } from '../support/eventually'
import { refusals } from '../support/refusals'
import { dispute, session } from '../support/stripe'
import type { Person } from '../support/world'
import { createPaymentWorld, ownerOf } from './payment-world'

const clock = fakeClock()
const world = await createPaymentWorld(clock)
const { stripe, checkout, centsOf, actionsOf } = world
const { billing, jobs } = world.app.container
const { store } = world.app
const auto = { auto_top_up: { enabled: true, threshold_cents: 300, amount_cents: 1_000 } }
const runDue = () => jobs.runDue('billing.top_up')
let spendings = 0

/** One paid call of so many cents. */
async function spend(person: Person, cents: number): Promise<void> {
  const caps = { daily: null, monthly: null }
  const input = { owner: ownerOf(person), keyId: null, caps, ref: `spend-${++spendings}`, amount: cents * 1_000_000 }
  const hold = await store.write((tx) => billing.reserve(tx, input))
  await store.write((tx) => billing.settleApart(tx, hold!, input.amount))
}

/** Someone with a saved payment method, and credit. */
async function customer(cents: number, method: string | null = 'pm_card'): Promise<Person> {
  const person = await world.person({ cents })
  await checkout(person)
  if (method) stripe.saveMethod(stripe.newestCustomer(), method)
  return person
}

/** The same, who wants automatic top-up. */
async function toppedUp(cents = 400, method?: string | null): Promise<Person> {
  const person = await customer(cents, method)
  await person.send('PATCH', 'billing/limits', auto)
  return person
}

const charges = () => stripe.of('/v1/payment_intents').length
const limitsOf = async (person: Person) => (await person.send('GET', 'billing/limits')).body.auto_top_up
const lastOf = async (person: Person) => (await limitsOf(person)).last

describe('automatic top-up', () => {
  test('charges once when the balance crosses the threshold, and not again before it has risen', async () => {
    const ada = await toppedUp()
    const before = charges()
    await spend(ada, 150)
    await Promise.all([runDue(), runDue()])
    expect(await centsOf(ada)).toBe(1_250)
    expect(charges()).toBe(before + 1)
    await spend(ada, 100)
    expect(await runDue()).toBe(0)
    await spend(ada, 900)
    await runDue()
    expect(await centsOf(ada)).toBe(1_250)
    expect(await lastOf(ada)).toMatchObject({ state: 'paid', error: null })
    expect(await actionsOf(ada)).toContain('credits.purchased')
  })

  test('is one at a time, however many calls cross at once', async () => {
    const ada = await toppedUp()
    const before = charges()
    await Promise.all(Array.from({ length: 20 }, () => spend(ada, 15)))
    await Promise.all([runDue(), runDue(), runDue()])
    expect(charges()).toBe(before + 1)
    expect(await centsOf(ada)).toBe(1_100)
  })

  test('that is switched on below its threshold fills the wallet at once', async () => {
    const ada = await toppedUp(200)
    await runDue()
    expect(await centsOf(ada)).toBe(1_200)
  })

  test('that is switched on for an empty wallet fills it at once', async () => {
    const ada = await customer(0)
    await ada.send('PATCH', 'billing/limits', { auto_top_up: { ...auto.auto_top_up, threshold_cents: 1 } })
    await runDue()
    expect(await centsOf(ada)).toBe(1_000)
  })

  test.each([
    ['a declined card', { status: 402, error: { type: 'card_error', code: 'card_declined' } }, 'was declined'],
    [
      'a bank that wants its owner',
      { status: 402, error: { type: 'card_error', code: 'authentication_required' } },
      'confirm',
    ],
    [
      'a saved method that is gone at the processor',
      { status: 400, error: { type: 'invalid_request_error', code: 'payment_method_unactivated' } },
      'The saved payment method cannot be charged any more.',
    ],
  ])('after %s is over, on the record, until the balance crosses again', async (_what, fault, words) => {
    const ada = await toppedUp()
    stripe.fail('/v1/payment_intents', fault)
    await spend(ada, 150)
    const before = charges()
    await runDue()
    expect(await runDue()).toBe(0)
    await spend(ada, 10)
    expect(await runDue()).toBe(0)
    expect(charges()).toBe(before + 1)
    expect(await lastOf(ada)).toMatchObject({ state: 'failed', error: expect.stringContaining(words) })
    expect(await actionsOf(ada)).toContain('credits.top_up_failed')
    expect(await centsOf(ada)).toBe(240)
  })

  test('without a saved method fails and says so', async () => {
    const ada = await toppedUp(400, null)
    await spend(ada, 150)
    await runDue()
    expect(await lastOf(ada)).toEqual({ state: 'failed', error: 'There is no saved payment method.' })
  })

  describe('that gets no answer', () => {
    const MINUTE = 60_000
    /** Without the header an attempt has three requests, a second apart. */
    const SILENCE = { status: 500, headers: { 'stripe-should-retry': 'false' } }
    const keysSince = (before: number) =>
      new Set(
        stripe
          .of('/v1/payment_intents')
          .slice(before)
          .map(({ key }) => key),
      )
    async function unanswered(attempts: number) {
      const ada = await toppedUp()
      stripe.fail('/v1/payment_intents', SILENCE, attempts)
      await spend(ada, 150)
      return { ada, before: charges() }
    }

    test('asks again with the same key, after 1, 5, 30 and 120 minutes, and is charged once', async () => {
      const { ada, before } = await unanswered(4)
      expect(await runDue()).toBe(1)
      for (const minutes of [1, 5, 30, 120]) {
        expect(await lastOf(ada)).toMatchObject({ state: 'open', error: 'The payment processor did not answer.' })
        expect(await centsOf(ada)).toBe(250)
        clock.advance(minutes * MINUTE - 1)
        expect(await runDue()).toBe(0)
        clock.advance(1)
        expect(await runDue()).toBe(1)
      }
      expect(await lastOf(ada)).toMatchObject({ state: 'paid', error: null })
      expect(await centsOf(ada)).toBe(1_250)
      expect(keysSince(before).size).toBe(1)
    })

    test('at the fifth attempt is over', async () => {
      const { ada } = await unanswered(5)
      for (const minutes of [0, 1, 5, 30, 120]) {
        clock.advance(minutes * MINUTE)
        expect(await runDue()).toBe(1)
      }
      expect(await lastOf(ada)).toMatchObject({ state: 'failed', error: 'The payment processor did not answer.' })
      clock.advance(1_440 * MINUTE)
      expect(await runDue()).toBe(0)
      expect(await centsOf(ada)).toBe(250)
    })

    test('of a process that died in its attempt is asked again once its lease is over', async () => {
      const { ada, before } = await unanswered(0)
      await store.write((tx) => {
        const t = tx.of(jobRows)
        const lease = { turn: null, node: 'gone', attempts: 1, lease_until: clock.now() + 30_000 }
        return tx
          .update(t)
          .set({ state: 'active', ...lease })
          .where(eq(t.kind, 'billing.top_up'))
      })
      clock.advance(29_999)
      expect(await runDue()).toBe(0)
      clock.advance(1)
      expect(await runDue()).toBe(1)
      expect(await centsOf(ada)).toBe(1_250)
      expect(keysSince(before).size).toBe(1)
    })
  })

  describe('that the processor is still working on', () => {
    const THREE_DAYS = 3 * 86_400_000
    async function pending() {
      const ada = await toppedUp()
      stripe.chargeEndsAs('processing')
      await spend(ada, 150)
      const before = charges()
      await runDue()
      expect(await lastOf(ada)).toMatchObject({ state: 'open', error: null })
      expect(await centsOf(ada)).toBe(250)
      return { ada, before }
    }

    test('is not charged again, and fails after three days without news', async () => {
      const { ada, before } = await pending()
      clock.advance(THREE_DAYS - 1)
      expect(await runDue()).toBe(0)
      clock.advance(1)
      expect(await runDue()).toBe(1)
      expect(await lastOf(ada)).toMatchObject({
        state: 'failed',
        error: 'The payment was started and never confirmed.',
      })
      expect(charges()).toBe(before + 1)
      expect(await centsOf(ada)).toBe(250)
    })

    test('is paid by the event that says so', async () => {
      const { ada } = await pending()
      const id = stripe.of('/v1/payment_intents').at(-1)!.params['metadata[purchase_id]']!
      const intent = { id: 'pi_late', object: 'payment_intent', metadata: { purchase_id: id }, amount: 1_000 }
      const more = { amount_received: 1_000, currency: 'usd' }
      expect((await world.tell('payment_intent.succeeded', { ...intent, ...more })).status).toBe(200)
      expect(await centsOf(ada)).toBe(1_250)
      const before = charges()
      clock.advance(THREE_DAYS)
      await runDue()
      expect({ charges: charges(), cents: await centsOf(ada) }).toEqual({ charges: before, cents: 1_250 })
    })
  })

  test('that the bank wants to see its owner for is over and says so', async () => {
    const ada = await toppedUp()
    stripe.chargeEndsAs('requires_action')
    await spend(ada, 150)
    await runDue()
    expect(await lastOf(ada)).toMatchObject({ state: 'failed', error: expect.stringContaining('confirm') })
  })

  test('is charged as soon as its order is durable, not at the next look', async () => {
    const loop = jobs.start()
    const ada = await toppedUp()
    await eventually(() => clock.wakesWithin(60_000))
    await spend(ada, 150)
    await eventually(async () => (await centsOf(ada)) === 1_250)
    await loop.stop()
  })

  test('ends with a dispute: a payer who disputes a payment is not charged again automatically', async () => {
    const ada = await customer(400)
    const { checkout_id } = await checkout(ada)
    await world.tell('checkout.session.completed', session(checkout_id, 500))
    await ada.send('PATCH', 'billing/limits', { auto_top_up: { ...auto.auto_top_up, threshold_cents: 600 } })
    await world.tell('charge.dispute.created', dispute(checkout_id, 500, 'needs_response'))
    expect(await limitsOf(ada)).toMatchObject({ enabled: false, threshold_cents: 600, last: null })
    await spend(ada, 150)
    expect(await runDue()).toBe(0)
  })
})

refusals(
  'automatic top-up is not switched on without',
  { world, as: await world.person(), request: 'PATCH billing/limits' },
  [
    [
      'threshold_cents',
      { auto_top_up: { enabled: true, amount_cents: 500 } },
      '',
      { param: 'auto_top_up.threshold_cents' },
    ],
    [
      'amount_cents',
      { auto_top_up: { enabled: true, threshold_cents: 500 } },
      '',
      { param: 'auto_top_up.amount_cents' },
    ],
  ],
)

test('and the books hold', async () => {
  expect(await billing.verify(store.read)).toEqual([])
})
