import { Database } from 'bun:sqlite'

/** Another program that closes the file has it alone while it folds the log back; that takes moments. */
const PATIENCE_MS = 5_000

/**
 * A connection to the database file, made when there is none. It waits for whoever has the file to
 * itself, blocking: for the time before anybody is served.
 */
export function openFile(path: string): Database {
  const database = new Database(path, { create: true, readwrite: true, strict: true })
  database.run(`PRAGMA busy_timeout = ${PATIENCE_MS}`)
  return database
}
