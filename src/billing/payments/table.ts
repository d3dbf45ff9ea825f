import { sql } from 'drizzle-orm'
import type { OwnerScope } from '../../kernel/caller'
import type { UserId } from '../../kernel/ids'
import { defineTable, type Row } from '../../kernel/store'
import type { PurchaseId } from './schema'

/**
 * A purchase of credit, at a checkout or by an automatic top-up. Events about it may arrive in any order, so the row
 * stores the facts and the ledger is adjusted to them.
 */
export const purchases = defineTable(
  'purchases',
  (k) => ({
    id: k.text('id').$type<PurchaseId>().primaryKey(),
    owner: k.text('owner').$type<OwnerScope>().notNull(),
    /** The buyer; null for a top-up. */
    user_id: k.text('user_id').$type<UserId>(),
    kind: k.text('kind').$type<'checkout' | 'top_up'>().notNull(),
    provider: k.text('provider').notNull(),
    amount_cents: k.int('amount_cents').notNull(),
    state: k.text('state').$type<'open' | 'paid' | 'failed' | 'expired'>().notNull(),
    /** The processor's ids of the checkout and of the payment. */
    session_ref: k.text('session_ref'),
    payment_ref: k.text('payment_ref'),
    success_url: k.text('success_url'),
    cancel_url: k.text('cancel_url'),
    /** Total refunded so far, and the time of the event that said so. */
    refunded_cents: k.int('refunded_cents').notNull(),
    refunded_at: k.ms('refunded_at').notNull(),
    /** Total withdrawn by open or lost disputes. */
    disputed_cents: k.int('disputed_cents').notNull(),
    disputed_at: k.ms('disputed_at').notNull(),
    /** Micro-cents of both already taken out of the wallet; less than the total when the credit had been spent. */
    taken: k.int('taken').notNull(),
    error: k.text('error'),
    created_at: k.ms('created_at').notNull(),
    ended_at: k.ms('ended_at'),
  }),
  (t, k) => [
    k.index('purchases_by_owner').on(t.owner, t.created_at),
    k.index('purchases_by_payment').on(t.payment_ref),
    // At most one open top-up per owner.
    k.uniqueIndex('purchases_one_top_up').on(t.owner).where(sql`${t.kind} = 'top_up' AND ${t.state} = 'open'`),
    k.check('purchases_amount', sql`${t.amount_cents} > 0`),
  ],
)

/** The processor's customer id of an owner. */
export const paymentCustomers = defineTable(
  'payment_customers',
  (k) => ({
    owner: k.text('owner').$type<OwnerScope>().notNull(),
    provider: k.text('provider').notNull(),
    customer: k.text('customer').notNull(),
  }),
  (t, k) => [k.primaryKey({ columns: [t.owner, t.provider] })],
)

/** Processed events of the processor; each counts once (docs/api.md 18.2). */
export const paymentEvents = defineTable('payment_events', (k) => ({
  id: k.text('id').primaryKey(),
  type: k.text('type').notNull(),
  at: k.ms('at').notNull(),
}))

/** Codes an operator hands out when there is no processor. Only the SHA-256 is stored; each works once. */
export const grantCodes = defineTable('grant_codes', (k) => ({
  hash: k.text('hash').primaryKey(),
  amount_cents: k.int('amount_cents').notNull(),
  note: k.text('note'),
  created_at: k.ms('created_at').notNull(),
  expires_at: k.ms('expires_at').notNull(),
  used_at: k.ms('used_at'),
  used_for: k.text('used_for').$type<PurchaseId>(),
}))

export type PurchaseRow = Row<typeof purchases>
