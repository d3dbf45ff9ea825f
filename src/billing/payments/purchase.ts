import type { OwnerScope } from '../../kernel/caller'
import type { UserId } from '../../kernel/ids'
import { PurchaseId } from './schema'
import type { PurchaseKind, PurchaseRow } from './table'

type Order = {
  owner: OwnerScope
  kind: PurchaseKind
  provider: string
  amountCents: number
  userId?: UserId
  successUrl?: string | null
  cancelUrl?: string | null
}

/** A new, unpaid purchase. */
export const newPurchase = (now: number, order: Order): PurchaseRow => ({
  id: PurchaseId.create(),
  owner: order.owner,
  user_id: order.userId ?? null,
  kind: order.kind,
  provider: order.provider,
  amount_cents: order.amountCents,
  state: 'open',
  session_ref: null,
  payment_ref: null,
  success_url: order.successUrl ?? null,
  cancel_url: order.cancelUrl ?? null,
  refunded_cents: 0,
  refunded_at: 0,
  disputed_cents: 0,
  disputed_at: 0,
  taken: 0,
  error: null,
  created_at: now,
  ended_at: null,
})
