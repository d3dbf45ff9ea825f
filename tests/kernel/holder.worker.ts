import { Database } from 'bun:sqlite'

declare const self: Worker

/** Locks a database file exclusively for `ms` milliseconds, as a program does while it closes the file. */
self.onmessage = ({ data: { path, ms } }: MessageEvent<{ path: string; ms: number }>) => {
  const database = new Database(path, { create: true, readwrite: true })
  database.run('PRAGMA locking_mode = EXCLUSIVE')
  database.run('CREATE TABLE IF NOT EXISTS held (n INTEGER)')
  self.postMessage('held')
  Bun.sleepSync(ms)
  database.close()
}
