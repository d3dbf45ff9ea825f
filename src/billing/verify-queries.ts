import { and, asc, eq, gt, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import { command, query } from '../kernel/store'
import { holds, ledgerEntries, wallets } from './table'

/** Ledger entries in the order they were written, each with the hold its charge belongs to. */
export const entriesFrom = query<{ after: number; limit: number }>()((db, p) => {
  const [e, h] = [db.of(ledgerEntries), db.of(holds)]
  return db
    .select({ id: e.id, ref: e.ref, kind: e.kind, account: e.account, amount: e.amount, hold: h.ref })
    .from(e)
    .leftJoin(h, eq(h.ref, e.ref))
    .where(gt(e.id, p.after))
    .orderBy(asc(e.id))
    .limit(p.limit)
})

export const movementSum = query<{ ref: string; kind: string }>()((db, p) => {
  const e = db.of(ledgerEntries)
  return db
    .select({ sum: sql<number | string>`coalesce(sum(${e.amount}), 0)` })
    .from(e)
    .where(and(eq(e.ref, p.ref), eq(e.kind, p.kind)))
})

export const walletsFrom = query<{ after: string; limit: number }>()((db, p) => {
  const w = db.of(wallets)
  return db
    .select({ id: w.id, balance: w.balance })
    .from(w)
    .where(gt(w.id, sql`${p.after}`))
    .orderBy(asc(w.id))
    .limit(p.limit)
})

/** A wallet's balance and the sum of its ledger entries, in one statement and so of the same instant. */
export const walletAndSum = query<{ id: string }>()((db, p) => {
  const [w, e] = [db.of(wallets), db.of(ledgerEntries)]
  return db
    .select({ balance: w.balance, sum: sql<number | string>`coalesce(sum(${e.amount}), 0)` })
    .from(w)
    .leftJoin(e, eq(e.account, w.id))
    .where(eq(w.id, sql`${p.id}`))
    .groupBy(w.id, w.balance)
})

/** Wallets whose `held` is not the sum of their open holds, of the same instant. */
export const heldMismatches = query()((db) => {
  const [w, h] = [db.of(wallets), db.of(holds)]
  const sum = sql<number | string>`coalesce(sum(${h.amount}), 0)`
  return db
    .select({ id: w.id, held: w.held, sum })
    .from(w)
    .leftJoin(h, and(eq(h.wallet_id, w.id), sql`${h.state} = 'open'`))
    .groupBy(w.id, w.held)
    .having(sql`${w.held} <> ${sum}`)
})

/** Holds in order of their ref, each with the ledger's charge to its wallet. */
export const holdsFrom = query<{ after: string; limit: number }>()((db, p) => {
  const [h, e] = [db.of(holds), db.of(ledgerEntries)]
  return db
    .select({ ref: h.ref, state: h.state, settled_amount: h.settled_amount, charge: e.amount })
    .from(h)
    .leftJoin(e, and(eq(e.ref, h.ref), sql`${e.kind} = 'settle'`, eq(e.account, h.wallet_id)))
    .where(gt(h.ref, p.after))
    .orderBy(asc(h.ref))
    .limit(p.limit)
})

/** A wallet's amounts beside the sums of its entries and of its open holds, of one instant; no row without a wallet. */
export const booksOf = query<{ id: string }>()((db, p) => {
  const [w, e, h] = [db.of(wallets), db.of(ledgerEntries), db.of(holds)]
  type Sum = number | string
  // In a subquery columns are written without their table, and both tables have an `id`; hence the parameter.
  return db
    .select({
      balance: w.balance,
      held: w.held,
      entries: sql<Sum>`(SELECT coalesce(sum(${e.amount}), 0) FROM ${e} WHERE ${e.account} = ${p.id})`,
      open: sql<Sum>`(SELECT coalesce(sum(${h.amount}), 0) FROM ${h} WHERE ${h.wallet_id} = ${p.id} AND ${h.state} = 'open')`,
    })
    .from(w)
    .where(eq(w.id, sql`${p.id}`))
})

export const entriesSum = query<{ id: string }>()((db, p) => {
  const e = db.of(ledgerEntries)
  return db
    .select({ sum: sql<number | string>`coalesce(sum(${e.amount}), 0)` })
    .from(e)
    .where(eq(e.account, sql`${p.id}`))
})

/** Sets a wallet to what the ledger and the open holds add up to. */
export const setWallet = command<{ id: OwnerScope; balance: number; held: number }>()((tx, p) => {
  const t = tx.of(wallets)
  return tx
    .insert(t)
    .values({ id: p.id, balance: p.balance, held: p.held, capped: false })
    .onConflictDoUpdate({ target: t.id, set: { balance: sql`excluded.balance`, held: sql`excluded.held` } })
})
