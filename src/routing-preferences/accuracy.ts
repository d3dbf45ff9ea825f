import { and, eq, gte, isNull, lt, ne, or, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import type { Reader } from '../kernel/store'
import { routingCorrections } from './table'

/**
 * How many choices of mode an owner corrected in a half-open span of time: a completion once, however often it
 * is named, and not where the mode it had is the one that is expected. The other side of routing accuracy
 * (contract 21).
 */
export async function correctedIn(
  db: Reader,
  owner: OwnerScope,
  { from, to }: { from: number; to: number },
): Promise<number> {
  const t = db.of(routingCorrections)
  const [row] = await db
    .select({ count: sql<number>`count(DISTINCT coalesce(${t.completion_id}, ${t.id}))`.mapWith(Number) })
    .from(t)
    .where(
      and(
        eq(t.owner, owner),
        gte(t.created_at, from),
        lt(t.created_at, to),
        or(isNull(t.resolved_mode), ne(t.resolved_mode, t.expected_mode)),
      ),
    )
  return row!.count
}
