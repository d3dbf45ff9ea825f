import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'
import { drizzle as drizzlePostgres } from 'drizzle-orm/bun-sql'
import { migrate as migratePostgres } from 'drizzle-orm/bun-sql/migrator'
import { drizzle as drizzleSqlite } from 'drizzle-orm/bun-sqlite'
import { migrate as migrateSqlite } from 'drizzle-orm/bun-sqlite/migrator'
import { failpoint } from '../failpoint'
import { openFile } from './sqlite-file'
import type { Dialect } from './store'

export type Schema = { applied: number; known: number }

/** Where a database is: a file path, or a Postgres URL. */
export type Place = { dialect: 'sqlite'; path: string } | { dialect: 'postgres'; url: string }

const FOLDERS = join(import.meta.dir, '../../../drizzle')
/** Every statement of a migration is an instant at which a crash must leave the database whole. */
const logger = { logQuery: () => failpoint('migration_step') }
/** Two nodes that start together take turns. */
const MIGRATION_LOCK = 7_316_401

/** How many migrations this build knows, and how many the database has had. */
export async function schemaOf(place: Place): Promise<Schema> {
  const known = journal(place.dialect).length
  if (place.dialect === 'sqlite') {
    const database = openFile(place.path)
    try {
      return { known, applied: countRows(() => database.query('SELECT count(*) AS n FROM __drizzle_migrations').get()) }
    } finally {
      database.close()
    }
  }
  const client = new SQL(place.url, { max: 1, connectionTimeout: 5 })
  try {
    const [found] = await client`SELECT to_regclass('drizzle.__drizzle_migrations') AS name`
    if (!found.name) return { known, applied: 0 }
    const [row] = await client`SELECT count(*)::int AS n FROM drizzle.__drizzle_migrations`
    return { known, applied: row.n }
  } finally {
    await client.close()
  }
}

/** Brings the database to this build's schema. Does nothing when it is there already. */
export async function migrate(place: Place): Promise<void> {
  const migrationsFolder = join(FOLDERS, place.dialect)
  if (place.dialect === 'sqlite') {
    const database = openFile(place.path)
    database.run('PRAGMA journal_mode = WAL')
    try {
      migrateSqlite(drizzleSqlite(database, { logger }), { migrationsFolder })
    } finally {
      database.close()
    }
    return
  }
  const client = new SQL(place.url, { max: 1, connectionTimeout: 5 })
  try {
    await client`SELECT pg_advisory_lock(${MIGRATION_LOCK})`
    await migratePostgres(drizzlePostgres({ client, logger }), { migrationsFolder })
  } finally {
    await client.close()
  }
}

function journal(dialect: Dialect): unknown[] {
  return (JSON.parse(readFileSync(join(FOLDERS, dialect, 'meta/_journal.json'), 'utf8')) as { entries: unknown[] })
    .entries
}

function countRows(read: () => unknown): number {
  try {
    return (read() as { n: number }).n
  } catch (error) {
    if ((error as Error).message.includes('no such table')) return 0
    throw error
  }
}
