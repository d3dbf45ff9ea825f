import { and, asc, desc, eq, gt, isNull, sql } from 'drizzle-orm'
import type { OwnerScope } from '../../kernel/caller'
import { allOf, command, counted, query, someOf } from '../../kernel/store'
import type { PurchaseId } from './schema'
import { type GrantCodeRow, grantCodes, type PurchaseRow, paymentCustomers, paymentEvents, purchases } from './table'

/** Inserts a purchase; does nothing when it is a top-up and the owner already has one open. */
export const insertPurchase = command<PurchaseRow>()((tx, p) => {
  const t = tx.of(purchases)
  return tx.insert(t).values(allOf(t, p)).onConflictDoNothing().returning({ id: t.id })
})

export const purchaseById = query<{ id: PurchaseId }>()((db, p) => {
  const t = db.of(purchases)
  return db.select().from(t).where(eq(t.id, p.id))
})

export const purchaseByPayment = query<{ payment: string }>()((db, p) => {
  const t = db.of(purchases)
  return db
    .select({ id: t.id })
    .from(t)
    .where(eq(t.payment_ref, sql`${p.payment}`))
    .limit(1)
})

/** Reads a purchase and locks it until the transaction ends. */
export const lockPurchase = command<{ id: PurchaseId }>()((tx, p) => {
  const t = tx.of(purchases)
  return tx
    .update(t)
    .set({ taken: sql`${t.taken}` })
    .where(eq(t.id, p.id))
    .returning()
})

/** The columns of a purchase that change. */
const CHANGING = [
  'state',
  'session_ref',
  'payment_ref',
  'refunded_cents',
  'refunded_at',
  'disputed_cents',
  'disputed_at',
  'taken',
  'error',
  'ended_at',
] as const

export const savePurchase = command<Pick<PurchaseRow, 'id' | (typeof CHANGING)[number]>>()((tx, p) => {
  const t = tx.of(purchases)
  return tx.update(t).set(someOf(p, CHANGING)).where(eq(t.id, p.id))
})

/** Ends the unpaid purchases of an owner. */
export const endOpenPurchases = command<{ owner: OwnerScope; error: string; now: number }>()((tx, p) => {
  const t = tx.of(purchases)
  return tx
    .update(t)
    .set({ state: 'expired', error: sql`${p.error}`, ended_at: sql`${p.now}` })
    .where(and(eq(t.owner, p.owner), sql`${t.state} = 'open'`))
})

/** Paid purchases whose refunds and disputes exceed what could be taken out of the wallet. */
export const purchasesOwingRefunds = query<{ owner: OwnerScope }>()((db, p) => {
  const t = db.of(purchases)
  const due = sql`(${t.refunded_cents} + ${t.disputed_cents}) * 1000000`
  return db
    .select({ id: t.id })
    .from(t)
    .where(and(eq(t.owner, p.owner), sql`${t.state} = 'paid'`, sql`${t.taken} < ${due}`))
    .orderBy(asc(t.created_at))
})

export const newestTopUp = query<{ owner: OwnerScope }>()((db, p) => {
  const t = db.of(purchases)
  return db
    .select({ state: t.state, error: t.error })
    .from(t)
    .where(and(eq(t.owner, p.owner), sql`${t.kind} = 'top_up'`))
    .orderBy(desc(t.created_at), desc(t.id))
    .limit(1)
})

export const recentPurchases = query<{ owner: OwnerScope; limit: number }>()((db, p) => {
  const t = db.of(purchases)
  return db
    .select()
    .from(t)
    .where(and(eq(t.owner, p.owner), sql`${t.state} = 'paid'`))
    .orderBy(desc(t.created_at), desc(t.id))
    .limit(p.limit)
})

/** Returns nothing when the event had been processed before. */
export const insertPaymentEvent = command<{ id: string; type: string; at: number }>()((tx, p) => {
  const t = tx.of(paymentEvents)
  return tx.insert(t).values({ id: p.id, type: p.type, at: p.at }).onConflictDoNothing().returning({ id: t.id })
})

export const customerOf = query<{ owner: OwnerScope; provider: string }>()((db, p) => {
  const t = db.of(paymentCustomers)
  return db
    .select({ customer: t.customer })
    .from(t)
    .where(and(eq(t.owner, p.owner), eq(t.provider, p.provider)))
})

export const insertCustomer = command<{ owner: OwnerScope; provider: string; customer: string }>()((tx, p) =>
  tx
    .insert(tx.of(paymentCustomers))
    .values({ owner: p.owner, provider: p.provider, customer: p.customer })
    .onConflictDoNothing(),
)

export const insertCode = command<GrantCodeRow>()((tx, p) =>
  tx.insert(tx.of(grantCodes)).values(allOf(tx.of(grantCodes), p)),
)

export const codeByHash = query<{ hash: string }>()((db, p) => {
  const t = db.of(grantCodes)
  return db.select().from(t).where(eq(t.hash, p.hash))
})

/** Marks a code as used; 0 rows when it was used already. */
export const useCode = counted<{ hash: string; now: number; used_for: PurchaseId }>()((tx, p) => {
  const t = tx.of(grantCodes)
  return tx
    .update(t)
    .set({ used_at: sql`${p.now}`, used_for: sql`${p.used_for}` })
    .where(and(eq(t.hash, p.hash), isNull(t.used_at), gt(t.expires_at, p.now)))
})
