import { and, eq, sql } from 'drizzle-orm'
import { pagesBy, type Wanted } from '../kernel/keyset'
import type { Page } from '../kernel/page'
import { query, type Reader, type Tx } from '../kernel/store'
import type { IncreaseId, IncreaseStatus } from './schema'
import { type IncreaseRow, limitIncreases } from './table'

const newestFirst = pagesBy(limitIncreases, 'created_at')

/** Asked with every `GET /rate-limits`. The status stands in the statement, for the index of pending ones. */
const pendingOf = query<{ subject: string }>()((db, p) => {
  const table = db.of(limitIncreases)
  return db
    .select()
    .from(table)
    .where(and(eq(table.subject, p.subject), sql`${table.status} = 'pending'`))
})

/** Rows of increase requests. Tenants find them by their own subject only; look-up by id is for reviewers and operators. */
export const increaseRepository = {
  /** False when the subject already has a pending request. */
  async insert(tx: Tx, row: IncreaseRow): Promise<boolean> {
    const table = tx.of(limitIncreases)
    return (await tx.insert(table).values(row).onConflictDoNothing().returning({ id: table.id })).length === 1
  },

  pending: async (db: Reader, subject: string): Promise<IncreaseRow | undefined> =>
    (await pendingOf(db, { subject }))[0],

  async find(db: Reader, id: IncreaseId): Promise<IncreaseRow | undefined> {
    const table = db.of(limitIncreases)
    return (await db.select().from(table).where(eq(table.id, id)))[0]
  },

  /** The decided row, or undefined when it had been decided already. */
  async decide(tx: Tx, id: IncreaseId, decision: Partial<IncreaseRow>): Promise<IncreaseRow | undefined> {
    const table = tx.of(limitIncreases)
    const open = and(eq(table.id, id), eq(table.status, 'pending'))
    return (await tx.update(table).set(decision).where(open).returning())[0]
  },

  list: (db: Reader, status: IncreaseStatus | undefined, wanted: Wanted): Promise<Page<IncreaseRow>> =>
    newestFirst(db, wanted, status && eq(db.of(limitIncreases).status, status)),
}
