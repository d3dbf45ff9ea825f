import { and, asc, eq, gt, lte, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import { command, query } from '../kernel/store'
import { creditLots, type LotRow } from './table'

export const insertLot = command<LotRow>()((tx, p) =>
  tx.insert(tx.of(creditLots)).values({
    ref: p.ref,
    owner: p.owner,
    remaining: p.remaining,
    seen_balance: p.seen_balance,
    granted_at: p.granted_at,
    expires_at: p.expires_at,
    due_at: p.due_at,
    takings: p.takings,
  }),
)

/** An owner's lots that are not used up, soonest to expire first. */
export const openLots = query<{ owner: OwnerScope }>()((db, p) => {
  const t = db.of(creditLots)
  return db
    .select()
    .from(t)
    .where(and(eq(t.owner, p.owner), gt(t.remaining, 0)))
    .orderBy(asc(t.expires_at), asc(t.ref))
})

/** Owners of expired lots that are not used up, earliest due first. */
export const dueLots = query<{ now: number; limit: number }>()((db, p) => {
  const t = db.of(creditLots)
  return db
    .select({ owner: t.owner })
    .from(t)
    .where(and(lte(t.due_at, p.now), gt(t.remaining, 0)))
    .orderBy(asc(t.due_at))
    .limit(p.limit)
})

export const setLot = command<Pick<LotRow, 'ref' | 'remaining' | 'seen_balance' | 'due_at' | 'takings'>>()((tx, p) => {
  const t = tx.of(creditLots)
  return tx
    .update(t)
    .set({
      remaining: sql`${p.remaining}`,
      seen_balance: sql`${p.seen_balance}`,
      due_at: sql`${p.due_at}`,
      takings: sql`${p.takings}`,
    })
    .where(eq(t.ref, p.ref))
})
