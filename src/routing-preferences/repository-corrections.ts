import { and, desc, eq, gte, lt, or, type SQL } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import type { Mark } from '../kernel/page'
import type { Reader, Tx } from '../kernel/store'
import type { CorrectionId } from './schema-corrections'
import { type CorrectionRow, routingCorrections } from './table'

/** Rows of corrections, each list of one owner. */
export const correctionRepository = {
  insert: async (tx: Tx, row: CorrectionRow): Promise<void> => {
    await tx.insert(tx.of(routingCorrections)).values(row)
  },

  /** Newest first. */
  async list(
    db: Reader,
    owner: OwnerScope,
    { mode, before, since }: { mode?: string | undefined; before?: Mark | null; since?: number },
    limit: number,
  ): Promise<CorrectionRow[]> {
    const table = db.of(routingCorrections)
    const filters: (SQL | undefined)[] = [
      eq(table.owner, owner),
      mode === undefined ? undefined : eq(table.expected_mode, mode),
      since === undefined ? undefined : gte(table.created_at, since),
    ]
    if (before) {
      const sameMoment = and(eq(table.created_at, before.at), lt(table.id, before.id as CorrectionId))
      filters.push(or(lt(table.created_at, before.at), sameMoment))
    }
    return db
      .select()
      .from(table)
      .where(and(...filters))
      .orderBy(desc(table.created_at), desc(table.id))
      .limit(limit)
  },
}
