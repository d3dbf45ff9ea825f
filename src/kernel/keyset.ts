import { and, desc, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { decodeCursor, type Page, toPage } from './page'
import type { Reader, Table } from './store'

/** A page of a list: `cursor` is where the page before it ended. */
export type Wanted = { limit: number; cursor?: string | undefined }

type Slice = { after: SQL | undefined; order: [SQL, SQL]; limit: number }

/**
 * The condition, order and limit of a query for one page, newest first and by id within one moment. The limit is one row
 * more than wanted: `toPage` cuts it off and knows by it that there are more. Throws 400 `validation_error` for a
 * malformed cursor.
 */
export function sliceBy(at: SQLiteColumn, id: SQLiteColumn, { limit, cursor }: Wanted): Slice {
  const mark = decodeCursor(cursor)
  // One row comparison, which an index can seek by; with AND and OR it would read all pages before this one.
  const after = mark ? sql`(${at}, ${id}) < (${mark.at}, ${mark.id})` : undefined
  return { after, order: [desc(at), desc(id)], limit: limit + 1 }
}

/**
 * Lists the rows of a table, newest first by one of its time columns:
 *
 *     const newestFirst = pagesBy(apiKeys, 'created_at')
 *     const page = await newestFirst(store.read, { limit, cursor }, eq(table.owner, owner))
 *
 * Throws 400 `validation_error` for a malformed cursor.
 */
export const pagesBy =
  <T extends SQLiteTable & Record<Moment | 'id', SQLiteColumn>, Moment extends string>(
    listed: Table<T>,
    moment: Moment,
  ) =>
  async (db: Reader, wanted: Wanted, ...conditions: (SQL | undefined)[]): Promise<Page<T['$inferSelect']>> => {
    const table = db.of(listed)
    const { after, order, limit } = sliceBy(table[moment], table.id, wanted)
    const found = db
      .select()
      .from(table as SQLiteTable)
      .where(and(...conditions, after))
    const rows = await found.orderBy(...order).limit(limit)
    return toPage(rows as T['$inferSelect'][], wanted.limit, (row) => ({ at: row[moment], id: row.id }))
  }
