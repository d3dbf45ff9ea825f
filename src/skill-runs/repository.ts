import { and, eq, gte, inArray, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import type { Tx } from '../kernel/store'
import { LIMITS, type Spent } from './rules'
import type { SkillRunId } from './schema'
import { type SkillRunRow, skillRuns } from './table'

/** Rows of skill runs. Every query names the owner. */
export const runRepository = {
  async insert(tx: Tx, row: SkillRunRow): Promise<void> {
    await tx.insert(tx.of(skillRuns)).values(row)
  },

  /** Ends a run. False when it had already ended. */
  async end(tx: Tx, owner: OwnerScope, id: SkillRunId, ending: Partial<SkillRunRow>): Promise<boolean> {
    const table = tx.of(skillRuns)
    const running = and(eq(table.id, id), eq(table.owner, owner), eq(table.status, 'running'))
    return (await tx.update(table).set(ending).where(running).returning({ id: table.id })).length === 1
  },

  async spentSince(tx: Tx, owner: OwnerScope, since: number): Promise<Spent> {
    const table = tx.of(skillRuns)
    const most = sql`case when ${table.status} = 'running' then ${LIMITS.costARun} else ${table.cost_micro} end`
    const [sum] = await tx
      .select({
        runs: sql<number>`count(*)`.mapWith(Number),
        costMicro: sql<number>`coalesce(sum(${most}), 0)`.mapWith(Number),
      })
      .from(table)
      .where(
        and(
          eq(table.owner, owner),
          gte(table.created_at, since),
          inArray(table.status, ['running', 'completed', 'failed']),
        ),
      )
    return sum!
  },
}
