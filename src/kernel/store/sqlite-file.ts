import { Database } from 'bun:sqlite'

/** How long to wait for a lock. A program that closes the file locks it while it merges the WAL. */
const PATIENCE_MS = 5_000

/**
 * Opens a connection to the database file, creating a missing file. Waiting for a lock blocks the thread, so use it
 * only before requests are served.
 */
export function openFile(path: string): Database {
  const database = new Database(path, { create: true, readwrite: true, strict: true })
  database.run(`PRAGMA busy_timeout = ${PATIENCE_MS}`)
  return database
}

const OLDEST_SAFE = [3, 51, 3]

/** True if this version of SQLite, such as `3.51.3`, loses no data. */
export function isSafeVersion(version: string): boolean {
  const parts = version.split('.').map(Number)
  for (const [index, oldest] of OLDEST_SAFE.entries()) {
    const part = parts[index] ?? 0
    if (part !== oldest) return part > oldest
  }
  return true
}
