import { defineId, type Id } from '../../kernel/ids'
import { oneOf, type Static, t } from '../../kernel/schema'
import { MAX_PURCHASE_CENTS, MIN_PURCHASE_CENTS, ScopeWord } from '../limits-schema'

export const PurchaseId = defineId('checkout')
export type PurchaseId = Id<'checkout'>

const ReturnUrl = t.String({
  minLength: 1,
  maxLength: 2048,
  description: 'Public http or https URL the browser returns to',
})

/** Body of `POST /billing/checkout` (docs/api.md 18.2). */
export const NewCheckout = t.Object(
  {
    amount_cents: t.Integer({ minimum: MIN_PURCHASE_CENTS, maximum: MAX_PURCHASE_CENTS }),
    scope: t.Optional(ScopeWord),
    success_url: t.Optional(ReturnUrl),
    cancel_url: t.Optional(ReturnUrl),
  },
  { $id: 'NewCheckout' },
)
export type NewCheckout = Static<typeof NewCheckout>

export const Checkout = t.Object(
  {
    checkout_url: t.String({ description: 'URL of the payment page to open in a browser' }),
    scope: oneOf(['user', 'org'] as const),
    checkout_id: PurchaseId.schema,
  },
  { $id: 'Checkout' },
)

/** Body of `POST /billing/portal` (docs/api.md 18.2). */
export const NewPortal = t.Object(
  { scope: t.Optional(ScopeWord), return_url: t.Optional(ReturnUrl) },
  { $id: 'NewPortal' },
)
export type NewPortal = Static<typeof NewPortal>

export const Portal = t.Object(
  { portal_url: t.String(), scope: oneOf(['user', 'org'] as const) },
  { $id: 'BillingPortal' },
)

export const Received = t.Object({ received: t.Literal(true) })
