import { eq, inArray, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../kernel/store'
import type { HookId } from './schema'
import { type HookRow, hooks } from './table'

/** What firings read and change of hooks that an event has named. */
export const hookRepository = {
  async some(db: Reader, ids: readonly HookId[]): Promise<HookRow[]> {
    const table = db.of(hooks)
    return db
      .select()
      .from(table)
      .where(inArray(table.id, [...ids]))
  },

  /** Locked until the transaction commits: so of two events one counts its cooldown (I37). */
  async lock(tx: Tx, id: HookId): Promise<HookRow | undefined> {
    const table = tx.of(hooks)
    const locked = tx
      .update(table)
      .set({ name: sql`${table.name}` })
      .where(eq(table.id, id))
    return (await locked.returning())[0]
  },

  async change(tx: Tx, id: HookId, change: Partial<HookRow>): Promise<void> {
    const table = tx.of(hooks)
    await tx.update(table).set(change).where(eq(table.id, id))
  },
}
