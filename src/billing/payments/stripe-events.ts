import type Stripe from 'stripe'
import type { PaymentEvent, PaymentEventContent } from './driver'

/** Disputes in these states withdraw no money: won or prevented ones, and inquiries (`warning_…`). */
const NOT_WITHDRAWN = /^(won|prevented|warning_)/

/** Translates a Stripe event; events that are not used become `about: 'nothing'`. */
export const toPaymentEvent = (event: Stripe.Event): PaymentEvent => ({
  id: event.id,
  type: event.type,
  at: event.created * 1000,
  ...contentOf(event),
})

function contentOf(event: Stripe.Event): PaymentEventContent {
  switch (event.type) {
    case 'checkout.session.completed':
      // Some payment methods pay days later; then this event only says that the form was sent.
      return event.data.object.payment_status === 'paid' ? ofSession(event.data.object, 'paid') : { about: 'nothing' }
    case 'checkout.session.async_payment_succeeded':
      return ofSession(event.data.object, 'paid')
    case 'checkout.session.async_payment_failed':
      return ofSession(event.data.object, 'failed')
    case 'checkout.session.expired':
      return ofSession(event.data.object, 'expired')
    case 'payment_intent.succeeded':
      return ofIntent(event.data.object, 'paid')
    case 'charge.refunded': {
      const { metadata, payment_intent, amount_refunded } = event.data.object
      return {
        about: 'refund',
        purchaseId: purchaseOf(metadata),
        payment: idOf(payment_intent),
        cents: amount_refunded,
      }
    }
    case 'charge.dispute.created':
    case 'charge.dispute.updated':
    case 'charge.dispute.closed':
    case 'charge.dispute.funds_withdrawn':
    case 'charge.dispute.funds_reinstated': {
      const { metadata, payment_intent, amount, status } = event.data.object
      const cents = NOT_WITHDRAWN.test(status) ? 0 : amount
      return { about: 'dispute', purchaseId: purchaseOf(metadata), payment: idOf(payment_intent), cents }
    }
    default:
      return { about: 'nothing' }
  }
}

function ofSession(session: Stripe.Checkout.Session, state: 'paid' | 'failed' | 'expired'): PaymentEventContent {
  const purchaseId = purchaseOf(session.metadata)
  if (!purchaseId) return { about: 'nothing' }
  return {
    about: 'payment',
    purchaseId,
    session: session.id,
    payment: idOf(session.payment_intent),
    state,
    amountCents: session.amount_total ?? 0,
    currency: session.currency ?? '',
    error: state === 'failed' ? 'The payment did not go through.' : null,
  }
}

function ofIntent(intent: Stripe.PaymentIntent, state: 'paid'): PaymentEventContent {
  const purchaseId = purchaseOf(intent.metadata)
  if (!purchaseId) return { about: 'nothing' }
  const { id, amount_received, currency } = intent
  return {
    about: 'payment',
    purchaseId,
    session: null,
    payment: id,
    state,
    amountCents: amount_received,
    currency,
    error: null,
  }
}

const purchaseOf = (metadata: Stripe.Metadata | null): string | null => metadata?.purchase_id ?? null

const idOf = (reference: string | { id: string } | null): string | null =>
  typeof reference === 'string' ? reference : (reference?.id ?? null)
