import { Database } from 'bun:sqlite'
import type { Outcome, Task } from './off-thread'

declare const self: Worker

/** How long to wait for a lock. Waiting in this thread does not block the event loop. */
const PATIENCE_MS = 10_000

self.onmessage = ({ data: { path, task } }: MessageEvent<{ path: string; task: Task }>) => {
  self.postMessage(attempt(path, task))
}

function attempt(path: string, task: Task): Outcome {
  try {
    const database = new Database(path, { readonly: true })
    try {
      database.run(`PRAGMA busy_timeout = ${PATIENCE_MS}`)
      if (task.kind === 'backup') {
        database.query('VACUUM INTO ?').run(task.target)
        return { problems: [] }
      }
      const rows = database.query('PRAGMA integrity_check').all() as { integrity_check: string }[]
      const broken = rows.map((row) => row.integrity_check).filter((line) => line !== 'ok')
      const orphans = database.query('PRAGMA foreign_key_check').all()
      return { problems: orphans.length ? [...broken, `${orphans.length} rows break a foreign key`] : broken }
    } finally {
      database.close()
    }
  } catch (error) {
    const { message, code, errno } = error as { message: string; code?: unknown; errno?: unknown }
    return { failed: { message, code, errno } }
  }
}
