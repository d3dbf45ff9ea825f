import { and, eq, gte, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import { utcDay } from '../kernel/clock'
import { command, query, type Reader, type Tx } from '../kernel/store'
import type { Spend } from './spend'
import { spendDays, usageRecords } from './table'

const DAY_MS = 86_400_000

const costByDay = query<{ owner: OwnerScope; from: number }>()((db, p) => {
  const t = db.of(usageRecords)
  const day = sql<number | string>`${t.at} / 86400000`
  return db
    .select({ day, cost: sql<number | string>`sum(${t.cost_micro})` })
    .from(t)
    .where(and(eq(t.owner, p.owner), gte(t.at, p.from)))
    .groupBy(day)
})

const setSpend = command<{ subject: string; day: string; spent: number }>()((tx, p) => {
  const t = tx.of(spendDays)
  return tx
    .insert(t)
    .values({ subject: p.subject, day: p.day, spent: p.spent, held: 0 })
    .onConflictDoUpdate({ target: [t.subject, t.day], set: { spent: sql`excluded.spent` } })
})

/** What an owner spent today and this month, added up from the calls themselves. Nothing of it is on hold. */
export async function spendOfOwner(reader: Reader, owner: OwnerScope, at: number): Promise<Spend> {
  const days = await daysOfMonth(reader, owner, at)
  return {
    today: { spent: days.get(utcDay(at)) ?? 0, held: 0 },
    month: { spent: [...days.values()].reduce((sum, spent) => sum + spent, 0), held: 0 },
  }
}

/** Writes the month so far into the owner's days, for an owner who has caps from now on. */
export async function startOwnerSpend(tx: Tx, owner: OwnerScope, at: number): Promise<void> {
  for (const [day, spent] of await daysOfMonth(tx, owner, at)) await setSpend(tx, { subject: owner, day, spent })
}

async function daysOfMonth(reader: Reader, owner: OwnerScope, at: number): Promise<Map<string, number>> {
  const from = Date.parse(`${utcDay(at).slice(0, 7)}-01T00:00:00.000Z`)
  const rows = await costByDay(reader, { owner, from })
  return new Map(rows.map(({ day, cost }) => [utcDay(Number(day) * DAY_MS), Number(cost)]))
}
