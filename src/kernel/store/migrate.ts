import type { Database } from 'bun:sqlite'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SQL } from 'bun'
import { drizzle as drizzlePostgres } from 'drizzle-orm/bun-sql'
import { migrate as migratePostgres } from 'drizzle-orm/bun-sql/migrator'
import { drizzle as drizzleSqlite } from 'drizzle-orm/bun-sqlite'
import { migrate as migrateSqlite } from 'drizzle-orm/bun-sqlite/migrator'
import { sha256Hex } from '../crypto'
import { failpoint } from '../failpoint'
import { connect } from './postgres-line'
import { openFile } from './sqlite-file'
import type { Dialect } from './store'
import { reached } from './store'

export type Schema = {
  applied: number
  known: number
  /** An applied migration differs from ours with the same number. Another development version created the database. */
  strange: boolean
  /** A copy into the database started but did not finish, so some rows are missing. */
  unfinished: boolean
}

/** The location of a database: a file path or a Postgres URL. */
export type DatabaseLocation = { dialect: 'sqlite'; path: string } | { dialect: 'postgres'; url: string }

const FOLDERS = join(import.meta.dir, '../../../drizzle')
const JOURNAL = 'meta/_journal.json'
/** Puts a failpoint at every statement. A crash there must leave the database consistent. */
const logger = { logQuery: () => failpoint('migration_step') }
/** Postgres advisory lock: nodes that start together migrate one after the other. */
const MIGRATION_LOCK = 7_316_401

/** Postgres advisory lock for the work of each start. Taken before the lock for migrations. */
const START_LOCK = 7_316_403

/**
 * Runs work that only one node may do at a time, such as creating tables and first rows. Others wait for their turn. On
 * SQLite the lock of the data folder already ensures this. The turn ends with its connection, also after a crash.
 */
export async function inTurn<T>(location: DatabaseLocation, work: () => Promise<T>): Promise<T> {
  if (location.dialect === 'sqlite') return work()
  return onServer(location.url, async (client) => {
    await client`SELECT pg_advisory_lock(${START_LOCK})`
    return work()
  })
}

/** Number of migrations that this build knows for a kind of database. */
export const knownMigrations = (dialect: Dialect): number => hashesOf(dialect).length

/** The number of migrations that this build knows, and of those applied to the database. */
export async function schemaOf(location: DatabaseLocation): Promise<Schema> {
  const hashes = hashesOf(location.dialect)
  if (location.dialect === 'sqlite') {
    const rows = inFile(location.path, (database) =>
      rowsOf(() => database.query('SELECT hash FROM __drizzle_migrations ORDER BY created_at').all()),
    )
    return compared(hashes, rows)
  }
  return onServer(location.url, async (client) => {
    const [found] = await client`SELECT to_regclass('drizzle.__drizzle_migrations') AS name`
    if (!found.name) return compared(hashes, [])
    return compared(hashes, await client`SELECT hash FROM drizzle.__drizzle_migrations ORDER BY created_at`)
  })
}

function inFile<T>(path: string, work: (database: Database) => T): T {
  const database = openFile(path)
  try {
    return work(database)
  } finally {
    database.close()
  }
}

async function onServer<T>(url: string, work: (client: SQL) => Promise<T>): Promise<T> {
  const client = await reached(url, async () => connect(url))
  try {
    await reached(url, () => client`SELECT 1`)
    return await work(client)
  } finally {
    await client.close()
  }
}

/** A statement that removes or renames a table or a column. */
const REMOVAL = /^(?:ALTER TABLE "(\w+)" )?(?:DROP TABLE|DROP COLUMN|RENAME COLUMN|RENAME TO) "(\w+)"/gm

/** Tables and columns that migrations of Postgres after the first `applied` remove. An older release may use them. */
export const removedAfter = (applied: number): string[] =>
  journalOf(join(FOLDERS, 'postgres'))
    .entries.slice(applied)
    .flatMap(({ tag }) => [...readFileSync(join(FOLDERS, 'postgres', `${tag}.sql`), 'utf8').matchAll(REMOVAL)])
    .map(([, table, name]) => (table ? `${table}.${name}` : name!))

/** Applies the missing migrations of this build, up to the first `to`. Does nothing when none is missing. */
export async function migrate(location: DatabaseLocation, to?: number, folders = FOLDERS): Promise<void> {
  const whole = join(folders, location.dialect)
  if (to === undefined) return await migrateWith(location, whole)
  const first = firstOf(whole, to)
  try {
    await migrateWith(location, first)
  } finally {
    rmSync(first, { recursive: true })
  }
}

/** A folder with only the first migrations of another, because drizzle applies all migrations of a folder. */
function firstOf(folder: string, count: number): string {
  const { entries, ...rest } = journalOf(folder)
  const made = mkdtempSync(join(tmpdir(), 'svc-migrations-'))
  mkdirSync(join(made, 'meta'))
  const remaining = entries.slice(0, count)
  writeFileSync(join(made, JOURNAL), JSON.stringify({ ...rest, entries: remaining }))
  for (const { tag } of remaining) copyFileSync(join(folder, `${tag}.sql`), join(made, `${tag}.sql`))
  return made
}

async function migrateWith(location: DatabaseLocation, migrationsFolder: string): Promise<void> {
  if (location.dialect === 'sqlite') {
    return inFile(location.path, (database) => {
      database.run('PRAGMA journal_mode = WAL')
      // Recreating a table under its old name would otherwise fail while a view uses it.
      database.run('PRAGMA legacy_alter_table = ON')
      migrateSqlite(drizzleSqlite(database, { logger }), { migrationsFolder })
    })
  }
  await onServer(location.url, async (client) => {
    await client`SELECT pg_advisory_lock(${MIGRATION_LOCK})`
    await migratePostgres(drizzlePostgres({ client, logger }), { migrationsFolder })
  })
}

type Applied = { hash: string }

function compared(known: readonly string[], rows: readonly Applied[]): Schema {
  const applied = rows.filter(({ hash }) => hash !== UNFINISHED)
  return {
    known: known.length,
    applied: applied.length,
    strange: known.some((hash, at) => applied[at] !== undefined && applied[at].hash !== hash),
    unfinished: applied.length < rows.length,
  }
}

/** Entry in place of a hash, before the first migration. Older releases refuse such a database too. */
const UNFINISHED = 'unfinished copy'

/** Marks an empty database as being filled. Runs before all migrations, so that the mark is always present. */
export async function markUnfinished(location: DatabaseLocation): Promise<void> {
  if (location.dialect === 'sqlite') {
    return inFile(location.path, (database) => {
      database.run('CREATE TABLE __drizzle_migrations (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at numeric)')
      database.run('INSERT INTO __drizzle_migrations (hash, created_at) VALUES (?, 0)', [UNFINISHED])
    })
  }
  await onServer(location.url, (client) =>
    client.begin(async (tx) => {
      await tx`CREATE SCHEMA drizzle`
      await tx`CREATE TABLE drizzle.__drizzle_migrations (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at bigint)`
      await tx`INSERT INTO drizzle.__drizzle_migrations (hash, created_at) VALUES (${UNFINISHED}, 0)`
    }),
  )
}

/** Removes the mark, because the copy is complete. */
export async function unmark(location: DatabaseLocation): Promise<void> {
  if (location.dialect === 'sqlite') {
    return inFile(location.path, (database) => {
      database.run('DELETE FROM __drizzle_migrations WHERE hash = ?', [UNFINISHED])
    })
  }
  await onServer(location.url, (client) => client`DELETE FROM drizzle.__drizzle_migrations WHERE hash = ${UNFINISHED}`)
}

/** The recorded hash of each migration of this build: the SHA-256 of its text. */
function hashesOf(dialect: Dialect): string[] {
  return journalOf(join(FOLDERS, dialect)).entries.map(({ tag }) =>
    sha256Hex(readFileSync(join(FOLDERS, dialect, `${tag}.sql`))),
  )
}

const journalOf = (folder: string) =>
  JSON.parse(readFileSync(join(folder, JOURNAL), 'utf8')) as { entries: { tag: string }[] }

function rowsOf(read: () => unknown): Applied[] {
  try {
    return read() as Applied[]
  } catch (error) {
    if ((error as Error).message.includes('no such table')) return []
    throw error
  }
}
