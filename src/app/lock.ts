import { Database } from 'bun:sqlite'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../kernel/config'
import { randomBase62 } from '../kernel/crypto'
import { isBusy } from '../kernel/store'

/** `home` is the id of the folder. A copy of the folder gets another id. */
export type DataLock = { readonly home: string; release(): void }

/**
 * Ensures one server per data folder. The lock is SQLite's lock on a small file, so the operating system releases it
 * even after `kill -9`. The only row of the file holds the pid of the owner.
 * @throws ConfigError when another process holds the lock; SQLite's error if the file cannot be written
 */
export function lockDataDir(dataDir: string): DataLock {
  const path = join(dataDir, 'server.lock')
  const database = new Database(path, { create: true, readwrite: true })
  database.run('PRAGMA busy_timeout = 0')
  database.run('PRAGMA journal_mode = DELETE')
  try {
    database.run('CREATE TABLE IF NOT EXISTS holder (pid INTEGER NOT NULL)')
    database.run('DELETE FROM holder')
    database.run('INSERT INTO holder VALUES (?)', [process.pid])
    keepHome(database, path)
    // This takes SQLite's reserved lock, which excludes other writers but lets them read the row.
    database.run('BEGIN IMMEDIATE')
  } catch (error) {
    const holder = readHolder(database)
    database.close()
    if (!isBusy(error)) throw error
    throw new ConfigError([
      `Another server (pid ${holder}) is using ${dataDir}. Stop it first, or give this one another SVC_DATA_DIR.`,
    ])
  }
  return {
    home: homeOf(database)!.id,
    release: () => {
      database.run('ROLLBACK')
      database.close()
    },
  }
}

type Home = { id: string; file: string }

const homeOf = (database: Database): Home | null => database.query('SELECT id, file FROM home').get() as Home | null

/** Gives the folder its id once. The id holds for one file on one disk, so a copy of the folder does not keep it. */
function keepHome(database: Database, path: string): void {
  const { dev, ino } = statSync(path)
  const file = `${dev}:${ino}`
  database.run('CREATE TABLE IF NOT EXISTS home (id TEXT NOT NULL, file TEXT NOT NULL)')
  if (homeOf(database)?.file === file) return
  database.run('DELETE FROM home')
  database.run('INSERT INTO home VALUES (?, ?)', [randomBase62(12), file])
}

function readHolder(database: Database): number | 'unknown' {
  try {
    return (database.query('SELECT pid FROM holder').get() as { pid: number } | null)?.pid ?? 'unknown'
  } catch {
    return 'unknown'
  }
}
