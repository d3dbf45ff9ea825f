import { afterAll, describe, expect, test } from 'bun:test'
import { charge, session, startStripe } from '../support/stripe'
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
const signed = async (type: string, object: object, more: object = {}) => {
  const { payload, signature } = await stripe.event(type, object, more)
  return { payload, headers: { 'stripe-signature': signature } }
}

/** Someone with nothing, and a checkout of 500 cents that waits to be paid. */
async function buyer() {
  const person = await people.newcomer()
  const { body } = await target.send('POST', 'billing/checkout', { key: person.key, body: { amount_cents: 500 } })
  const id = body.checkout_id as string
  const paid = () => signed('checkout.session.completed', session(id, 500))
  return { ...person, id, paid, cents: async () => (await target.moneyOf(person.email)).balance }
}

const MINUTES = 60_000

/** What a stranger, or a broken proxy, may send instead of the event. */
const FORGED: Record<string, (id: string) => Promise<{ payload: string; headers: Record<string, string> }>> = {
  'without a signature': async (id) => ({
    ...(await signed('checkout.session.completed', session(id, 500))),
    headers: {},
  }),
  'with an empty signature': async (id) => ({
    ...(await signed('checkout.session.completed', session(id, 500))),
    headers: { 'stripe-signature': '' },
  }),
  'signed with another secret': (id) =>
    signed('checkout.session.completed', session(id, 500), { secret: 'whsec_other' }),
  'with another amount than was signed': async (id) => {
    const { payload, headers } = await signed('checkout.session.completed', session(id, 500))
    return { payload: payload.replace('"amount_total":500', '"amount_total":900'), headers }
  },
  'with one more space than was signed': async (id) => {
    const { payload, headers } = await signed('checkout.session.completed', session(id, 500))
    return { payload: `${payload} `, headers }
  },
  'signed six minutes ago': (id) =>
    signed('checkout.session.completed', session(id, 500), { signedAt: Date.now() - 6 * MINUTES }),
  'with a signature of another scheme': async (id) => {
    const { payload, headers } = await signed('checkout.session.completed', session(id, 500))
    return { payload, headers: { 'stripe-signature': headers['stripe-signature'].replace('v1=', 'v0=') } }
  },
  'that is not JSON': async () => ({ payload: '{"id":', headers: { 'stripe-signature': 't=1,v1=00' } }),
  'with a credential instead of a signature': async (id) => ({
    ...(await signed('checkout.session.completed', session(id, 500))),
    headers: { authorization: `Bearer ${people.secrets.k1}` },
  }),
}

describe('G10 the payment webhook', () => {
  test.each(Object.entries(FORGED))('refuses an event %s, and nothing is credited', async (_what, forge) => {
    const ada = await buyer()
    const { payload, headers } = await forge(ada.id)
    const response = await deliver(payload, headers)
    const body = (await response.json()) as { error: { code: string } }
    expect({ status: response.status, code: body.error.code }).toEqual({ status: 400, code: 'validation_error' })
    expect(await ada.cents()).toBe(0)
  })

  test('credits a hundred deliveries of one event once', async () => {
    const ada = await buyer()
    const { payload, headers } = await ada.paid()
    const replies = await Promise.all(Array.from({ length: 100 }, () => deliver(payload, headers)))
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(100)
    expect(await ada.cents()).toBe(500)
  })

  test('credits a checkout once, whatever number of events say that it is paid', async () => {
    const ada = await buyer()
    for (let notice = 0; notice < 5; notice++) {
      const { payload, headers } = await ada.paid()
      expect((await deliver(payload, headers)).status).toBe(200)
    }
    expect(await ada.cents()).toBe(500)
  })

  test('comes to the same when the events come the wrong way round', async () => {
    const ada = await buyer()
    const back = await signed('charge.refunded', charge(ada.id, 200))
    const paid = await ada.paid()
    for (const { payload, headers } of [back, paid, back]) expect((await deliver(payload, headers)).status).toBe(200)
    expect(await ada.cents()).toBe(300)
  })

  test('of a size nobody needs is 413, and of another form 415', async () => {
    expect((await deliver(`"${'x'.repeat(1_100_000)}"`, { 'stripe-signature': 't=1,v1=0' })).status).toBe(413)
    expect((await deliver('<x/>', { 'content-type': 'text/xml' })).status).toBe(415)
  })
})

test('G17 purchases that come in while credit is spent are neither lost nor doubled', async () => {
  const ada = await buyer()
  const more = await Promise.all(
    Array.from({ length: 10 }, () =>
      target.send('POST', 'billing/checkout', { key: ada.key, body: { amount_cents: 500 } }),
    ),
  )
  const events = await Promise.all(
    more.map(({ body }) => signed('checkout.session.completed', session(body.checkout_id, 500))),
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
