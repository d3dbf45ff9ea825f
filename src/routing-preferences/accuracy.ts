import { and, eq, gte, lt, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import type { Reader } from '../kernel/store'
import { routingCorrections } from './table'

/**
 * How many completions, each once, got a wrong mode in a half-open span of time that was chosen for them: those of
 * calls in `auto` that the owner named in a correction. The other side of routing accuracy (contract 21). What is
 * said of a prompt alone names no choice.
 */
export async function wronglyChosenIn(
  db: Reader,
  owner: OwnerScope,
  { from, to }: { from: number; to: number },
): Promise<number> {
  const t = db.of(routingCorrections)
  // Chat clients have a name of their own for a completion.
  const completion = sql`replace(${t.completion_id}, 'chatcmpl_', 'cmpl_')`
  const [row] = await db
    .select({ count: sql<number>`count(DISTINCT ${completion})`.mapWith(Number) })
    .from(t)
    // Nobody corrects what has not been: `created_at` is what the index has.
    .where(and(eq(t.owner, owner), gte(t.created_at, from), gte(t.wrong_at, from), lt(t.wrong_at, to)))
  return row!.count
}
