import { defineId, type Id } from '../../kernel/ids'
import { namedObject, oneOf, type Static, t } from '../../kernel/schema'
import { MAX_PURCHASE_CENTS, MIN_PURCHASE_CENTS, ScopeWord } from '../limits-schema'

export const PurchaseId = defineId('checkout')
export type PurchaseId = Id<'checkout'>

const ReturnUrl = t.String({
  minLength: 1,
  maxLength: 2048,
  description: 'Public http or https URL the browser returns to',
})

/** Body of `POST /billing/checkout` (docs/api.md 18.2). */
export const NewCheckout = namedObject('NewCheckout', {
  amount_cents: t.Integer({ minimum: MIN_PURCHASE_CENTS, maximum: MAX_PURCHASE_CENTS }),
  scope: t.Optional(ScopeWord),
  success_url: t.Optional(ReturnUrl),
  cancel_url: t.Optional(ReturnUrl),
})
export type NewCheckout = Static<typeof NewCheckout>

export const Checkout = namedObject('Checkout', {
  checkout_url: t.String({ description: 'URL of the payment page to open in a browser' }),
  scope: oneOf(['user', 'org'] as const),
  checkout_id: PurchaseId.schema,
})

/** Body of `POST /billing/portal` (docs/api.md 18.2). */
export const NewPortal = namedObject('NewPortal', { scope: t.Optional(ScopeWord), return_url: t.Optional(ReturnUrl) })
export type NewPortal = Static<typeof NewPortal>

export const Portal = namedObject('BillingPortal', { portal_url: t.String(), scope: oneOf(['user', 'org'] as const) })

export const Received = t.Object({ received: t.Literal(true) })
