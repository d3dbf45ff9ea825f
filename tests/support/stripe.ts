import Stripe from 'stripe'

type Params = Record<string, string>
type Question = { method: string; path: string; params: Params; key: string | null }
/** The fault that the next request of a path gets: an error status, or a cut connection. */
type Fault = { status: number; error?: Record<string, unknown>; headers?: Record<string, string> }

export type ScriptedStripe = ReturnType<typeof startStripe>

const WEBHOOK_SECRET = 'whsec_scripted'

/**
 * A fake payment processor on loopback: implements the part of the real API that the driver uses, remembers idempotency
 * keys, and signs events with the official package.
 */
export function startStripe() {
  const requests: Question[] = []
  const remembered = new Map<string, Response>()
  const faults = new Map<string, Fault[]>()
  const methods = new Map<string, string>()
  const outcomes: string[] = []
  let made = 0
  let lastCustomer = ''
  const next = (prefix: string) => `${prefix}_${String(++made).padStart(6, '0')}`

  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 0, fetch: answer })

  return {
    url: `http://127.0.0.1:${server.port}`,
    webhookSecret: WEBHOOK_SECRET,
    asked: requests,
    of: (path: string) => requests.filter((each) => each.path === path),
    /** Answers the next `count` requests of a path with a fault. */
    fail(path: string, fault: Fault, count = 1): void {
      faults.set(path, [...(faults.get(path) ?? []), ...Array.from({ length: count }, () => fault)])
    },
    /** The next charge ends in this status instead of `succeeded`. */
    chargeEndsAs: (status: string) => void outcomes.push(status),
    /** The customer created last. */
    newestCustomer: () => lastCustomer,
    saveMethod: (customer: string, method = 'pm_card') => void methods.set(customer, method),
    /** A signed event: its body and its signature header. */
    async event(
      type: string,
      object: object,
      more: { id?: string; at?: number; signedAt?: number; secret?: string } = {},
    ) {
      const { at = Date.now(), secret = WEBHOOK_SECRET } = more
      const created = Math.floor(at / 1000)
      const body = {
        id: more.id ?? next('evt'),
        object: 'event',
        api_version: '2026-01-01',
        type,
        created,
        data: { object },
      }
      const payload = JSON.stringify(body)
      const timestamp = Math.floor((more.signedAt ?? at) / 1000)
      const signature = await webhooks.generateTestHeaderStringAsync({ payload, secret, timestamp })
      return { id: body.id, payload, signature }
    },
    stop: () => server.stop(true),
  }

  async function answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    const params = Object.fromEntries(new URLSearchParams(await request.text()))
    const key = request.headers.get('idempotency-key')
    requests.push({ method: request.method, path: pathname, params, key })
    const [fault] = faults.get(pathname)?.splice(0, 1) ?? []
    if (fault) return Response.json({ error: { type: 'api_error', message: 'scripted', ...fault.error } }, fault)
    const known = key ? remembered.get(key) : undefined
    if (known) return known.clone()
    const response = Response.json(resource(request.method, pathname, params))
    if (key) remembered.set(key, response.clone())
    return response
  }

  function resource(method: string, path: string, params: Params): object {
    if (path === '/v1/customers') {
      lastCustomer = next('cus')
      return { id: lastCustomer, object: 'customer' }
    }
    if (path === '/v1/checkout/sessions') {
      const id = next('cs')
      return { id, object: 'checkout.session', url: `https://pay.example.com/c/${id}`, amount_total: amountOf(params) }
    }
    if (path === '/v1/billing_portal/sessions') {
      return { id: next('bps'), object: 'billing_portal.session', url: `https://pay.example.com/p/${params.customer}` }
    }
    if (path === '/v1/payment_intents') {
      return {
        id: next('pi'),
        object: 'payment_intent',
        status: outcomes.shift() ?? 'succeeded',
        amount: Number(params.amount),
      }
    }
    const [, purchase] = /^\/v1\/payment_intents\/pi_of_(\S+)$/.exec(path) ?? []
    if (purchase) return { id: `pi_of_${purchase}`, object: 'payment_intent', metadata: { purchase_id: purchase } }
    const [, customer] = /^\/v1\/customers\/(\w+)\/payment_methods$/.exec(path) ?? []
    if (customer && method === 'GET') {
      const saved = methods.get(customer)
      return { object: 'list', has_more: false, data: saved ? [{ id: saved, object: 'payment_method' }] : [] }
    }
    throw new Error(`the scripted processor does not know ${method} ${path}`)
  }
}

const { webhooks } = new Stripe('sk_test_scripted')
const amountOf = (params: Params) => Number(params['line_items[0][price_data][unit_amount]'])

/** The checkout session of a purchase, as it appears in an event. */
export const session = (purchaseId: string, cents: number, more: object = {}) => ({
  id: `cs_of_${purchaseId}`,
  object: 'checkout.session',
  client_reference_id: purchaseId,
  metadata: { purchase_id: purchaseId },
  payment_intent: `pi_of_${purchaseId}`,
  payment_status: 'paid',
  amount_total: cents,
  currency: 'usd',
  ...more,
})

/** The charge of a purchase after `refunded` cents were refunded. */
export const charge = (purchaseId: string, refunded: number) => ({
  id: `ch_of_${purchaseId}`,
  object: 'charge',
  metadata: {},
  payment_intent: `pi_of_${purchaseId}`,
  amount_refunded: refunded,
})

export const dispute = (purchaseId: string, cents: number, status: string) => ({
  id: `dp_of_${purchaseId}`,
  object: 'dispute',
  metadata: {},
  payment_intent: `pi_of_${purchaseId}`,
  amount: cents,
  status,
})
