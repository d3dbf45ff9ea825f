import { and, eq } from 'drizzle-orm'
import { pagesOfLarge, type Wanted } from '../../kernel/keyset'
import type { Page } from '../../kernel/page'
import type { Reader, Tx } from '../../kernel/store'
import type { CanvasId, CanvasVersionId } from './schema'
import { type CanvasVersionRow, canvasVersions } from './table'

const newestFirst = pagesOfLarge(canvasVersions, 'created_at', 'graph_bytes')

/** The published versions of a canvas, which was found by its owner. */
export const versionRepository = {
  async insert(tx: Tx, row: CanvasVersionRow): Promise<void> {
    await tx.insert(tx.of(canvasVersions)).values(row)
  },

  async find(db: Reader, canvasId: CanvasId, id: CanvasVersionId): Promise<CanvasVersionRow | undefined> {
    const table = db.of(canvasVersions)
    const found = db.select().from(table)
    const mine = found.where(and(eq(table.id, id), eq(table.canvas_id, canvasId))).limit(1)
    return ((await mine) as CanvasVersionRow[])[0]
  },

  list: (db: Reader, canvasId: CanvasId, wanted: Wanted): Promise<Page<CanvasVersionRow>> =>
    newestFirst(db, wanted, eq(db.of(canvasVersions).canvas_id, canvasId)),

  async removeAll(tx: Tx, canvasId: CanvasId): Promise<void> {
    const table = tx.of(canvasVersions)
    await tx.delete(table).where(eq(table.canvas_id, canvasId))
  },
}
