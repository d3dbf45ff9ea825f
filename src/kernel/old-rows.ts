import { and, asc, gte, lt, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { inBatches } from './loop'
import { rowsIn, type Store, type Table, type Tx } from './store'

type Aged<T> = {
  table: Table<T>
  /** The key, which is a text, and the time column that decides the age. An index must begin with the time column. */
  key: keyof T & string
  at: keyof T & string
  where?: (t: T) => SQL | undefined
  /** Deletes dependent rows in the same transaction. */
  also?: (tx: Tx, keys: readonly string[]) => Promise<unknown>
}

/** Deletes the oldest rows in a time span. Returns their times in ascending order, in epoch milliseconds. */
export async function removeOldest<T extends SQLiteTable>(
  tx: Tx,
  { table, key: keyName, at: timeName, where, also }: Aged<T>,
  { from, before, limit }: { from: number; before: number; limit: number },
): Promise<number[]> {
  const t = tx.of(table)
  const [key, at] = [t[keyName], t[timeName]] as [SQLiteColumn, SQLiteColumn]
  const isOld = and(gte(at, from), lt(at, before), where?.(t))
  const old = await tx
    .select({ key, at })
    .from(t as SQLiteTable)
    .where(isOld)
    .orderBy(asc(at))
    .limit(limit)
  const keys = old.map((row) => row.key as string)
  if (!keys.length) return []
  // Deletes by keys and not by a subquery, for which Postgres may read all rows.
  const list = JSON.stringify(keys.map((word) => ({ word })))
  await tx.delete(t).where(and(sql`${key} in (select word from ${rowsIn(tx, list, { word: 'text' })})`, isOld))
  await also?.(tx, keys)
  return old.map((row) => row.at as number)
}

/** Deletes the rows older than `before`, in small batches, oldest first. Returns how many. */
export const removeOld = <T extends SQLiteTable>(
  store: Pick<Store, 'write'>,
  aged: Aged<T>,
  before: number,
  signal?: AbortSignal,
): Promise<number> =>
  inBatches((limit, from) => store.write((tx) => removeOldest(tx, aged, { from, before, limit })), signal)
