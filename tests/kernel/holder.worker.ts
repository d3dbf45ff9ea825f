import { Database } from 'bun:sqlite'

declare const self: Worker

/** Has a database file to itself, as a program that is closing it has, for as long as it is told. */
self.onmessage = ({ data: { path, ms } }: MessageEvent<{ path: string; ms: number }>) => {
  const database = new Database(path, { create: true, readwrite: true })
  database.run('PRAGMA locking_mode = EXCLUSIVE')
  database.run('CREATE TABLE IF NOT EXISTS held (n INTEGER)')
  self.postMessage('held')
  Bun.sleepSync(ms)
  database.close()
}
