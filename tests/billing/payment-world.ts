import { afterAll } from 'bun:test'
import { purchaseRows } from '../../src/billing/payments/repository'
import type { PurchaseId } from '../../src/billing/payments/schema'
import type { OwnerScope } from '../../src/kernel/caller'
import type { Clock } from '../../src/kernel/clock'
import { session, startStripe } from '../support/stripe'
import { createWorld, type Person } from '../support/world'

/** The whole product with the `stripe` driver, its API scripted on loopback. */
export async function createPaymentWorld(clock?: Clock) {
  const stripe = startStripe()
  afterAll(() => void stripe.stop())
  const config = {
    paymentProvider: 'stripe' as const,
    stripeSecretKey: 'sk_test_scripted',
    stripeWebhookSecret: stripe.webhookSecret,
    stripeBaseUrl: stripe.url,
  }
  const world = await createWorld({ config, ...(clock ? { clock } : {}) })
  const { billing, accountBilling, audit } = world.app.container

  const deliver = (payload: string, signature: string | null) =>
    world.send('POST', 'billing/webhook', payload, {
      'content-type': 'application/json',
      ...(signature ? { 'stripe-signature': signature } : {}),
    })

  async function tell(type: string, object: object, more: Parameters<typeof stripe.event>[2] = {}) {
    const { payload, signature } = await stripe.event(type, object, { at: world.clock.now(), ...more })
    return deliver(payload, signature)
  }

  async function checkout(person: Person, amount_cents = 500, more: object = {}) {
    const { status, body } = await person.send('POST', 'billing/checkout', { amount_cents, ...more })
    if (status !== 200) throw new Error(`checkout answered ${status}: ${JSON.stringify(body)}`)
    return body as { checkout_id: string; checkout_url: string; scope: string }
  }

  /** Opens a checkout and has the processor say how it was paid; answers its id. */
  async function paid(person: Person, cents = 500, more: object = {}): Promise<string> {
    const { checkout_id } = await checkout(person, cents)
    await tell('checkout.session.completed', session(checkout_id, cents, more))
    return checkout_id
  }

  return {
    ...world,
    stripe,
    accountBilling,
    deliver,
    /** Signs an event and delivers it. */
    tell,
    checkout,
    paid,
    /** Someone without other credit who has bought some, and the id of the purchase. */
    async buyer(cents = 500) {
      const ada = await world.person({ cents: 0 })
      return { ada, id: await paid(ada, cents) }
    },
    rowOf: async (id: string) => (await purchaseRows.first(world.app.store.read, { id: id as PurchaseId }))!,
    /** Audit rows of one action, newest first. */
    async record(scope: OwnerScope | 'server', action: string) {
      const { items } = await audit.list(world.app.store.read, scope, { limit: 20 })
      return items.filter((item) => item.action === action)
    },
    centsOf: async (person: Person) =>
      (await billing.balance(world.app.store.read, ownerOf(person))).balance / 1_000_000,
    actionsOf: async (person: Person) => {
      return (await audit.list(world.app.store.read, ownerOf(person), { limit: 100 })).items.map(({ action }) => action)
    },
  }
}

export const ownerOf = ({ orgId, userId }: Person) => (orgId ? (`org:${orgId}` as const) : (`user:${userId}` as const))
