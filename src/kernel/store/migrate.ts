import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { drizzle as drizzlePostgres } from 'drizzle-orm/bun-sql'
import { migrate as migratePostgres } from 'drizzle-orm/bun-sql/migrator'
import { drizzle as drizzleSqlite } from 'drizzle-orm/bun-sqlite'
import { migrate as migrateSqlite } from 'drizzle-orm/bun-sqlite/migrator'
import { sha256Hex } from '../crypto'
import { failpoint } from '../failpoint'
import { connect } from './postgres-client'
import { reached } from './reach'
import { openFile } from './sqlite-file'
import type { Dialect } from './store'

export type Schema = {
  applied: number
  known: number
  /** An applied migration differs from ours of the same number: another development version made the database. */
  strange: boolean
}

/** The location of a database: a file path or a Postgres URL. */
export type DatabaseLocation = { dialect: 'sqlite'; path: string } | { dialect: 'postgres'; url: string }

const FOLDERS = join(import.meta.dir, '../../../drizzle')
const JOURNAL = 'meta/_journal.json'
/** Puts a failpoint at every statement: a crash there must leave the database consistent. */
const logger = { logQuery: () => failpoint('migration_step') }
/** Postgres advisory lock: nodes that start together migrate one after the other. */
const MIGRATION_LOCK = 7_316_401

/** Postgres advisory lock of what each start does: it comes before that of migrations. */
const START_LOCK = 7_316_403

/**
 * Runs what only one node may do at a time, such as creating tables and first rows; others wait for their turn. On SQLite
 * the lock of the data folder has seen to that. The turn ends with its connection, also after a crash.
 */
export async function inTurn<T>(location: DatabaseLocation, work: () => Promise<T>): Promise<T> {
  if (location.dialect === 'sqlite') return work()
  const { url } = location
  const client = await reached(url, async () => connect(url))
  try {
    await reached(url, () => client`SELECT pg_advisory_lock(${START_LOCK})`)
    return await work()
  } finally {
    await client.close()
  }
}

/** How many migrations this build knows for a kind of database. */
export const knownMigrations = (dialect: Dialect): number => hashesOf(dialect).length

/** How many migrations this build knows, and how many were applied to the database. */
export async function schemaOf(location: DatabaseLocation): Promise<Schema> {
  const hashes = hashesOf(location.dialect)
  if (location.dialect === 'sqlite') {
    const database = openFile(location.path)
    try {
      return compared(
        hashes,
        rowsOf(() => database.query('SELECT hash FROM __drizzle_migrations ORDER BY created_at').all()),
      )
    } finally {
      database.close()
    }
  }
  const { url } = location
  const client = await reached(url, async () => connect(url))
  try {
    const [found] = await reached(url, () => client`SELECT to_regclass('drizzle.__drizzle_migrations') AS name`)
    if (!found.name) return compared(hashes, [])
    return compared(hashes, await client`SELECT hash FROM drizzle.__drizzle_migrations ORDER BY created_at`)
  } finally {
    await client.close()
  }
}

/** Applies the missing migrations of this build, the first `to` of them; does nothing when there are none. */
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

/** A folder with the first migrations of another, because drizzle applies all that a folder names. */
function firstOf(folder: string, count: number): string {
  const { entries, ...rest } = journalOf(folder)
  const made = mkdtempSync(join(tmpdir(), 'svc-migrations-'))
  mkdirSync(join(made, 'meta'))
  const kept = entries.slice(0, count)
  writeFileSync(join(made, JOURNAL), JSON.stringify({ ...rest, entries: kept }))
  for (const { tag } of kept) copyFileSync(join(folder, `${tag}.sql`), join(made, `${tag}.sql`))
  return made
}

async function migrateWith(location: DatabaseLocation, migrationsFolder: string): Promise<void> {
  if (location.dialect === 'sqlite') {
    const database = openFile(location.path)
    database.run('PRAGMA journal_mode = WAL')
    try {
      migrateSqlite(drizzleSqlite(database, { logger }), { migrationsFolder })
    } finally {
      database.close()
    }
    return
  }
  const client = connect(location.url)
  try {
    await client`SELECT pg_advisory_lock(${MIGRATION_LOCK})`
    await migratePostgres(drizzlePostgres({ client, logger }), { migrationsFolder })
  } finally {
    await client.close()
  }
}

type Applied = { hash: string }

const compared = (known: readonly string[], applied: readonly Applied[]): Schema => ({
  known: known.length,
  applied: applied.length,
  strange: known.some((hash, at) => applied[at] !== undefined && applied[at].hash !== hash),
})

/** The hash under which each migration of this build is recorded: the SHA-256 of its text. */
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
