// Both databases: money.
import { describe, expect, test } from 'bun:test'
import { and, eq } from 'drizzle-orm'
import { ledgerEntries } from '../../src/billing/table'
import { fakeClock } from '../support/clock'
import { charge, dispute, session } from '../support/stripe'
import type { Person } from '../support/world'
import { createPaymentWorld, ownerOf } from './payment-world'

const clock = fakeClock('2026-03-10T12:00:00.000Z')
const world = await createPaymentWorld(clock)
const { stripe, tell, deliver, checkout, paid, buyer, rowOf, record, centsOf } = world
const { billing } = world.app.container
const { store } = world.app

const TOPPED_UP = { auto_top_up: { enabled: true, threshold_cents: 1, amount_cents: 500 } }

const adjust = (person: Person, cents: number) => {
  const input = { owner: ownerOf(person), amount: cents * 1_000_000, ref: crypto.randomUUID(), note: null }
  return store.write((tx) => billing.adjust(tx, input))
}

describe('money that goes back', () => {
  test('is on the record with what was taken and what is owed', async () => {
    const { ada, id } = await buyer(1_000)
    await adjust(ada, -700)
    await tell('charge.refunded', charge(id, 400))
    expect(await record(ownerOf(ada), 'credits.refunded')).toMatchObject([
      { entityType: 'billing', entityId: id, inputSummary: { metadata: { taken_cents: 300, owed_cents: 100 } } },
    ])
    expect(await rowOf(id)).toMatchObject({ refunded_cents: 400, refunded_at: clock.now(), taken: 300_000_000 })
  })

  test('leaves no entry in the books where there is nothing to take, whatever is on hold', async () => {
    const { ada, id } = await buyer(1_000)
    const caps = { daily: null, monthly: null }
    const wanted = { owner: ownerOf(ada), keyId: null, caps, ref: crypto.randomUUID(), amount: 1_000_000_000 }
    const hold = await store.write((tx) => billing.reserve(tx, wanted))
    await tell('charge.refunded', charge(id, 400))
    const t = store.read.of(ledgerEntries)
    const refunds = () =>
      store.read
        .select()
        .from(t)
        .where(and(eq(t.account, ownerOf(ada)), eq(t.kind, 'refund')))
    expect(await refunds()).toEqual([])
    expect((await rowOf(id)).taken).toBe(0)
    expect(await centsOf(ada)).toBe(1_000)
    await store.write((tx) => billing.release(tx, hold!))
    await tell('charge.refunded', charge(id, 500), { at: clock.now() + 1_000 })
    expect({ refunds: (await refunds()).length, cents: await centsOf(ada) }).toEqual({ refunds: 1, cents: 500 })
  })

  test('that is owed is taken from new credit, the oldest purchase first, and of its own owner', async () => {
    const [ada, eve] = [await world.person({ cents: 0 }), await world.person({ cents: 0 })]
    const owing: string[] = []
    for (const cents of [600, 500]) {
      owing.push(await paid(ada, cents))
      clock.advance(1_000)
    }
    await adjust(ada, -1_100)
    for (const id of [...owing].reverse()) await tell('charge.refunded', charge(id, 500))
    expect(await centsOf(ada)).toBe(0)
    await paid(eve, 500)
    expect(await centsOf(eve)).toBe(500)
    await paid(ada, 700)
    expect(await centsOf(ada)).toBe(0)
    const taken = async () => Promise.all(owing.map(async (id) => (await rowOf(id)).taken / 1_000_000))
    expect(await taken()).toEqual([500, 200])
    await paid(ada, 700)
    expect({ taken: await taken(), cents: await centsOf(ada) }).toEqual({ taken: [500, 500], cents: 400 })
  })

  test('is the total so far: an older word changes nothing, and of two of one second the larger counts', async () => {
    const { ada, id } = await buyer(1_000)
    const at = clock.now()
    await tell('charge.refunded', charge(id, 300), { at })
    await tell('charge.refunded', charge(id, 200), { at })
    await tell('charge.refunded', charge(id, 900), { at: at - 1_000, signedAt: at })
    expect(await centsOf(ada)).toBe(700)
    await tell('charge.refunded', charge(id, 350), { at })
    expect(await centsOf(ada)).toBe(650)
    await tell('charge.refunded', charge(id, 100), { at: at + 1_000, signedAt: at })
    expect(await centsOf(ada)).toBe(900)
    expect(await record(ownerOf(ada), 'credits.restored')).toMatchObject([
      { entityId: id, inputSummary: { metadata: { amount_cents: 250 } } },
    ])
    await tell('charge.refunded', charge(id, 0), { at: at + 2_000, signedAt: at })
    expect(await centsOf(ada)).toBe(1_000)
  })

  test('by refund and dispute of one payment is no more than was paid', async () => {
    const ada = await world.person({ cents: 100 })
    const id = await paid(ada, 500)
    await tell('charge.refunded', charge(id, 300))
    await tell('charge.dispute.created', dispute(id, 400, 'needs_response'))
    expect(await centsOf(ada)).toBe(100)
    expect(await rowOf(id)).toMatchObject({ refunded_cents: 300, disputed_cents: 400, taken: 500_000_000 })
  })

  test.each(['warning_needs_response', 'warning_closed', 'won', 'prevented'])(
    'does not, for a dispute that is %s',
    async (status) => {
      const { ada, id } = await buyer()
      await ada.send('PATCH', 'billing/limits', TOPPED_UP)
      await tell('charge.dispute.updated', dispute(id, 500, status))
      expect(await centsOf(ada)).toBe(500)
      expect((await ada.send('GET', 'billing/limits')).body.auto_top_up.enabled).toBe(true)
    },
  )

  test.each(['lost', 'needs_response', 'under_review'])('does, for a dispute that is %s', async (status) => {
    const ada = await world.person({ cents: 0 })
    await tell('charge.dispute.funds_withdrawn', dispute(await paid(ada, 500), 500, status))
    expect(await centsOf(ada)).toBe(0)
  })

  test('by a dispute switches automatic top-up off, once, on the record', async () => {
    const { ada, id } = await buyer()
    await ada.send('PATCH', 'billing/limits', TOPPED_UP)
    await tell('charge.dispute.created', dispute(id, 200, 'needs_response'))
    await tell('charge.dispute.updated', dispute(id, 300, 'needs_response'), { at: clock.now() + 1_000 })
    const rows = await record(ownerOf(ada), 'billing.limits_updated')
    expect(rows).toHaveLength(2)
    expect(rows[0]).toMatchObject({ entityType: 'billing', inputSummary: { fields: ['auto_top_up'] } })
    expect(rows[0]!.apiKeyId).toBeNull()
  })

  test.each([1, 0])('of %p cents in a dispute switches it off, where it is anything', async (cents) => {
    const { ada, id } = await buyer()
    await ada.send('PATCH', 'billing/limits', TOPPED_UP)
    await tell('charge.dispute.created', dispute(id, cents, 'needs_response'))
    expect((await ada.send('GET', 'billing/limits')).body.auto_top_up.enabled).toBe(cents === 0)
    expect(await centsOf(ada)).toBe(500 - cents)
  })

  test('of a purchase that is not known is on the record of the server, with the event', async () => {
    const { id, payload, signature } = await stripe.event(
      'charge.dispute.created',
      { ...dispute('nobody', 700, 'needs_response'), payment_intent: null },
      { at: clock.now() },
    )
    expect((await deliver(payload, signature)).status).toBe(200)
    expect((await record('server', 'credits.dispute_unmatched'))[0]).toMatchObject({
      ...{ entityType: 'billing', entityId: null },
      inputSummary: { metadata: { event: id, payment: null, cents: 700 } },
    })
  })

  test('is found by the payment object itself, where the event holds it whole', async () => {
    const { ada, id } = await buyer()
    await tell('charge.refunded', { ...charge(id, 100), payment_intent: { id: `pi_of_${id}` } })
    expect(await centsOf(ada)).toBe(400)
    await tell('charge.refunded', { ...charge('x', 200), metadata: { purchase_id: id } }, { at: clock.now() + 1_000 })
    expect(await centsOf(ada)).toBe(300)
  })
})

describe('an event', () => {
  const notify = async (more: Parameters<typeof stripe.event>[2]) => {
    const ada = await world.person({ cents: 0 })
    const object = session((await checkout(ada)).checkout_id, 500)
    const { payload, signature } = await stripe.event('checkout.session.completed', object, more)
    return [(await deliver(payload, signature)).status, await centsOf(ada)]
  }

  test('is taken for five minutes after it was signed, and no longer (docs/api.md 18.2)', async () => {
    expect(await notify({ at: clock.now(), signedAt: clock.now() - 300_000 })).toEqual([200, 500])
    expect(await notify({ at: clock.now(), signedAt: clock.now() - 301_000 })).toEqual([400, 0])
  })

  test('of another secret is not taken, nor one that is unsigned or no JSON', async () => {
    expect(await notify({ at: clock.now(), secret: 'whsec_other' })).toEqual([400, 0])
    expect((await deliver('{}', null)).status).toBe(400)
    const { signature } = await stripe.event('x', {}, { at: clock.now() })
    expect((await deliver('{"id":"evt_1"}', signature)).status).toBe(400)
  })
})

test('and the books hold', async () => {
  expect(await billing.verify(store.read)).toEqual([])
})
