import { and, eq, gte, lte } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import type { Reader } from '../kernel/store'
import { usageRecords } from './table'

/** A call's usage and audit rows share a transaction but read the clock separately; their times differ by less. */
const MAX_CLOCK_GAP_MS = 60_000

/** The requested mode, the resolved mode and the time of a call; null when it has no record. */
export type ModeOfCall = { mode: string | null; resolved: string | null; at: number }

/** Finds the record by request id, searching around its approximate time. */
export async function modeOfCall(
  db: Reader,
  owner: OwnerScope,
  { requestId, at }: { requestId: string; at: number },
): Promise<ModeOfCall | null> {
  const table = db.of(usageRecords)
  const nearTime = and(gte(table.at, at - MAX_CLOCK_GAP_MS), lte(table.at, at + MAX_CLOCK_GAP_MS))
  const found = await db
    .select({ mode: table.mode, resolved: table.resolved_mode, at: table.at })
    .from(table)
    .where(and(eq(table.owner, owner), nearTime, eq(table.request_id, requestId)))
    .limit(1)
  return found[0] ?? null
}
