import type Stripe from 'stripe'
import type { Clock } from '../../kernel/clock'
import { trustedFetch } from '../../kernel/outbound'
import type { ChargeInput, ChargeResult, CheckoutInput, Payer, PaymentDriver } from './driver'
import { paymentErrors } from './errors'
import { toPaymentEvent } from './stripe-events'

type Deps = {
  clock: Clock
  secretKey: string
  webhookSecret: string
  /** Base URL of the processor's API; empty for the default. */
  baseUrl: string
}

type Client = { stripe: Stripe; errors: typeof Stripe.errors }

const TIMEOUT_MS = 10_000
const RETRIES = 2
/** A webhook signed longer ago than this is rejected as a replay. */
const TOLERANCE_S = 300
const PRODUCT = 'Credit'

/** The `stripe` driver: uses the official package for requests and for checking webhook signatures. */
export function createStripeDriver({ clock, secretKey, webhookSecret, baseUrl }: Deps): PaymentDriver {
  let client: Promise<Client> | null = null
  return { name: 'stripe', createCustomer, openCheckout, openPortal, charge, purchaseOf, readEvent }

  /** Loaded on first use, because most servers never sell anything. */
  function connect(): Promise<Client> {
    client ??= import('stripe').then(({ default: Package }) => {
      const url = baseUrl ? new URL(baseUrl) : null
      const host = url
        ? { protocol: url.protocol.slice(0, -1) as 'http' | 'https', host: url.hostname, port: url.port }
        : {}
      const httpClient = Package.createFetchHttpClient(trustedFetch as typeof fetch)
      const options = { httpClient, timeout: TIMEOUT_MS, maxNetworkRetries: RETRIES, telemetry: false, ...host }
      return { stripe: new Package(secretKey, options), errors: Package.errors }
    })
    return client
  }

  /** Throws 503 `service_unavailable` when the processor does not answer; other errors are bugs and pass through. */
  async function callStripe<T>(request: (client: Client) => Promise<T>): Promise<T> {
    const client = await connect()
    const { StripeConnectionError, StripeAPIError, StripeRateLimitError } = client.errors
    try {
      return await request(client)
    } catch (cause) {
      const isUnavailable = [StripeConnectionError, StripeAPIError, StripeRateLimitError].some(
        (kind) => cause instanceof kind,
      )
      throw isUnavailable ? paymentErrors.processorUnavailable.with({ cause }) : cause
    }
  }

  /** The idempotency key names the owner, so that two concurrent calls create one customer. */
  function createCustomer({ owner, email, name }: Payer): Promise<string> {
    return callStripe(async ({ stripe }) => {
      const input = { email, name, metadata: { owner } }
      return (await stripe.customers.create(input, { idempotencyKey: `svc-customer-${owner}` })).id
    })
  }

  async function openCheckout({ purchaseId, customer, amountCents, successUrl, cancelUrl }: CheckoutInput) {
    const metadata = { purchase_id: purchaseId }
    const open = ({ stripe }: Client) =>
      stripe.checkout.sessions.create(
        {
          mode: 'payment',
          ...(customer ? { customer } : {}),
          client_reference_id: purchaseId,
          metadata,
          line_items: [
            { quantity: 1, price_data: { currency: 'usd', unit_amount: amountCents, product_data: { name: PRODUCT } } },
          ],
          // Saved, so that automatic top-up can charge the method later; refunds and disputes carry the metadata too.
          payment_intent_data: { metadata, setup_future_usage: 'off_session' },
          success_url: successUrl,
          cancel_url: cancelUrl,
        },
        { idempotencyKey: `svc-checkout-${purchaseId}` },
      )
    const session = await callStripe(open)
    if (!session.url) throw new Error('the processor opened a checkout without an address')
    return { url: session.url, session: session.id }
  }

  async function openPortal(customer: string | null, returnUrl: string, needsMethod: boolean): Promise<string | null> {
    if (!customer) return null
    return callStripe(async ({ stripe }) => {
      if (needsMethod && !(await savedMethod(stripe, customer))) return null
      return (await stripe.billingPortal.sessions.create({ customer, return_url: returnUrl })).url
    })
  }

  async function charge(input: ChargeInput): Promise<ChargeResult> {
    return callStripe((client) => chargeSaved(client, input))
  }

  async function chargeSaved(
    { stripe, errors }: Client,
    { purchaseId, customer, amountCents }: ChargeInput,
  ): Promise<ChargeResult> {
    const method = await savedMethod(stripe, customer)
    if (!method) return { state: 'failed', payment: null, error: 'There is no saved payment method.' }
    try {
      const intent = await stripe.paymentIntents.create(
        {
          amount: amountCents,
          currency: 'usd',
          customer,
          payment_method: method,
          off_session: true,
          confirm: true,
          metadata: { purchase_id: purchaseId },
        },
        { idempotencyKey: `svc-top-up-${purchaseId}` },
      )
      if (intent.status === 'succeeded') return { state: 'paid', payment: intent.id }
      if (intent.status === 'processing') return { state: 'pending', payment: intent.id }
      return {
        state: 'failed',
        payment: intent.id,
        error: 'The payment method needs its owner to confirm the payment.',
      }
    } catch (error) {
      if (error instanceof errors.StripeCardError)
        return {
          state: 'failed',
          payment: null,
          error:
            error.code === 'authentication_required'
              ? 'The payment method needs its owner to confirm the payment.'
              : 'The payment method was declined.',
        }
      if (error instanceof errors.StripeInvalidRequestError) {
        return { state: 'failed', payment: null, error: 'The saved payment method cannot be charged any more.' }
      }
      throw error
    }
  }

  /** A dispute names only its payment; the payment's metadata names the purchase. Throws 503. */
  async function purchaseOf(payment: string): Promise<string | null> {
    return callStripe(async ({ stripe, errors }) => {
      try {
        return (await stripe.paymentIntents.retrieve(payment)).metadata.purchase_id ?? null
      } catch (error) {
        if (error instanceof errors.StripeInvalidRequestError) return null
        throw error
      }
    })
  }

  async function readEvent(body: Uint8Array, signature: string | null) {
    if (!signature || !webhookSecret) return null
    const { stripe, errors } = await connect()
    try {
      const text = new TextDecoder().decode(body)
      const { webhooks } = stripe
      const event = await webhooks.constructEventAsync(
        ...([text, signature, webhookSecret, TOLERANCE_S, undefined, clock.now()] as const),
      )
      return toPaymentEvent(event)
    } catch (error) {
      if (error instanceof errors.StripeSignatureVerificationError || error instanceof SyntaxError) return null
      throw error
    }
  }
}

async function savedMethod(stripe: Stripe, customer: string): Promise<string | null> {
  const { data } = await stripe.customers.listPaymentMethods(customer, { limit: 1 })
  return data[0]?.id ?? null
}
