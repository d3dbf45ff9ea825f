import { asc, desc, sql } from 'drizzle-orm'
import type { OwnerScope } from '../../kernel/caller'
import { rowsOf } from '../../kernel/rows'
import type { Reader } from '../../kernel/store'
import { PurchaseId } from './schema'
import { grantCodes, type PurchaseRow, paymentCustomers, paymentEvents, purchases } from './table'

/** Purchases. `add` returns false for a top-up while the owner has an open one. */
export const purchaseRows = rowsOf(purchases)

/** The processor's events. `add` returns false for one that was processed before. */
export const eventRows = rowsOf(paymentEvents)

export const customerRows = rowsOf(paymentCustomers)

export const codeRows = rowsOf(grantCodes)

type NewPurchase = Pick<PurchaseRow, 'owner' | 'kind' | 'provider' | 'amount_cents'> & Partial<PurchaseRow>

/** A new, unpaid purchase. */
export const newPurchase = (now: number, input: NewPurchase): PurchaseRow => ({
  id: PurchaseId.create(),
  user_id: null,
  state: 'open',
  session_ref: null,
  payment_ref: null,
  success_url: null,
  cancel_url: null,
  refunded_cents: 0,
  refunded_at: 0,
  disputed_cents: 0,
  disputed_at: 0,
  taken: 0,
  error: null,
  created_at: now,
  ended_at: null,
  ...input,
})

/** Paid purchases whose refunds and disputes exceed what could be taken out of the wallet. */
export const purchasesOwingRefunds = (db: Reader, owner: OwnerScope) =>
  purchaseRows.all(
    db,
    { owner, state: 'paid' },
    {
      also: (t) => sql`${t.taken} < (${t.refunded_cents} + ${t.disputed_cents}) * 1000000`,
      order: (t) => [asc(t.created_at)],
    },
  )

/** Newest first. */
export const recentPurchases = (
  db: Reader,
  where: { owner: OwnerScope; state: 'paid' } | { owner: OwnerScope; kind: 'top_up' },
  limit: number,
) => purchaseRows.all(db, where, { order: (t) => [desc(t.created_at), desc(t.id)], limit })
