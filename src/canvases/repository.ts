import { and, eq, inArray, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import { sliceBy, type Wanted } from '../kernel/keyset'
import { query, type Reader, type Tx } from '../kernel/store'
import type { CanvasId, CanvasVersionId } from './schema'
import { type CanvasRow, type CanvasVersionRow, canvases, canvasVersions } from './table'

type Mine = { id: CanvasId; owner: OwnerScope }

const findCanvas = query<Mine>()((db, p) => {
  const table = db.of(canvases)
  return db
    .select()
    .from(table)
    .where(and(eq(table.id, p.id), eq(table.owner, p.owner)))
    .limit(1)
})

/** A row's id, sort key (`at`, epoch ms) and graph size, read before the graph itself. */
export type Outline<Id> = { id: Id; at: number; bytes: number }

/** Rows of canvases and their versions. Every query names the owner, or a canvas found by its owner. */
export const canvasRepository = {
  find: async (db: Reader, owner: OwnerScope, id: CanvasId): Promise<CanvasRow | undefined> =>
    (await findCanvas(db, { id, owner }))[0],

  /** Finds the canvas and locks its row until the transaction ends. */
  async findLocked(tx: Tx, owner: OwnerScope, id: CanvasId): Promise<CanvasRow | undefined> {
    const table = tx.of(canvases)
    const locked = tx
      .update(table)
      .set({ name: sql`${table.name}` })
      .where(and(eq(table.id, id), eq(table.owner, owner)))
    return ((await locked.returning()) as CanvasRow[])[0]
  },

  async insert(tx: Tx, row: CanvasRow): Promise<void> {
    await tx.insert(tx.of(canvases)).values(row)
  },

  async update(tx: Tx, { owner, id }: Pick<CanvasRow, 'owner' | 'id'>, change: Partial<CanvasRow>): Promise<CanvasRow> {
    const table = tx.of(canvases)
    const changed = tx
      .update(table)
      .set(change)
      .where(and(eq(table.id, id), eq(table.owner, owner)))
    return ((await changed.returning()) as CanvasRow[])[0]!
  },

  async remove(tx: Tx, owner: OwnerScope, id: CanvasId): Promise<boolean> {
    const table = tx.of(canvases)
    const gone = await tx
      .delete(table)
      .where(and(eq(table.id, id), eq(table.owner, owner)))
      .returning({ id: table.id })
    if (!gone.length) return false
    await tx.delete(tx.of(canvasVersions)).where(eq(tx.of(canvasVersions).canvas_id, id))
    return true
  },

  /** How many canvases an owner has, up to `most`. */
  async countOf(db: Reader, owner: OwnerScope, most: number): Promise<number> {
    const table = db.of(canvases)
    return (await db.select({ id: table.id }).from(table).where(eq(table.owner, owner)).limit(most)).length
  },

  /** Deletes all canvases of an owner with their versions. Returns the number of canvases. */
  async removeAll(tx: Tx, owner: OwnerScope): Promise<number> {
    const [table, versions] = [tx.of(canvases), tx.of(canvasVersions)]
    const own = tx.select({ id: table.id }).from(table).where(eq(table.owner, owner))
    await tx.delete(versions).where(inArray(versions.canvas_id, own))
    return (await tx.delete(table).where(eq(table.owner, owner)).returning({ id: table.id })).length
  },

  /** Last updated first, and one more than wanted, which tells whether there is a next page. */
  async outlines(db: Reader, owner: OwnerScope, wanted: Wanted): Promise<Outline<CanvasId>[]> {
    const table = db.of(canvases)
    const { after, order, limit } = sliceBy(table.updated_at, table.id, wanted)
    return db
      .select({ id: table.id, at: table.updated_at, bytes: table.graph_bytes })
      .from(table)
      .where(and(eq(table.owner, owner), after))
      .orderBy(...order)
      .limit(limit)
  },

  async all(db: Reader, owner: OwnerScope, ids: readonly CanvasId[]): Promise<CanvasRow[]> {
    if (!ids.length) return []
    const table = db.of(canvases)
    const found = db.select().from(table)
    return (await found.where(and(eq(table.owner, owner), inArray(table.id, [...ids])))) as CanvasRow[]
  },

  async insertVersion(tx: Tx, row: CanvasVersionRow): Promise<void> {
    await tx.insert(tx.of(canvasVersions)).values(row)
  },

  async findVersion(db: Reader, canvasId: CanvasId, id: CanvasVersionId): Promise<CanvasVersionRow | undefined> {
    const table = db.of(canvasVersions)
    const found = db.select().from(table)
    const mine = found.where(and(eq(table.id, id), eq(table.canvas_id, canvasId))).limit(1)
    return ((await mine) as CanvasVersionRow[])[0]
  },

  /** Newest first, and one more than wanted, which tells whether there is a next page. */
  async versionOutlines(db: Reader, canvasId: CanvasId, wanted: Wanted): Promise<Outline<CanvasVersionId>[]> {
    const table = db.of(canvasVersions)
    const { after, order, limit } = sliceBy(table.created_at, table.id, wanted)
    return db
      .select({ id: table.id, at: table.created_at, bytes: table.graph_bytes })
      .from(table)
      .where(and(eq(table.canvas_id, canvasId), after))
      .orderBy(...order)
      .limit(limit)
  },

  async versions(db: Reader, canvasId: CanvasId, ids: readonly CanvasVersionId[]): Promise<CanvasVersionRow[]> {
    if (!ids.length) return []
    const table = db.of(canvasVersions)
    const found = db.select().from(table)
    return (await found.where(and(eq(table.canvas_id, canvasId), inArray(table.id, [...ids])))) as CanvasVersionRow[]
  },
}
