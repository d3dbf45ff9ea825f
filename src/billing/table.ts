import { sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import type { KeyId } from '../kernel/ids'
import { defineClusteredTable, defineTable, defineView, type Kit, type Row } from '../kernel/store'

/** Money in micro-cents. `balance` is the sum of the ledger entries; `held` is the sum of the open holds. */
export const wallets = defineClusteredTable(
  'wallets',
  (k) => ({
    id: k.text('id').$type<OwnerScope>().primaryKey(),
    balance: k.int('balance').notNull(),
    held: k.int('held').notNull(),
    /** The owner has caps, so charges also count in the owner's `spend_days`. Set together with the limits. */
    capped: k.bool('capped').notNull(),
  }),
  (t, k) => [
    k.check('wallets_balance', sql`${t.balance} >= 0`),
    k.check('wallets_held', sql`${t.held} >= 0 AND ${t.held} <= ${t.balance}`),
  ],
)

export type HoldState = 'open' | 'settled' | 'released'

/** A reservation: open until it is settled or released, once. */
export const holds = defineClusteredTable(
  'holds',
  (k) => ({
    ref: k.text('ref').primaryKey(),
    wallet_id: k.text('wallet_id').$type<OwnerScope>().notNull(),
    key_id: k.text('key_id').$type<KeyId>(),
    /** The key had caps, so the amount is also counted in its `spend_days`. */
    capped: k.bool('capped').notNull(),
    amount: k.int('amount').notNull(),
    state: k.text('state').$type<HoldState>().notNull(),
    settled_amount: k.int('settled_amount').notNull(),
    /** The process that took the hold; holds of a dead process are released at boot. */
    node: k.text('node').notNull(),
    created_at: k.ms('created_at').notNull(),
    expires_at: k.ms('expires_at').notNull(),
  }),
  (t, k) => [
    k.index('holds_open').on(t.expires_at).where(sql`${t.state} = 'open'`),
    k.check('holds_amount', sql`${t.amount} > 0`),
    k.check('holds_settled', sql`${t.settled_amount} >= 0 AND ${t.settled_amount} <= ${t.amount}`),
  ],
)

const entryColumns = (k: Kit) => ({
  id: k.serial('id'),
  ref: k.text('ref').notNull(),
  kind: k.text('kind').notNull(),
  /** A wallet, or one of the server's own accounts: `revenue`, `issued`. */
  account: k.text('account').notNull(),
  amount: k.int('amount').notNull(),
  at: k.ms('at').notNull(),
  note: k.text('note'),
})

/**
 * Double entry, append-only by triggers of `drizzle/`: the entries of one (ref, kind) sum to zero. Calls have none: the
 * row of a call in `usage_records` is its posting.
 */
export const ledgerEntries = defineTable('ledger_entries', entryColumns, (t, k) => [
  k.uniqueIndex('ledger_entries_once').on(t.ref, t.kind, t.account),
  k.index('ledger_entries_by_account').on(t.account, t.at, t.id),
])

/**
 * All entries: those of `ledger_entries`, and two for each call that cost something. Both come from one number, so they
 * sum to zero. The id of a call's entries is that of its row plus 2^40.
 */
export const ledger = defineView('ledger', entryColumns)

/**
 * Credit that expires. Charges do not touch these rows: what was spent from a grant follows from how far the balance
 * has fallen below `seen_balance`, and is computed when credit moves otherwise or the grant expires. Micro-cents.
 */
export const expiringGrants = defineTable(
  'expiring_grants',
  (k) => ({
    /** The ledger reference of the grant. */
    ref: k.text('ref').primaryKey(),
    owner: k.text('owner').$type<OwnerScope>().notNull(),
    remaining: k.int('remaining').notNull(),
    seen_balance: k.int('seen_balance').notNull(),
    granted_at: k.ms('granted_at').notNull(),
    expires_at: k.ms('expires_at').notNull(),
    /** When to check the grant: at its expiry, and again later while calls hold some of it. */
    due_at: k.ms('due_at').notNull(),
    /** How many times part of the grant was taken; makes the ledger reference of each taking unique. */
    takings: k.int('takings').notNull(),
  }),
  (t, k) => [
    k.index('expiring_grants_by_owner').on(t.owner, t.expires_at).where(sql`${t.remaining} > 0`),
    k.index('expiring_grants_due').on(t.due_at).where(sql`${t.remaining} > 0`),
    k.check('expiring_grants_remaining', sql`${t.remaining} >= 0`),
  ],
)

/** An owner's billing limits; without a row the defaults of docs/api.md 1.9 apply. Whole cents. */
export const billingLimits = defineTable('billing_limits', (k) => ({
  owner: k.text('owner').$type<OwnerScope>().primaryKey(),
  daily_cap_cents: k.int('daily_cap_cents'),
  monthly_cap_cents: k.int('monthly_cap_cents'),
  low_balance_threshold_cents: k.int('low_balance_threshold_cents').notNull(),
  top_up_enabled: k.bool('top_up_enabled').notNull(),
  top_up_threshold_cents: k.int('top_up_threshold_cents'),
  top_up_amount_cents: k.int('top_up_amount_cents'),
  updated_at: k.ms('updated_at').notNull(),
}))

export type LimitsRow = Row<typeof billingLimits>
export type HoldRow = Row<typeof holds>
export type ExpiringGrantRow = Row<typeof expiringGrants>
export type LedgerRow = Row<typeof ledgerEntries>
