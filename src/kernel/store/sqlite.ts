import { Database, type Statement } from 'bun:sqlite'
import { AsyncLocalStorage } from 'node:async_hooks'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { isBusy, isDiskFailure, toAppError } from './errors'
import type { Reader, Store, Tx } from './store'

type Options = {
  path: string
  /** The disk failed under a commit; the process must stop acknowledging and end. */
  onDiskFailure(error: unknown): void
  /** Tests: reject a unit that awaits anything but the store. */
  strict?: boolean
}

const OLDEST_SAFE = [3, 51, 3]
const MAX_BATCH = 512
const BUSY_PATIENCE_MS = 2_000
const BUSY_PAUSE_MS = 20

/** Full durability, and never a wait inside SQLite: a busy timeout would block the event loop (reliability 0.9). */
const PRAGMAS = [
  'busy_timeout = 0',
  'journal_mode = WAL',
  'synchronous = FULL',
  'foreign_keys = ON',
  'trusted_schema = OFF',
  'cell_size_check = ON',
  'wal_autocheckpoint = 1000',
  'journal_size_limit = 67108864',
]

type Unit = { run(tx: Tx): Promise<unknown>; resolve(value: unknown): void; reject(error: unknown): void }

/** Opens the database file, one writer and one reader connection. Migrations are applied before, by `migrate`. */
export function openSqlite({ path, onDiskFailure, strict = false }: Options): Store {
  const writer = new Database(path, { create: true, readwrite: true, strict: true })
  assertSafeVersion(writer)
  for (const pragma of PRAGMAS) writer.run(`PRAGMA ${pragma}`)
  const reader = new Database(path, { readonly: true, strict: true })
  reader.run('PRAGMA busy_timeout = 0')

  const read = facade(reader)
  const base = facade(writer)
  const statement = (text: string) => writer.prepare(text)
  const begin = statement('BEGIN IMMEDIATE')
  const commit = statement('COMMIT')
  const save = statement('SAVEPOINT unit')
  const release = statement('RELEASE unit')
  const undo = statement('ROLLBACK TO unit')

  let queue: Unit[] = []
  let draining = false

  const runUnit = async (unit: Unit): Promise<() => void> => {
    const effects: (() => void)[] = []
    const tx: Tx = Object.create(base, { afterCommit: { value: (effect: () => void) => effects.push(effect) } })
    save.run()
    try {
      const value = await (strict ? onlyStore(unit.run(tx)) : unit.run(tx))
      release.run()
      return () => {
        for (const effect of effects) effect()
        unit.resolve(value)
      }
    } catch (error) {
      // A full disk ends the whole transaction by itself; then there is no savepoint left to undo.
      if (!writer.inTransaction) throw error
      undo.run()
      release.run()
      return () => unit.reject(toAppError(error))
    }
  }

  const runBatch = async (batch: Unit[]): Promise<void> => {
    try {
      await beginPatiently(begin)
      const settled: (() => void)[] = []
      for (const unit of batch) settled.push(await runUnit(unit))
      commit.run()
      for (const settle of settled) settle()
    } catch (error) {
      if (writer.inTransaction) writer.run('ROLLBACK')
      for (const unit of batch) unit.reject(toAppError(error))
      if (isDiskFailure(error)) onDiskFailure(error)
    }
  }

  const drain = async () => {
    while (queue.length) {
      const batch = queue.splice(0, MAX_BATCH)
      await runBatch(batch)
    }
    draining = false
  }

  return {
    dialect: 'sqlite',
    read,
    write: <T>(unit: (tx: Tx) => Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        // Without the snapshot every unit of a batch would see the async context of the first.
        const run = AsyncLocalStorage.bind(unit)
        queue.push({ run, resolve: resolve as (value: unknown) => void, reject })
        if (draining) return
        draining = true
        setImmediate(() => void drain())
      }),
    ping: async () => {
      reader.query('SELECT 1').get()
    },
    integrity: async () => {
      const rows = reader.query('PRAGMA integrity_check').all() as { integrity_check: string }[]
      const broken = rows.map((row) => row.integrity_check).filter((line) => line !== 'ok')
      const orphans = reader.query('PRAGMA foreign_key_check').all()
      return orphans.length ? [...broken, `${orphans.length} rows break a foreign key`] : broken
    },
    backup: async (target) => {
      reader.query('VACUUM INTO ?').run(target)
    },
    close: async () => {
      queue = []
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
    prepared: new Map(),
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

/** Another program holds the file: wait for it without blocking anyone, two seconds at most. */
async function beginPatiently(begin: Statement): Promise<void> {
  for (let waited = 0; ; waited += BUSY_PAUSE_MS) {
    try {
      begin.run()
      return
    } catch (error) {
      if (!isBusy(error) || waited >= BUSY_PATIENCE_MS) throw error
      await new Promise((resolve) => setTimeout(resolve, BUSY_PAUSE_MS))
    }
  }
}

/** A unit that only awaits this store settles in microtasks; anything else lets a macrotask in. */
async function onlyStore<T>(running: Promise<T>): Promise<T> {
  let macrotask = false
  const spy = setImmediate(() => {
    macrotask = true
  })
  const value = await running.finally(() => clearImmediate(spy))
  if (macrotask) throw new Error('a unit of work awaited something other than the store')
  return value
}

function assertSafeVersion(database: Database): void {
  const { version } = database.query('SELECT sqlite_version() AS version').get() as { version: string }
  const parts = version.split('.').map(Number)
  for (const [place, wanted] of OLDEST_SAFE.entries()) {
    if ((parts[place] ?? 0) > wanted) return
    if ((parts[place] ?? 0) < wanted) throw new Error(`SQLite ${version} can lose data; 3.51.3 or newer is needed.`)
  }
}
