import { getTableColumns, type Placeholder, type SQL, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Reader, Tx } from './store'

const TYPES = { text: sql`text`, bigint: sql`bigint` }

/**
 * Objects of JSON in one parameter as the table `given`, with these members as its columns: a statement that is built
 * once serves however many there are.
 *
 *     const found = query<{ list: string }>()((db, p) =>
 *       db.select({ id: t.id }).from(t).where(sql`${t.id} in (select id from ${rowsIn(db, p.list, { id: 'text' })})`))
 *     await found(store.read, { list: JSON.stringify([{ id }]) })
 */
export function rowsIn(db: Reader, list: Placeholder, columns: Record<string, keyof typeof TYPES>): SQL {
  const names = Object.entries(columns)
  if (db.dialect === 'postgres') {
    const typed = names.map(([name, type]) => sql`${sql.identifier(name)} ${TYPES[type]}`)
    // As a text first: the driver would make JSON of it once more.
    return sql`json_to_recordset(${list}::text::json) as given(${sql.join(typed, sql`, `)})`
  }
  const taken = names.map(([name]) => sql`json_extract(value, ${`$.${name}`}) as ${sql.identifier(name)}`)
  return sql`(select ${sql.join(taken, sql`, `)} from json_each(${list})) as given`
}

/**
 * Inserts many rows; those that are there already are left. On SQLite a statement for each is the cheapest, which `one`
 * is; on Postgres it is one statement for all, with one parameter.
 */
export async function insertAll<T extends object>(
  tx: Tx,
  table: SQLiteTable,
  rows: readonly T[],
  one: (tx: Tx, row: T) => Promise<unknown>,
): Promise<void> {
  if (tx.dialect === 'sqlite' || rows.length < 2) {
    for (const row of rows) await one(tx, row)
    return
  }
  const names = sql.join(
    Object.values(getTableColumns(table)).map(({ name }) => sql.identifier(name)),
    sql`, `,
  )
  const given = sql`json_populate_recordset(null::${table}, ${JSON.stringify(rows)}::text::json)`
  await tx.insert(table).select(sql`select ${names} from ${given}`).onConflictDoNothing()
}

/** Leaves out rows that another transaction has locked, so that several processes do not wait for each other. */
export function unlocked<Q>(tx: Tx, select: Q): Q {
  if (tx.dialect === 'sqlite') return select
  // Only Postgres' builder has it; rooms see the types of SQLite's.
  type Locking = { for(strength: 'update', how: { skipLocked: true }): unknown }
  return (select as unknown as Locking).for('update', { skipLocked: true }) as Q
}
