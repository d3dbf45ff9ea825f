import { sql } from 'drizzle-orm'
import type { Reader } from '../kernel/store'
import { newestId } from './rollup-repository'

/**
 * Returns the id up to which no record can still appear. On SQLite that is the newest id: one writer hands out ids
 * and commits them in order. On Postgres an id is drawn before its commit, so a lower one may appear after a higher
 * one. A transaction that has drawn an id holds a lock on the table until it ends: once every transaction that held
 * one after the newest id was read has ended, nothing below that id is missing. Returns 0 while some are left,
 * and `from`, up to which the caller has read, while nothing is newer.
 */
export function createHorizon() {
  let watched: { upTo: number; writers: ReadonlySet<string> } | null = null

  return async function horizon(db: Reader, from = 0): Promise<number> {
    if (db.dialect === 'sqlite') return newest(db)
    if (!watched) {
      const upTo = await newest(db)
      if (upTo <= from) return from
      watched = { upTo, writers: await writersOf(db) }
    } else {
      const { upTo, writers } = watched
      watched = { upTo, writers: writers.intersection(await writersOf(db)) }
    }
    if (watched.writers.size > 0) return 0
    const { upTo } = watched
    watched = null
    return upTo
  }
}

const newest = async (db: Reader): Promise<number> => (await newestId(db, {}))[0]?.id ?? 0

/** Open transactions that have written usage records or are about to. */
async function writersOf(db: Reader): Promise<Set<string>> {
  const rows = await db
    .select({ writer: sql<string>`virtualtransaction` })
    .from(sql`pg_locks`)
    .where(
      sql`relation = 'usage_records'::regclass AND mode = 'RowExclusiveLock'
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    )
  return new Set(rows.map(({ writer }) => writer))
}
