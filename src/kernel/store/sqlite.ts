import { Database } from 'bun:sqlite'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { storageUnavailable } from '../errors'
import { createCommitter, createKeeping } from './committer'
import { runOffThread } from './off-thread'
import { isSafeVersion, openFile } from './sqlite-file'
import type { Reader, Store, Tx } from './store'

type Options = {
  path: string
  /** The disk failed under a commit; the process must stop acknowledging and end. */
  onDiskFailure(error: unknown): void
  /** Tests: reject a unit that awaits anything but the store. */
  strict?: boolean
  /** How long to wait for another program that holds the file before answering 503. */
  busyPatienceMs?: number
  /** Called after each commit with the number of units in the transaction. */
  onBatch?(units: number): void
}

const BUSY_PATIENCE_MS = 1_500

/** Settings of the writer: full durability, enforced foreign keys, bounded WAL. */
const PRAGMAS = [
  'journal_mode = WAL',
  'synchronous = FULL',
  'foreign_keys = ON',
  // Without it, rows deleted by REPLACE bypass the triggers that forbid deletes.
  'recursive_triggers = ON',
  'trusted_schema = OFF',
  'cell_size_check = ON',
  'wal_autocheckpoint = 1000',
  'journal_size_limit = 67108864',
  // Random ids spread rows over many pages: with the default cache of 2 MB each page would be written many times.
  'cache_size = -65536',
  // Keeps the undo data of savepoints in memory; as a file it was half of all bytes written.
  'temp_store = MEMORY',
  // Last, once the file is open: from here on a wait inside SQLite would block the event loop (I28).
  'busy_timeout = 0',
]

/** Opens the database file with one writer and one reader connection. Run `migrate` first. */
export function openSqlite(options: Options): Store {
  const { path, onDiskFailure, strict = false, busyPatienceMs = BUSY_PATIENCE_MS, onBatch = () => undefined } = options
  const writer = openFile(path)
  const { version } = writer.query('SELECT sqlite_version() AS version').get() as { version: string }
  if (!isSafeVersion(version)) throw new Error(`SQLite ${version} can lose data; 3.51.3 or newer is needed.`)
  for (const pragma of PRAGMAS) writer.run(`PRAGMA ${pragma}`)
  const reader = new Database(path, { readonly: true, strict: true })

  const read = facade(reader)
  const base = facade(writer)
  const keeping = createKeeping()
  const committer = { writer, base, onDiskFailure, strict, busyPatienceMs, keeping, onBatch }
  const { enqueue, finish, touch } = createCommitter(committer)
  let closed = false

  const write = <T>(unit: (tx: Tx) => Promise<T>, soon: boolean): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      if (closed) return reject(storageUnavailable())
      enqueue({ run: unit, soon, resolve: resolve as (value: unknown) => void, reject })
    })

  return {
    dialect: 'sqlite',
    wire: null,
    read,
    readLong: read,
    write: (unit) => write(unit, false),
    writeSoon: (unit) => write(unit, true),
    writeOne: (unit) => write(unit, false),
    confirm: () => write(async () => touch(), false),
    failing: keeping.failing,
    ping: async () => {
      reader.query('SELECT 1').get()
    },
    integrity: () => runOffThread(path, { kind: 'integrity' }),
    backup: async (target) => {
      await runOffThread(path, { kind: 'backup', target })
    },
    close: async () => {
      if (closed) return
      closed = true
      await finish()
      reader.close()
      writer.run('PRAGMA wal_checkpoint(TRUNCATE)')
      writer.close()
    },
  }
}

function facade(database: Database): Tx {
  const db = drizzle(database)
  return {
    dialect: 'sqlite',
    prepared: Object.assign(new Map(), { compile: (sql: string) => database.prepare(sql) }),
    of: (table: { sqlite: unknown }) => table.sqlite,
    select: db.select.bind(db),
    selectDistinct: db.selectDistinct.bind(db),
    $count: db.$count.bind(db),
    with: db.with.bind(db),
    insert: db.insert.bind(db),
    update: db.update.bind(db),
    delete: db.delete.bind(db),
    afterCommit: () => {
      throw new Error('only a unit of work has an after')
    },
  } as unknown as Reader & Tx
}
