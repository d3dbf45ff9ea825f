import type { OwnerScope } from '../../kernel/caller'
import type { UserId } from '../../kernel/ids'
import { PurchaseId } from './schema'
import type { PurchaseKind, PurchaseRow } from './table'

type Input = {
  owner: OwnerScope
  kind: PurchaseKind
  provider: string
  amountCents: number
  userId?: UserId
  successUrl?: string | null
  cancelUrl?: string | null
}

/** A new, unpaid purchase. */
export const newPurchase = (now: number, input: Input): PurchaseRow => ({
  id: PurchaseId.create(),
  owner: input.owner,
  user_id: input.userId ?? null,
  kind: input.kind,
  provider: input.provider,
  amount_cents: input.amountCents,
  state: 'open',
  session_ref: null,
  payment_ref: null,
  success_url: input.successUrl ?? null,
  cancel_url: input.cancelUrl ?? null,
  refunded_cents: 0,
  refunded_at: 0,
  disputed_cents: 0,
  disputed_at: 0,
  taken: 0,
  error: null,
  created_at: now,
  ended_at: null,
})
