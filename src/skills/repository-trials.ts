import { eq, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import type { Tx } from '../kernel/store'
import { skillTrials } from './table'

/** Rows that count free sandbox runs. Every query names the owner. */
export const trialRepository = {
  /** Counts one run on a day. False, with nothing counted, when the day has `most` runs already. */
  async claim(tx: Tx, owner: OwnerScope, day: number, max: number): Promise<boolean> {
    const table = tx.of(skillTrials)
    const claimed = await tx
      .insert(table)
      .values({ owner, day, runs: 1 })
      .onConflictDoUpdate({
        target: table.owner,
        set: { day, runs: sql`case when ${table.day} = excluded.day then ${table.runs} + 1 else 1 end` },
        setWhere: sql`${table.day} <> excluded.day or ${table.runs} < ${max}`,
      })
      .returning({ runs: table.runs })
    return claimed.length > 0
  },

  async forget(tx: Tx, owner: OwnerScope): Promise<void> {
    await tx.delete(tx.of(skillTrials)).where(eq(tx.of(skillTrials).owner, owner))
  },
}
