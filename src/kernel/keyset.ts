import { and, desc, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { decodeCursor, type Page, toPage } from './page'
import type { Reader, Table } from './store'

/** The part of a list that is wanted: so many rows, from where the page before ended. */
export type Wanted = { limit: number; cursor?: string | undefined }

type Slice = { after: SQL | undefined; order: [SQL, SQL]; limit: number }

/**
 * What a query needs to read one page of its rows, the latest first and those of one moment by their ids. It reads
 * a row more than is wanted, which `toPage` cuts off again. Throws 400 `validation_error` for a cursor of nobody's.
 */
export function sliceBy(at: SQLiteColumn, id: SQLiteColumn, { limit, cursor }: Wanted): Slice {
  const mark = decodeCursor(cursor)
  // As one comparison, because an index finds its place by that; spelled out it reads all pages before this one.
  const after = mark ? sql`(${at}, ${id}) < (${mark.at}, ${mark.id})` : undefined
  return { after, order: [desc(at), desc(id)], limit: limit + 1 }
}

/**
 * Lists rows of one table, the latest first by one of its moments:
 *
 *     const newestFirst = pagesBy(apiKeys, 'created_at')
 *     const page = await newestFirst(store.read, { limit, cursor }, eq(table.owner, owner))
 *
 * Throws 400 `validation_error` for a cursor of nobody's.
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
