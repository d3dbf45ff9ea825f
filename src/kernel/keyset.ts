import { and, desc, inArray, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { decodeCursor, type Page, toPage } from './page'
import type { Reader, Table } from './store'

type Dated<Moment extends string> = SQLiteTable & Record<Moment | 'id', SQLiteColumn>

/** A page of a list: `cursor` is where the page before it ended. */
export type Wanted = { limit: number; cursor?: string | undefined }

type Slice = { after: SQL | undefined; order: [SQL, SQL]; limit: number }

/**
 * The condition, order and limit of a query for one page: newest first, rows of the same moment by id. The limit is one
 * row more than wanted, by which `toPage` knows whether there is a next page. Throws 400 `validation_error` for a
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
  <T extends Dated<Moment>, Moment extends string>(listed: Table<T>, moment: Moment) =>
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

/** SQLite takes 500 parts of one statement; of more lists than this, some are found and sorted together. */
const MOST_PARTS = 100

/** Lists in so few groups that each can be a part of one statement; mostly each is a group by itself. */
export function inParts<T>(lists: readonly T[]): T[][] {
  const each = Math.ceil(lists.length / MOST_PARTS)
  const parts: T[][] = []
  for (let at = 0; at < lists.length; at += each) parts.push(lists.slice(at, at + each))
  return parts
}

/**
 * The condition that a row is among those that one of these queries finds; each selects nothing but `column`. Where
 * an index has several lists in order each, but not all of them together, a page of each is found like this, and
 * of what was found the first page is read.
 */
export const foundBy = (column: SQLiteColumn, parts: readonly SQLWrapper[]): SQL =>
  parts.length ? inArray(column, sql`(${sql.join(parts.map(asPart), sql` union all `)})`) : sql`false`

const asPart = (part: SQLWrapper): SQL => sql`select * from ${part} as part`

/**
 * {@link pagesBy} of the rows that one of several conditions is true of, such as having one of these owners:
 *
 *     const newestFirst = pagesAmong(apiKeys, 'created_at')
 *     const page = await newestFirst(store.read, { limit, cursor }, owners.map((owner) => eq(table.owner, owner)))
 */
export const pagesAmong = <T extends Dated<Moment>, Moment extends string>(listed: Table<T>, moment: Moment) => {
  const pages = pagesBy(listed, moment)
  return (db: Reader, wanted: Wanted, either: readonly SQL[], ...conditions: (SQL | undefined)[]) => {
    if (either.length === 1) return pages(db, wanted, either[0], ...conditions)
    const table = db.of(listed)
    const { after, order, limit } = sliceBy(table[moment], table.id, wanted)
    const parts = inParts(either).map((some) => {
      const ids = db.select({ id: table.id }).from(table as SQLiteTable)
      const part = ids.where(and(or(...some), ...conditions, after))
      return part.orderBy(...order).limit(limit)
    })
    return pages(db, wanted, foundBy(table.id, parts))
  }
}
