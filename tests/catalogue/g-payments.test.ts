import { afterAll, describe, expect, test } from 'bun:test'
import { session, startStripe } from '../support/stripe'
import { startTarget } from './support'
import { keepsItsPromises } from './support/oracle'

const stripe = startStripe()
afterAll(() => void stripe.stop())
const target = await startTarget({
  engine: 'builtin',
  env: {
    SVC_PAYMENT_PROVIDER: 'stripe',
    SVC_STRIPE_SECRET_KEY: 'sk_test_scripted',
    SVC_STRIPE_WEBHOOK_SECRET: stripe.webhookSecret,
    SVC_STRIPE_BASE_URL: stripe.url,
  },
})
const { people } = target

const deliver = (payload: string, headers: Record<string, string>) =>
  fetch(`${target.url}/api/v1/billing/webhook`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: payload,
  })
type Sent = { payload: string; headers: Record<string, string> }
/** What the processor says of a checkout that was paid. */
async function paid(id: string): Promise<Sent> {
  const { payload, signature } = await stripe.event('checkout.session.completed', session(id, 500))
  return { payload, headers: { 'stripe-signature': signature } }
}

/** Someone with nothing, and a checkout of 500 cents that waits to be paid. */
async function buyer() {
  const person = await people.newcomer()
  const { body } = await target.send('POST', 'billing/checkout', { key: person.key, body: { amount_cents: 500 } })
  return { ...person, id: body.checkout_id as string, cents: async () => (await target.moneyOf(person.email)).balance }
}

/**
 * What a stranger, or a broken proxy, may make of the event that was signed. docs/attacks.md G10 has more rows in
 * tests/billing/reversals (other secrets, none, no JSON, too late) and tests/billing/stripe (again, in another order).
 */
const FORGED: Record<string, (event: Sent) => Sent> = {
  'with an empty signature': ({ payload }) => ({ payload, headers: { 'stripe-signature': '' } }),
  'with another amount than was signed': ({ payload, headers }) => ({
    ...{ payload: payload.replace('"amount_total":500', '"amount_total":900'), headers },
  }),
  'with one more space than was signed': ({ payload, headers }) => ({ payload: `${payload} `, headers }),
  'with a signature of another scheme': ({ payload, headers }) => ({
    ...{ payload, headers: { 'stripe-signature': headers['stripe-signature']!.replace('v1=', 'v0=') } },
  }),
  'with a credential instead of a signature': ({ payload }) => ({
    ...{ payload, headers: { authorization: `Bearer ${people.secrets.k1}` } },
  }),
}

describe('G10 the payment webhook', () => {
  test.each(Object.entries(FORGED))('refuses an event %s, and nothing is credited', async (_what, forge) => {
    const ada = await buyer()
    const { payload, headers } = forge(await paid(ada.id))
    const response = await deliver(payload, headers)
    expect({ status: response.status, body: await response.json() }).toMatchObject({
      ...{ status: 400, body: { error: { code: 'validation_error' } } },
    })
    expect(await ada.cents()).toBe(0)
  })

  test('of a size nobody needs is 413, and of another form 415', async () => {
    expect((await deliver(`"${'x'.repeat(1_100_000)}"`, { 'stripe-signature': 't=1,v1=0' })).status).toBe(413)
    expect((await deliver('<x/>', { 'content-type': 'text/xml' })).status).toBe(415)
  })
})

test('G17 purchases that come in while credit is spent are neither lost nor doubled', async () => {
  const ada = await buyer()
  const events = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const { body } = await target.send('POST', 'billing/checkout', { key: ada.key, body: { amount_cents: 500 } })
      return paid(body.checkout_id)
    }),
  )
  const calls = Array.from({ length: 40 }, (_, n) =>
    target.send('POST', 'completions', { key: ada.key, body: { prompt: `both ${n}`, mode: 'fast' } }),
  )
  await Promise.all([...events, ...events].map(({ payload, headers }) => deliver(payload, headers)))
  const spent = (await Promise.all(calls)).reduce((sum, { body }) => sum + (body.usage?.cost_cents ?? 0), 0)
  expect(await ada.cents()).toBeCloseTo(5_000 - spent, 9)
  expect((await target.ops('POST', '/ops/v1/verify')).body.ok).toBe(true)
})

keepsItsPromises(target)
