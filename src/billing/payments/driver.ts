import type { OwnerScope } from '../../kernel/caller'
import type { PurchaseId } from './schema'

/** The payer as a receipt names them. */
export type Payer = { owner: OwnerScope; email: string; name: string }

export type CheckoutInput = {
  purchaseId: PurchaseId
  customer: string | null
  amountCents: number
  /** Where the browser goes afterwards; absolute and already validated. */
  successUrl: string
  cancelUrl: string
}

/** `url` is the page to pay at; `session` is the processor's id of the checkout. */
type OpenCheckout = { url: string; session: string | null }

export type ChargeInput = { purchaseId: PurchaseId; customer: string; amountCents: number }

/** `pending`: the outcome will arrive as an event. */
export type ChargeResult =
  | { state: 'paid'; payment: string }
  | { state: 'pending'; payment: string }
  | { state: 'failed'; payment: string | null; error: string }

/** What a processor's event says. Events may arrive repeatedly and in any order. */
export type PaymentEventContent =
  | {
      about: 'payment'
      purchaseId: string
      session: string | null
      payment: string | null
      state: 'paid' | 'failed' | 'expired'
      amountCents: number
      currency: string
      error: string | null
    }
  /** `cents` is the total refunded, or withdrawn by a dispute, so far. */
  | { about: 'refund' | 'dispute'; purchaseId: string | null; payment: string | null; cents: number }
  | { about: 'nothing' }

export type PaymentEvent = PaymentEventContent & {
  id: string
  type: string
  /** Epoch ms. */
  at: number
}

/** The interface to a payment processor. Methods throw when the processor does not answer. Money is whole US cents. */
export type PaymentDriver = {
  readonly name: 'stripe' | 'manual'
  /** Creates the processor's customer for an owner; null when the driver keeps none. */
  createCustomer(payer: Payer): Promise<string | null>
  openCheckout(input: CheckoutInput): Promise<OpenCheckout>
  /** The processor's own billing page of an owner; null when nothing has been set up yet. */
  openPortal(customer: string | null, returnUrl: string, needsMethod: boolean): Promise<string | null>
  /** Charges the saved payment method without the payer present; null when the driver cannot do that. */
  charge: ((input: ChargeInput) => Promise<ChargeResult>) | null
  /**
   * The purchase a payment is for, from the metadata the processor keeps; null when it is not one of ours or the
   * processor does not know the payment, so that asking again would not help.
   */
  purchaseOf(payment: string): Promise<string | null>
  /** Verifies the signature over the raw bytes and reads the event; null when the signature is wrong. */
  readEvent(body: Uint8Array, signature: string | null): Promise<PaymentEvent | null>
}
