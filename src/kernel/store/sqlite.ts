import { Database, type Statement } from 'bun:sqlite'
import { AsyncLocalStorage } from 'node:async_hooks'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { storageUnavailable } from '../errors'
import { isBusy, isDiskFailure, toAppError } from './errors'
import type { Reader, Store, Tx } from './store'

type Options = {
  path: string
  /** The disk failed under a commit; the process must stop acknowledging and end. */
  onDiskFailure(error: unknown): void
  /** Tests: reject a unit that awaits anything but the store. */
  strict?: boolean
  /** How long to wait for another program that holds the file before answering 503. */
  busyPatienceMs?: number
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
  // Ids are random, so rows land on pages all over: the default 2 MB would write each of them many times.
  'cache_size = -65536',
]

type Unit = { run(tx: Tx): Promise<unknown>; resolve(value: unknown): void; reject(error: unknown): void }

/** Opens the database file, one writer and one reader connection. Migrations are applied before, by `migrate`. */
export function openSqlite({ path, onDiskFailure, strict = false, busyPatienceMs = BUSY_PATIENCE_MS }: Options): Store {
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

  const queue: Unit[] = []
  let draining: Promise<void> | null = null
  let closed = false

  const runUnit = async (unit: Unit): Promise<() => void> => {
    const effects: (() => void)[] = []
    const tx: Tx = Object.create(base, { afterCommit: { value: (effect: () => void) => effects.push(effect) } })
    save.run()
    try {
      const value = await (strict ? onlyStore(() => unit.run(tx)) : unit.run(tx))
      release.run()
      return () => settle(unit, value, effects)
    } catch (error) {
      // A full disk ends the whole transaction by itself; then there is no savepoint left to undo.
      if (!writer.inTransaction) throw error
      undo.run()
      release.run()
      return () => unit.reject(toAppError(error))
    }
  }

  const runBatch = async (batch: Unit[]): Promise<void> => {
    const endings: (() => void)[] = []
    try {
      await beginPatiently(begin, busyPatienceMs)
      for (const unit of batch) endings.push(await runUnit(unit))
      commit.run()
    } catch (error) {
      if (writer.inTransaction) writer.run('ROLLBACK')
      for (const unit of batch) unit.reject(toAppError(error))
      if (isDiskFailure(error)) onDiskFailure(error)
      return
    }
    for (const end of endings) end()
  }

  const drain = async () => {
    while (queue.length) {
      await runBatch(queue.splice(0, MAX_BATCH))
      // A batch runs in microtasks alone; between two of them everyone else gets a turn.
      if (queue.length) await new Promise((resolve) => setImmediate(resolve))
    }
    draining = null
  }

  return {
    dialect: 'sqlite',
    read,
    write: <T>(unit: (tx: Tx) => Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        if (closed) return reject(storageUnavailable())
        // Without the snapshot every unit of a batch would see the async context of the first.
        const run = AsyncLocalStorage.bind(unit)
        queue.push({ run, resolve: resolve as (value: unknown) => void, reject })
        draining ??= new Promise((done) => setImmediate(() => done(drain())))
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
      if (closed) return
      closed = true
      await draining
      reader.close()
      writer.run('PRAGMA wal_checkpoint(TRUNCATE)')
      writer.close()
    },
  }
}

/** After the commit: an effect that fails is its own unit's failure and nobody else's. */
function settle(unit: Unit, value: unknown, effects: (() => void)[]): void {
  try {
    for (const effect of effects) effect()
    unit.resolve(value)
  } catch (error) {
    unit.reject(error)
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

/** Another program holds the file: wait for it without blocking anyone, but not for long. */
async function beginPatiently(begin: Statement, patienceMs: number): Promise<void> {
  for (let waited = 0; ; waited += BUSY_PAUSE_MS) {
    try {
      begin.run()
      return
    } catch (error) {
      if (!isBusy(error) || waited >= patienceMs) throw error
      await new Promise((resolve) => setTimeout(resolve, BUSY_PAUSE_MS))
    }
  }
}

/**
 * A unit that only awaits this store settles in microtasks; a tick that was asked for on the way comes
 * when they have run out, so it comes first only when the unit waits for something else.
 */
async function onlyStore<T>(run: () => Promise<T>): Promise<T> {
  let waited = false
  await undefined
  process.nextTick(() => {
    waited = true
  })
  const value = await run()
  if (waited) throw new Error('a unit of work awaited something other than the store')
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
