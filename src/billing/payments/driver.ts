import type { OwnerScope } from '../../kernel/caller'
import type { PurchaseId } from './schema'

/** Who pays, in the words a receipt needs. */
export type Payer = { owner: OwnerScope; email: string; name: string }

export type CheckoutOrder = {
  purchaseId: PurchaseId
  customer: string | null
  amountCents: number
  /** Where the browser goes afterwards; absolute, checked. */
  successUrl: string
  cancelUrl: string
}

/** `url` is where the browser goes to pay; `session` is the processor's name for it. */
export type OpenCheckout = { url: string; session: string | null }

export type ChargeOrder = { purchaseId: PurchaseId; customer: string; amountCents: number }

/** `pending` will be told by an event. */
export type ChargeResult =
  | { state: 'paid'; payment: string }
  | { state: 'pending'; payment: string }
  | { state: 'failed'; payment: string | null; error: string }

/** What a processor says, in our words. Events come more than once and in any order. */
export type PaymentFact =
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
  /** `cents` is all that is paid back, or withdrawn by a dispute, so far. */
  | { about: 'refund' | 'dispute'; purchaseId: string | null; payment: string | null; cents: number }
  | { about: 'nothing' }

export type PaymentEvent = PaymentFact & {
  id: string
  type: string
  /** Epoch ms. */
  at: number
}

/**
 * The payment seam: whoever takes the money. A method that the processor does not answer throws; nothing
 * else does. Money is whole cents of US dollars.
 */
export type PaymentDriver = {
  readonly name: 'stripe' | 'manual'
  /** Makes the processor's record of an owner; null where none is kept. */
  createCustomer(payer: Payer): Promise<string | null>
  openCheckout(order: CheckoutOrder): Promise<OpenCheckout>
  /** The processor's own page for an owner; null where nothing was set up yet. */
  openPortal(customer: string | null, returnUrl: string, needsMethod: boolean): Promise<string | null>
  /** Charges the saved payment method with nobody present; null where that cannot be done. */
  charge: ((order: ChargeOrder) => Promise<ChargeResult>) | null
  /**
   * The purchase a payment is for, by what the processor keeps with it; null where that is none of ours, or
   * the processor knows no such payment, so that asking again would not help.
   */
  purchaseOf(payment: string): Promise<string | null>
  /** Checks the signature over the bytes as they came and reads the event; null when it is not the processor's. */
  readEvent(body: Uint8Array, signature: string | null): Promise<PaymentEvent | null>
}
