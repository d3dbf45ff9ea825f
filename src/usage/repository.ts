import { and, eq, gte, lte, type Placeholder, sql } from 'drizzle-orm'
import { utcDay } from '../kernel/clock'
import { command, query, type Reader, type Tx } from '../kernel/store'
import { spendDays, type UsageRow, usageRecords, usageSkills } from './table'

/** Micro-cents: `spent` is charged, `held` is reserved by work that is still running. */
type Amounts = { spent: number; held: number }

/** A subject's UTC day and UTC month so far (caps roll over at 00:00 UTC, contract 1.9). */
export type Spend = { today: Amounts; month: Amounts }

/** Reserves an amount on a capped subject's day. */
export const holdSpend = (tx: Tx, subject: string, at: number, amount: number) =>
  moveSpend(tx, { subject, day: utcDay(at), spent: 0, held: amount })

/** Releases a reservation and adds the charge, on the day the work began, so that none is lost at midnight. */
export const settleSpend = (tx: Tx, subject: string, at: number, charged: number, freed: number) =>
  moveSpend(tx, { subject, day: utcDay(at), spent: charged, held: -freed })

type NewRow = Omit<UsageRow, 'id'>

const insertStatement = (tx: Tx, p: { [K in keyof NewRow]: Placeholder }) =>
  tx.insert(tx.of(usageRecords)).values({
    owner: p.owner,
    at: p.at,
    request_id: p.request_id,
    user_id: p.user_id,
    api_key_id: p.api_key_id,
    endpoint: p.endpoint,
    mode: p.mode,
    resolved_mode: p.resolved_mode,
    model: p.model,
    status: p.status,
    prompt_tokens: p.prompt_tokens,
    completion_tokens: p.completion_tokens,
    cost_micro: p.cost_micro,
    cached: p.cached,
    latency_ms: p.latency_ms,
    ttft_ms: p.ttft_ms,
    classified_us: p.classified_us,
    fallback_used: p.fallback_used,
  })

export const insertRecord = command<NewRow>()(insertStatement)

/** The same, returning the id: needed only when rows about the call follow. */
export const insertRecordReturningId = command<NewRow>()((tx, p) =>
  insertStatement(tx, p).returning({ id: tx.of(usageRecords).id }),
)

export const insertSkill = command<{ record_id: number; skill: string }>()((tx, p) =>
  tx.insert(tx.of(usageSkills)).values({ record_id: p.record_id, skill: p.skill }),
)

/** Adds to a subject's spent and held amounts of a day; creates the row on first use. */
export const moveSpend = command<{ subject: string; day: string; spent: number; held: number }>()((tx, p) => {
  const t = tx.of(spendDays)
  return tx
    .insert(t)
    .values({ subject: p.subject, day: p.day, spent: p.spent, held: p.held })
    .onConflictDoUpdate({
      target: [t.subject, t.day],
      set: { spent: sql`${t.spent} + excluded.spent`, held: sql`${t.held} + excluded.held` },
    })
})

export const daysBetween = query<{ subject: string; from: string; to: string }>()((db, p) => {
  const t = db.of(spendDays)
  return db
    .select({ day: t.day, spent: t.spent, held: t.held })
    .from(t)
    .where(and(eq(t.subject, p.subject), gte(t.day, p.from), lte(t.day, p.to)))
})

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
