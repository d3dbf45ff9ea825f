import { and, eq, gte, inArray, lt, ne, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import { pagesBy, type Wanted } from '../kernel/keyset'
import type { Page } from '../kernel/page'
import type { Reader, Tx } from '../kernel/store'
import { LIMITS, type Spent } from './rules'
import type { SkillRunId } from './schema'
import { type SkillRunRow, skillRuns } from './table'

const newestFirst = pagesBy(skillRuns, 'created_at')

/** Rows of skill runs. Every query names the owner, or the source whose owner was asked for. */
export const runRepository = {
  async insert(tx: Tx, row: SkillRunRow): Promise<void> {
    await tx.insert(tx.of(skillRuns)).values(row)
  },

  async find(db: Reader, owner: OwnerScope, id: SkillRunId): Promise<SkillRunRow | undefined> {
    const table = db.of(skillRuns)
    const one = and(eq(table.id, id), eq(table.owner, owner))
    return (await db.select().from(table).where(one).limit(1))[0]
  },

  /** Those of one hook or installation, newest first. */
  ofSource: (db: Reader, source: string, wanted: Wanted): Promise<Page<SkillRunRow>> =>
    newestFirst(db, wanted, eq(db.of(skillRuns).source, source)),

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
  /** Deletes ended runs that are older than a moment. Returns how many. */
  async removeOld(tx: Tx, before: number, limit: number): Promise<number> {
    const table = tx.of(skillRuns)
    const isOld = and(lt(table.created_at, before), ne(table.status, 'running'))
    const old = tx.select({ id: table.id }).from(table).where(isOld).limit(limit)
    return (await tx.delete(table).where(inArray(table.id, old)).returning({ id: table.id })).length
  },
}
