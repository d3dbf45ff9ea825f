import { and, eq, gte, lte } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import type { Reader } from '../kernel/store'
import { usageRecords } from './table'

/** What a call's record may be apart from its audit row: both are of one unit of work, each with its own look at the clock. */
const APART_MS = 60_000

/** Which mode a call asked for and got, and when; null when no record of it is kept. */
export type ModeOfCall = { mode: string | null; resolved: string | null; at: number }

/** Looked for by its request id and about when it was. */
export async function modeOfCall(
  db: Reader,
  owner: OwnerScope,
  { requestId, at }: { requestId: string; at: number },
): Promise<ModeOfCall | null> {
  const table = db.of(usageRecords)
  const near = and(gte(table.at, at - APART_MS), lte(table.at, at + APART_MS))
  const found = await db
    .select({ mode: table.mode, resolved: table.resolved_mode, at: table.at })
    .from(table)
    .where(and(eq(table.owner, owner), near, eq(table.request_id, requestId)))
    .limit(1)
  return found[0] ?? null
}
