import { and, eq, inArray, isNull, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { query, type Reader, type Table, type Tx } from './store'

/** Values that columns must have: null means no value, and a list means one of its values. */
type Where<Row> = { readonly [Name in keyof Row]?: Row[Name] | readonly Row[Name][] }

/** A condition besides the equal columns, on the table of the database in use. */
type Also<T> = (table: T) => SQL | undefined

type Listed<T> = { also?: Also<T>; order?: (table: T) => (SQL | SQLiteColumn)[]; limit?: number }

/**
 * The statements of a table whose conditions are equal columns, so that a repository writes only the others:
 *
 *     const rows = rowsOf(skills)
 *     const row = await rows.first(store.read, { owner, slug })
 *     await rows.update(tx, { id, revoked_at: null }, { revoked_at: now })
 *
 * Throws when no column is named, and for an undefined value, because both would reach rows of others.
 */
export function rowsOf<T extends SQLiteTable>(listed: Table<T>) {
  type Row = T['$inferSelect']
  type Columns = SQLiteTable & Record<string, SQLiteColumn>
  const built = new Map<string, ReturnType<typeof lookup>>()

  /** Built once for each set of columns, because most lookups repeat. */
  const lookup = (names: readonly string[]) =>
    query<Record<string, unknown>>()((db, p) => {
      const table = db.of(listed) as unknown as Columns
      const same = names.map((name) => eq(table[name]!, p[name]!))
      return db
        .select()
        .from(table as SQLiteTable)
        .where(and(...same))
        .limit(1)
    })

  const whereOf = (db: Reader, where: Where<Row>, also?: Also<T>): SQL | undefined => {
    const table = db.of(listed)
    const same = Object.entries(where).map(([name, value]) => {
      const column = (table as unknown as Columns)[name]!
      if (value === null) return isNull(column)
      return Array.isArray(value) ? inArray(column, value) : eq(column, value)
    })
    return and(...same, also?.(table))
  }

  const first = async (db: Reader, where: Where<Row>, also?: Also<T>): Promise<Row | undefined> => {
    const names = namesIn(where)
    const isPlain = Object.values(where).every((value) => value !== null && typeof value !== 'object')
    if (!isPlain || also) return (await all(db, where, { ...(also && { also }), limit: 1 }))[0]
    const key = names.join()
    const found = built.get(key) ?? lookup(names)
    built.set(key, found)
    return ((await found(db, where)) as Row[])[0]
  }

  const all = (db: Reader, where: Where<Row>, { also, order, limit }: Listed<T> = {}): Promise<Row[]> => {
    namesIn(where)
    const table = db.of(listed)
    const found = db.select().from(table as SQLiteTable)
    const chosen = found.where(whereOf(db, where, also)).orderBy(...(order?.(table) ?? []))
    return (limit === undefined ? chosen : chosen.limit(limit)) as unknown as Promise<Row[]>
  }

  const count = async (db: Reader, where: Where<Row>, also?: Also<T>): Promise<number> =>
    namesIn(where) && db.$count(db.of(listed), whereOf(db, where, also))

  const insert = async (tx: Tx, row: T['$inferInsert']): Promise<void> => {
    await tx.insert(tx.of(listed)).values(row as never)
  }

  /** Like `insert`. False, and no change, if a unique index has the row already. */
  const add = async (tx: Tx, row: T['$inferInsert']): Promise<boolean> => {
    const added = tx.insert(tx.of(listed)).values(row as never)
    return (await added.onConflictDoNothing().returning({ one: ONE })).length === 1
  }

  const changing = (tx: Tx, where: Where<Row>, change: object, also?: Also<T>) => {
    namesIn(where)
    return tx
      .update(tx.of(listed))
      .set(change as never)
      .where(whereOf(tx, where, also))
  }

  /** Returns how many rows were changed. */
  const update = async (tx: Tx, where: Where<Row>, change: Change<Row>, also?: Also<T>): Promise<number> =>
    (await changing(tx, where, change, also).returning({ one: ONE })).length

  /** Like `update`, for one row, which is returned as it is now. */
  const change = async (tx: Tx, where: Where<Row>, change: Change<Row>, also?: Also<T>): Promise<Row | undefined> =>
    ((await changing(tx, where, change, also).returning()) as Row[])[0]

  /** Locks a row until the transaction ends. */
  const lock = (tx: Tx, where: Where<Row>, also?: Also<T>): Promise<Row | undefined> => {
    const [name = ''] = namesIn(where)
    const same: object = { [name]: (tx.of(listed) as unknown as Columns)[name] }
    return change(tx, where, same, also)
  }

  const deleting = (tx: Tx, where: Where<Row>, also?: Also<T>) => {
    namesIn(where)
    return tx.delete(tx.of(listed)).where(whereOf(tx, where, also))
  }

  /** Deletes rows. Returns how many. */
  const remove = async (tx: Tx, where: Where<Row>, also?: Also<T>): Promise<number> =>
    (await deleting(tx, where, also).returning({ one: ONE })).length

  /** Like `remove`. Returns the deleted rows. */
  const take = async (tx: Tx, where: Where<Row>, also?: Also<T>): Promise<Row[]> =>
    (await deleting(tx, where, also).returning()) as Row[]

  return { first, all, count, insert, add, update, change, lock, remove, take }
}

type Change<Row> = { readonly [Name in keyof Row]?: Row[Name] | SQL }

const ONE = sql<number>`1`

function namesIn(where: object): string[] {
  const names = Object.keys(where)
  const missing = Object.entries(where).find(([, value]) => value === undefined)
  if (!names.length || missing) throw new Error(`a statement needs a value for ${missing?.[0] ?? 'a column'}`)
  return names
}
