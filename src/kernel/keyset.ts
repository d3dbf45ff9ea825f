import { and, asc, desc, eq, getTableName, inArray, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { invalidInput } from './errors'
import { decodeCursor, type Page, toPage } from './page'
import type { Reader, Table } from './store'

type Dated<Moment extends string> = SQLiteTable & Record<Moment | 'id', SQLiteColumn>

/** The page a caller requests. `cursor` is where the previous page ended. */
export type PageRequest = { limit: number; cursor?: string | undefined }

/** The condition for a dotted name. A name that ends in `.*` is a family: `order.*` matches `order.line.added`. */
export function nameFilter(column: SQLiteColumn, name: string | undefined): SQL | undefined {
  if (name === undefined || !name.endsWith('.*')) return name === undefined ? undefined : eq(column, name)
  const begin = name.slice(0, -1)
  return sql`substr(${column}, 1, ${begin.length}) = ${begin}`
}

/** The name of a list in its cursors: the column that it is sorted by. */
export const listBy = (at: SQLiteColumn): string => `${getTableName(at.table)}.${at.name}`

type Slice = { list: string; after: SQL | undefined; order: [SQL, SQL]; limit: number }

/**
 * The condition, order and limit of a query for one page: newest first, rows of the same moment by id. The limit is one
 * row higher than requested, so that `toPage` knows whether there is a next page. Throws 400 `validation_error` for a
 * malformed cursor and for one of another list.
 */
export function sliceBy(at: SQLiteColumn, id: SQLiteColumn, { limit, cursor }: PageRequest): Slice {
  const list = listBy(at)
  const mark = decodeCursor(list, cursor)
  // A row comparison lets the index seek to the cursor. AND and OR would make it scan all earlier pages.
  const after = mark ? sql`(${at}, ${id}) < (${mark.at}, ${mark.id})` : undefined
  return { list, after, order: [desc(at), desc(id)], limit: limit + 1 }
}

/**
 * Lists the rows of a table, newest first by one of its time columns:
 *
 *     const newestFirst = pagesBy(apiKeys, 'created_at')
 *     const page = await newestFirst(store.read, { limit, cursor }, eq(table.owner, owner))
 *
 * Throws 400 `validation_error` for a malformed cursor and for one of another list.
 */
export const pagesBy =
  <T extends Dated<Moment>, Moment extends string>(listed: Table<T>, moment: Moment) =>
  async (db: Reader, wanted: PageRequest, ...conditions: (SQL | undefined)[]): Promise<Page<T['$inferSelect']>> => {
    const table = db.of(listed)
    const { list, after, order, limit } = sliceBy(table[moment], table.id, wanted)
    const found = db
      .select()
      .from(table as SQLiteTable)
      .where(and(...conditions, after))
    const rows = await found.orderBy(...order).limit(limit)
    return toPage(list, rows as T['$inferSelect'][], wanted.limit, (row) => ({ at: row[moment], id: row.id }))
  }

/** A page in the style of other services: `after` is the id of the last row that the client has. */
export type After = { limit: number; order?: 'asc' | 'desc' | undefined; after?: string | undefined }

/** Lists rows in that style, newest first by default. Throws 400 for an `after` that is not in the list. */
export const pagesAfter =
  <T extends Dated<Moment>, Moment extends string>(listed: Table<T>, moment: Moment) =>
  async (db: Reader, { limit, order = 'desc', after }: After, ...conditions: (SQL | undefined)[]) => {
    const table = db.of(listed)
    const [at, id] = [table[moment], table.id] as const
    let place: SQL | undefined
    if (after !== undefined) {
      const known = db.select({ at }).from(table as SQLiteTable)
      const [mark] = await known.where(and(eq(id, after), ...conditions)).limit(1)
      if (!mark) throw invalidInput('after', '"after" is not the id of an entry of this list.')
      place =
        order === 'asc' ? sql`(${at}, ${id}) > (${mark.at}, ${after})` : sql`(${at}, ${id}) < (${mark.at}, ${after})`
    }
    const by = order === 'asc' ? asc : desc
    const found = db.select().from(table as SQLiteTable)
    const rows = await found
      .where(and(...conditions, place))
      .orderBy(by(at), by(id))
      .limit(limit + 1)
    return { rows: rows.slice(0, limit) as T['$inferSelect'][], has_more: rows.length > limit }
  }

/** The answer of such a list. */
export const listAfter = <Item extends { id: string }>(data: Item[], has_more: boolean) => ({
  object: 'list' as const,
  data,
  first_id: data[0]?.id ?? null,
  last_id: data.at(-1)?.id ?? null,
  has_more,
})

/** Maximum bytes of large rows in one page. Serializing more would block the event loop (docs/promises.md I28). */
const PAGE_BYTES = 4 * 1024 * 1024

/**
 * Like {@link pagesBy}, for rows whose column `size` contains their number of bytes. A page ends early when its rows
 * together exceed PAGE_BYTES, but has at least one row.
 */
export const pagesOfLarge =
  <T extends Dated<Moment> & Record<Size, SQLiteColumn>, Moment extends string, Size extends string>(
    listed: Table<T>,
    moment: Moment,
    size: Size,
  ) =>
  async (db: Reader, wanted: PageRequest, ...conditions: (SQL | undefined)[]): Promise<Page<T['$inferSelect']>> => {
    const table = db.of(listed)
    const { list, after, order, limit } = sliceBy(table[moment], table.id, wanted)
    const outlined = db
      .select({ id: table.id, at: table[moment], bytes: table[size] })
      .from(table as SQLiteTable)
      .where(and(...conditions, after))
    const outlines = (await outlined.orderBy(...order).limit(limit)) as { id: string; at: number; bytes: number }[]
    const page = toPage(list, outlines, Math.min(wanted.limit, countFitting(outlines)), (outline) => outline)
    const ids = page.items.map(({ id }) => id)
    const found = db.select().from(table as SQLiteTable)
    const rows = ids.length ? await found.where(and(inArray(table.id, ids), ...conditions)) : []
    const byId = new Map(rows.map((row) => [row.id, row as T['$inferSelect']]))
    // Omits rows deleted between the two reads.
    return { items: ids.flatMap((id) => byId.get(id) ?? []), next: page.next }
  }

function countFitting(outlines: readonly { bytes: number }[]): number {
  let bytes = 0
  const tooMany = outlines.findIndex((outline, index) => {
    bytes += outline.bytes
    return bytes > PAGE_BYTES && index > 0
  })
  return tooMany < 0 ? outlines.length : tooMany
}

/** Maximum parts of one `union all`, of which SQLite allows 500. With more lists, several share a part. */
const MAX_PARTS = 100

/** Groups lists into at most MAX_PARTS parts of equal size. Few lists get a part each. */
export function inParts<T>(lists: readonly T[]): T[][] {
  const each = Math.ceil(lists.length / MAX_PARTS)
  const parts: T[][] = []
  for (let at = 0; at < lists.length; at += each) parts.push(lists.slice(at, at + each))
  return parts
}

/**
 * Condition that `column` is among the values found by any of these queries, each of which selects only `column`. For
 * merging lists: an index has each list in order but not their union. So one page of each list is found, and the first
 * page of all of them is read.
 */
export const foundBy = (column: SQLiteColumn, parts: readonly SQLWrapper[]): SQL =>
  parts.length ? inArray(column, sql`(${sql.join(parts.map(asPart), sql` union all `)})`) : sql`false`

const asPart = (part: SQLWrapper): SQL => sql`select * from ${part} as part`

/**
 * Like {@link pagesBy}, for rows that meet at least one of several conditions, here those of several owners:
 *
 *     const newestFirst = pagesAmong(apiKeys, 'created_at')
 *     const page = await newestFirst(store.read, { limit, cursor }, owners.map((owner) => eq(table.owner, owner)))
 */
export const pagesAmong = <T extends Dated<Moment>, Moment extends string>(
  listed: Table<T>,
  moment: Moment,
  pages = pagesBy(listed, moment),
) => {
  return (db: Reader, wanted: PageRequest, either: readonly SQL[], ...conditions: (SQL | undefined)[]) => {
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

/** Case-insensitive substring match; `%` and `_` in the caller's words match only themselves (docs/attacks.md F4). */
export const contains = (column: SQLiteColumn, words: string): SQL =>
  sql`lower(${column}) like ${`%${words.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`} escape '\\'`
