import { utcDay } from '../kernel/clock'
import type { Reader, Tx } from '../kernel/store'
import { daysBetween, moveSpend } from './repository'

/** Micro-cents: `spent` is charged, `held` is reserved by work that is still running. */
type Amounts = { spent: number; held: number }
/** A subject's UTC day and UTC month so far (caps roll over at 00:00 UTC, contract 1.9). */
export type Spend = { today: Amounts; month: Amounts }

/** What a subject (an API key) has spent and on hold, in the UTC day and month of `at`. */
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

/** Reserves an amount on a capped subject's day. */
export const holdSpend = (tx: Tx, subject: string, at: number, amount: number) =>
  moveSpend(tx, { subject, day: utcDay(at), spent: 0, held: amount })

/** Releases a reservation and adds the charge, on the day the work began, so that none is lost at midnight. */
export const settleSpend = (tx: Tx, subject: string, at: number, charged: number, freed: number) =>
  moveSpend(tx, { subject, day: utcDay(at), spent: charged, held: -freed })
