import { utcDay } from '../kernel/clock'
import type { Reader, Tx } from '../kernel/store'
import { daysBetween, moveSpend } from './repository'

/** Micro-cents: `spent` is charged, `held` is claimed by work that has not ended. */
type Amounts = { spent: number; held: number }
/** A subject's UTC day and UTC month so far (caps roll over at 00:00 UTC, contract 1.9). */
export type Spend = { today: Amounts; month: Amounts }

/** What a subject (an API key) has spent and on hold on the day and in the month of a moment. */
export async function spendOf(reader: Reader, subject: string, at: number): Promise<Spend> {
  const day = utcDay(at)
  const days = await daysBetween(reader, { subject, from: `${day.slice(0, 7)}-01`, to: day })
  const today = days.find((row) => row.day === day)
  return {
    today: { spent: today?.spent ?? 0, held: today?.held ?? 0 },
    month: {
      spent: days.reduce((sum, row) => sum + row.spent, 0),
      held: days.reduce((sum, row) => sum + row.held, 0),
    },
  }
}

/** Claims an amount of a capped subject's day. */
export const holdSpend = (tx: Tx, subject: string, at: number, amount: number) =>
  moveSpend(tx, { subject, day: utcDay(at), spent: 0, held: amount })

/** Ends a claim: what was charged counts on the day the work began, so no midnight loses it. */
export const settleSpend = (tx: Tx, subject: string, at: number, charged: number, freed: number) =>
  moveSpend(tx, { subject, day: utcDay(at), spent: charged, held: -freed })
