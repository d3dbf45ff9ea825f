import { and, eq, gte, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import { utcDay } from '../kernel/clock'
import { command, type Reader, type Tx } from '../kernel/store'
import { nextTurn } from '../kernel/turns'
import { tallyOf } from './report'
import type { Spend } from './spend'
import { spendDays } from './table'
import type { Turn } from './tail'

const setSpend = command<{ subject: string; day: string; spent: number }>()((tx, p) => {
  const t = tx.of(spendDays)
  return tx
    .insert(t)
    .values({ subject: p.subject, day: p.day, spent: p.spent, held: 0 })
    .onConflictDoUpdate({ target: [t.subject, t.day], set: { spent: sql`excluded.spent` } })
})

const clearSpend = command<{ subject: string; from: string }>()((tx, p) => {
  const t = tx.of(spendDays)
  return tx
    .update(t)
    .set({ spent: 0 })
    .where(and(eq(t.subject, p.subject), gte(t.day, p.from)))
})

/** What an owner spent today and this month, from rollups and calls. An owner without caps has no holds here. */
export async function spendOfOwner(reader: Reader, owner: OwnerScope, at: number): Promise<Spend> {
  const days = await monthOf(reader, owner, at, nextTurn)
  return {
    today: { spent: days.get(utcDay(at)) ?? 0, held: 0 },
    month: { spent: [...days.values()].reduce((sum, spent) => sum + spent, 0), held: 0 },
  }
}

/** Writes the month so far into the owner's `spend_days`, when the owner gets the first cap. */
export async function startOwnerSpend(tx: Tx, owner: OwnerScope, at: number): Promise<void> {
  // Inside a transaction only the store may be awaited, so this never yields to the event loop.
  const days = await monthOf(tx, owner, at, async () => undefined)
  await clearSpend(tx, { subject: owner, from: firstOfMonth(at) })
  for (const [day, spent] of days) await setSpend(tx, { subject: owner, day, spent })
}

/** Micro-cents by UTC day. */
async function monthOf(reader: Reader, owner: OwnerScope, at: number, turn: Turn): Promise<Map<string, number>> {
  const from = Date.parse(`${firstOfMonth(at)}T00:00:00.000Z`)
  return (await tallyOf(reader, { owner, brief: true }, { from, to: at + 1 }, at, turn)).costByDay()
}

const firstOfMonth = (at: number): string => `${utcDay(at).slice(0, 7)}-01`
