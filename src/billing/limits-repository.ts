import { and, eq, isNotNull, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import { command, counted, query, type Reader } from '../kernel/store'
import { costOfDay } from '../usage'
import { billingLimits, type LimitsRow, wallets } from './table'

export const limitsOf = query<{ owner: OwnerScope }>()((db, p) => {
  const t = db.of(billingLimits)
  return db.select().from(t).where(eq(t.owner, p.owner))
})

/** All caps of a day together, and how much of them is used; null where nobody has one. Cents; for operators. */
export async function capsOfDay(reader: Reader, now: number) {
  const t = reader.of(billingLimits)
  const isCapped = isNotNull(t.daily_cap_cents)
  const [sum] = await reader
    .select({ cap: sql<number | null>`sum(${t.daily_cap_cents})` })
    .from(t)
    .where(isCapped)
  if (!sum?.cap) return { cap_cents: null, capped_cents: 0 }
  const capped = await costOfDay(reader, now, reader.select({ owner: t.owner }).from(t).where(isCapped))
  return { cap_cents: Number(sum.cap), capped_cents: capped }
}

export const saveLimits = command<LimitsRow>()((tx, p) => {
  const t = tx.of(billingLimits)
  const set = {
    daily_cap_cents: sql`excluded.daily_cap_cents`,
    monthly_cap_cents: sql`excluded.monthly_cap_cents`,
    low_balance_threshold_cents: sql`excluded.low_balance_threshold_cents`,
    top_up_enabled: sql`excluded.top_up_enabled`,
    top_up_threshold_cents: sql`excluded.top_up_threshold_cents`,
    top_up_amount_cents: sql`excluded.top_up_amount_cents`,
    updated_at: sql`excluded.updated_at`,
  }
  return tx
    .insert(t)
    .values({
      owner: p.owner,
      daily_cap_cents: p.daily_cap_cents,
      monthly_cap_cents: p.monthly_cap_cents,
      low_balance_threshold_cents: p.low_balance_threshold_cents,
      top_up_enabled: p.top_up_enabled,
      top_up_threshold_cents: p.top_up_threshold_cents,
      top_up_amount_cents: p.top_up_amount_cents,
      updated_at: p.updated_at,
    })
    .onConflictDoUpdate({ target: t.owner, set })
})

/** Switches automatic top-up off where it is on. */
export const stopTopUp = counted<{ owner: OwnerScope }>()((tx, p) => {
  const t = tx.of(billingLimits)
  return tx
    .update(t)
    .set({ top_up_enabled: false })
    .where(and(eq(t.owner, p.owner), eq(t.top_up_enabled, true)))
})

/** Marks in the wallet whether its owner has caps. On Postgres the row lock also makes charges of the owner wait. */
export const markCapped = command<{ id: OwnerScope; capped: boolean }>()((tx, p) => {
  const t = tx.of(wallets)
  return tx
    .insert(t)
    .values({ id: p.id, balance: 0, held: 0, capped: p.capped })
    .onConflictDoUpdate({ target: t.id, set: { capped: sql`excluded.capped` } })
    .returning({ balance: t.balance, held: t.held })
})

/** `unclaim` for Postgres, also returning the balance: it costs nothing there, and another node may have changed it. */
export const unclaimReturning = command<{ id: OwnerScope; held: number; charged: number }>()((tx, p) => {
  const t = tx.of(wallets)
  return tx
    .update(t)
    .set({ balance: sql`${t.balance} - ${p.charged}`, held: sql`${t.held} - ${p.held}` })
    .where(eq(t.id, p.id))
    .returning({ balance: t.balance, capped: t.capped })
})
