import { eq, gte } from 'drizzle-orm'
import type { OwnerScope } from '../../kernel/caller'
import { pagesBy, type Wanted } from '../../kernel/keyset'
import type { Page } from '../../kernel/page'
import type { Reader, Tx } from '../../kernel/store'
import { type CorrectionRow, routingCorrections } from './table'

const newestFirst = pagesBy(routingCorrections, 'created_at')
type Listed = Wanted & { mode?: string | undefined; since?: number }

/** Rows of corrections. A list has those of one owner only. */
export const correctionRepository = {
  insert: async (tx: Tx, row: CorrectionRow): Promise<void> => {
    await tx.insert(tx.of(routingCorrections)).values(row)
  },

  list(db: Reader, owner: OwnerScope, { mode, since, ...wanted }: Listed): Promise<Page<CorrectionRow>> {
    const table = db.of(routingCorrections)
    return newestFirst(
      db,
      wanted,
      eq(table.owner, owner),
      mode === undefined ? undefined : eq(table.expected_mode, mode),
      since === undefined ? undefined : gte(table.created_at, since),
    )
  },

  removeAll: async (tx: Tx, owner: OwnerScope): Promise<void> => {
    const table = tx.of(routingCorrections)
    await tx.delete(table).where(eq(table.owner, owner))
  },
}
