import { and, eq, gte, lt, sql } from 'drizzle-orm'
import type { OwnerScope } from '../../kernel/caller'
import type { Reader } from '../../kernel/store'
import { routingCorrections } from './table'

/**
 * Counts the completions in [from, to), each once, for which `auto` chose a wrong mode according to the owner's
 * corrections. Needed for routing accuracy (contract 21). Corrections of a prompt alone do not count, since they name
 * no completion.
 */
export async function wronglyChosenIn(
  db: Reader,
  owner: OwnerScope,
  { from, to }: { from: number; to: number },
): Promise<number> {
  const t = db.of(routingCorrections)
  // Chat clients send the id of a completion with the prefix `chatcmpl_`.
  const completion = sql`replace(${t.completion_id}, 'chatcmpl_', 'cmpl_')`
  const [row] = await db
    .select({ count: sql<number>`count(DISTINCT ${completion})`.mapWith(Number) })
    .from(t)
    // A correction is never older than its completion, so `created_at` may narrow the search: it is in the index.
    .where(and(eq(t.owner, owner), gte(t.created_at, from), gte(t.wrong_at, from), lt(t.wrong_at, to)))
  return row!.count
}
