import { and, asc, eq, inArray, isNotNull, lte, sql } from 'drizzle-orm'
import { command, type Reader, type Tx } from '../kernel/store'
import { type Subject, UNTOUCHED } from './takeover'
import { type TakeoverRow, takeovers } from './takeovers-table'

const touchHeld = command<{ kind: string; id: string; holder: string; until: number }>()((tx, p) => {
  const t = tx.of(takeovers)
  return tx
    .update(t)
    .set({ until: sql`${p.until}` })
    .where(and(eq(t.kind, p.kind), eq(t.subject_id, p.id), eq(t.status, 'human'), eq(t.holder_id, p.holder)))
    .returning()
})

/** Rows of takeovers. The room of a subject has checked whose it is. */
export const takeoverRepository = {
  async find(db: Reader, kind: string, ids: readonly string[]): Promise<TakeoverRow[]> {
    const t = db.of(takeovers)
    return db
      .select()
      .from(t)
      .where(and(eq(t.kind, kind), inArray(t.subject_id, [...ids])))
  },

  /** Finds or makes the row, and keeps it from changing until the unit has committed. */
  async lock(tx: Tx, kind: string, { id, owner }: Subject): Promise<TakeoverRow> {
    const t = tx.of(takeovers)
    const { status, fence: fencingToken, since, until, reason } = UNTOUCHED
    const empty = { status, fence: fencingToken, holder_id: null, holder_name: null, since, until, reason }
    const [row] = await tx
      .insert(t)
      .values({ kind, subject_id: id, owner, ...empty })
      .onConflictDoUpdate({ target: [t.kind, t.subject_id], set: { fence: sql`${t.fence}` } })
      .returning()
    return row!
  },

  /** Locks and lengthens what this holder has; undefined where they have not. */
  async touch(tx: Tx, kind: string, id: string, holder: string, until: number): Promise<TakeoverRow | undefined> {
    return (await touchHeld(tx, { kind, id, holder, until }))[0]
  },

  async change(tx: Tx, { kind, subject_id }: TakeoverRow, columns: Partial<TakeoverRow>): Promise<TakeoverRow> {
    const t = tx.of(takeovers)
    const [row] = await tx
      .update(t)
      .set(columns)
      .where(and(eq(t.kind, kind), eq(t.subject_id, subject_id)))
      .returning()
    return row!
  },

  async remove(tx: Tx, kind: string, ids: readonly string[]): Promise<void> {
    const t = tx.of(takeovers)
    await tx.delete(t).where(and(eq(t.kind, kind), inArray(t.subject_id, [...ids])))
  },

  /** Those of a kind that wait for a person, of everyone; for operators. */
  waiting(db: Reader, kind: string, max: number): Promise<TakeoverRow[]> {
    const t = db.of(takeovers)
    return db
      .select()
      .from(t)
      .where(and(eq(t.kind, kind), eq(t.status, 'requested')))
      .limit(max)
  },

  /** When the first of all holders has been silent for too long, in epoch milliseconds; null when nobody holds one. */
  async soonest(db: Reader): Promise<number | null> {
    const t = db.of(takeovers)
    const [found] = await db.select({ at: sql<number | null>`min(${t.until})` }).from(t)
    return (found?.at ?? null) === null ? null : Number(found!.at)
  },

  /** Those whose holder has been silent for too long. */
  silent(db: Reader, now: number, max: number): Promise<TakeoverRow[]> {
    const t = db.of(takeovers)
    return db
      .select()
      .from(t)
      .where(and(isNotNull(t.until), lte(t.until, now)))
      .orderBy(asc(t.until))
      .limit(max)
  },
}
