import { and, asc, eq, gt, lte, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import { command, query } from '../kernel/store'
import { type ExpiringGrantRow, expiringGrants } from './table'

export const insertGrant = command<ExpiringGrantRow>()((tx, p) =>
  tx.insert(tx.of(expiringGrants)).values({
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

/** An owner's grants that are not used up, soonest to expire first. */
export const openGrants = query<{ owner: OwnerScope }>()((db, p) => {
  const t = db.of(expiringGrants)
  return db
    .select()
    .from(t)
    .where(and(eq(t.owner, p.owner), gt(t.remaining, 0)))
    .orderBy(asc(t.expires_at), asc(t.ref))
})

/** Owners of expired grants that are not used up, earliest due first. */
export const dueGrants = query<{ now: number; limit: number }>()((db, p) => {
  const t = db.of(expiringGrants)
  return db
    .select({ owner: t.owner })
    .from(t)
    .where(and(lte(t.due_at, p.now), gt(t.remaining, 0)))
    .orderBy(asc(t.due_at))
    .limit(p.limit)
})

export const soonestDue = query()((db) => {
  const t = db.of(expiringGrants)
  return db
    .select({ at: sql<number | null>`min(${t.due_at})` })
    .from(t)
    .where(gt(t.remaining, 0))
})

export const setGrant = command<Pick<ExpiringGrantRow, 'ref' | 'remaining' | 'seen_balance' | 'due_at' | 'takings'>>()(
  (tx, p) => {
    const t = tx.of(expiringGrants)
    return tx
      .update(t)
      .set({
        remaining: sql`${p.remaining}`,
        seen_balance: sql`${p.seen_balance}`,
        due_at: sql`${p.due_at}`,
        takings: sql`${p.takings}`,
      })
      .where(eq(t.ref, p.ref))
  },
)
