import { Database } from 'bun:sqlite'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { systemClock } from '../clock'
import { storageUnavailable } from '../errors'
import { isAway, isBusy, isDiskFailure, toAppError } from './errors'
import { runOffThread } from './off-thread'
import { isSafeVersion, openFile } from './sqlite-file'
import type { Reader, Store, Tx, WriteAll } from './store'

export type Unit = {
  /** Returns a list of results, one for each item, if it is run for several units together. */
  run(tx: Tx, items: readonly unknown[]): Promise<unknown>
  /** May be answered before it is durable. */
  soon: boolean
  /** Runs once with the items of all units of its batch that have the same `run`. */
  together?: boolean
  item?: unknown
  resolve(value: unknown): void
  reject(error: unknown): void
  /** `clock.monotonic()` when the call was queued. */
  queuedAt: number
}

type Deps = {
  writer: Database
  base: Tx
  onDiskFailure(error: unknown): void
  strict: boolean
  busyPatienceMs: number
  keeping: ReturnType<typeof createStorageHealth>
  /** Called after each commit with the number of units in the transaction. */
  onBatch(units: number): void
}

const MAX_BATCH = 512

/** How many turns of the event loop a transaction may stay open for more units to join. */
const MAX_TURNS = 4

const BUSY_PAUSE_MS = 20

/** How long a unit waits for a busy file that earlier units have already waited for. */
const BRIEF_MS = 200

/** The file counts as newly busy after this time. */
const RETRY_AFTER_MS = 1_000

/** How long a transaction of `soon` units stays open for more units to join. */
const SOON_MS = 3

type Options = {
  path: string
  /** The disk failed during a commit. The process must stop acknowledging writes and end. */
  onDiskFailure(error: unknown): void
  /** For tests: rejects a unit that awaits anything but the store. */
  strict?: boolean
  /** How long to wait for another program that locks the file before answering 503. */
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
  // Random ids spread rows over many pages. With the default cache of 2 MB each page would be written many times.
  'cache_size = -65536',
  // Keeps the undo data of savepoints in memory. As a file it was half of all bytes written.
  'temp_store = MEMORY',
  // Last, once the file is open. From here on a wait inside SQLite would block the event loop (docs/promises.md I28).
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
  const keeping = createStorageHealth()
  const committer = { writer, base, onDiskFailure, strict, busyPatienceMs, keeping, onBatch }
  const { enqueue, finish, touch } = createCommitter(committer)
  let closed = false

  const write = <T>(unit: (tx: Tx) => Promise<T>, soon: boolean): Promise<T> => queue(unit, soon, false, null)

  const queue = <T>(run: Unit['run'], soon: boolean, together: boolean, item: unknown): Promise<T> => {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    if (closed) reject(storageUnavailable())
    else
      enqueue({
        run,
        soon,
        together,
        item,
        resolve: resolve as Unit['resolve'],
        reject,
        queuedAt: systemClock.monotonic(),
      })
    return promise
  }

  return {
    dialect: 'sqlite',
    wire: null,
    // No other process writes.
    changes: { follow: () => undefined, now: () => 0, holds: () => true },
    read,
    readLong: read,
    write: (unit) => write(unit, false),
    writeSoon: (unit) => write(unit, true),
    writeTogether: <T, R>(all: WriteAll<T, R>, item: T, isSoon = false) =>
      queue<R>(all as unknown as Unit['run'], isSoon, true, item),
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

/**
 * Group commit: units queued while a transaction is open run in it, each in its own savepoint, and are answered after
 * the common commit (docs/design.md 4). `soon` units are answered as soon as they have run. A transaction with only
 * `soon` units stays open for the next units and commits by itself after SOON_MS.
 */
export function createCommitter(deps: Deps) {
  const { writer, base, onDiskFailure, strict, busyPatienceMs, keeping, onBatch } = deps
  const statement = (text: string) => writer.prepare(text)
  const begin = statement('BEGIN IMMEDIATE')
  const commit = statement('COMMIT')
  const save = statement('SAVEPOINT unit')
  const release = statement('RELEASE unit')
  const undo = statement('ROLLBACK TO unit')
  // Writes the first page without changing anything. Without a page to write, a commit proves nothing about the disk.
  const touch = statement('PRAGMA user_version = 0')

  const queue: Unit[] = []
  /** Units that have run and wait for the commit. */
  let waiting: { units: readonly Unit[]; settle(): void }[] = []
  let draining: Promise<void> | null = null
  let timer: ReturnType<typeof setTimeout> | null = null
  /** True if SOON_MS passed while batches were running. The current drain must then commit. */
  let overdue = false
  let carried = 0
  let busy = { since: 0, last: Number.NEGATIVE_INFINITY }

  function enqueue(unit: Unit): void {
    queue.push(unit)
    draining ??= new Promise((done) => setImmediate(() => done(drain())))
  }

  /**
   * A batch runs in microtasks only. Then the event loop gets one turn, and units queued in that turn join the
   * transaction. It commits after a turn that queued nothing. So a lone unit commits at once, while under load many
   * units share a commit.
   */
  async function drain(): Promise<void> {
    for (let turns = 1; queue.length; turns++) {
      await runBatch(queue.splice(0, MAX_BATCH))
      await new Promise((resolve) => setImmediate(resolve))
      const enough = !queue.length || turns >= MAX_TURNS || waiting.length >= MAX_BATCH
      if (!enough) continue
      turns = 0
      if (waiting.length || overdue) commitNow()
      else commitLater()
    }
    draining = null
  }

  async function runBatch(batch: Unit[]): Promise<void> {
    try {
      if (!writer.inTransaction) await beginFor(batch)
      if (!batch.length) return
      const groups = new Map<Unit['run'], Unit[]>()
      for (const unit of batch) {
        const group = unit.together && groups.get(unit.run)
        if (group) group.push(unit)
        else if (unit.together) groups.set(unit.run, [unit])
        else await run([unit])
      }
      for (const group of groups.values()) await run(group)
    } catch (error) {
      abandon(batch, error)
      return
    }
    carried += batch.length
  }

  /**
   * Begins a transaction. While another program locks the file, retries without blocking the loop, and new units join.
   * Each unit is rejected when its own patience ends.
   */
  async function beginFor(batch: Unit[]): Promise<void> {
    for (;;) {
      try {
        begin.run()
        return
      } catch (error) {
        if (!isBusy(error)) throw error
        const now = systemClock.monotonic()
        busy = { since: now - busy.last > RETRY_AFTER_MS ? now : busy.since, last: now }
        const patienceMs = now - busy.since < busyPatienceMs ? busyPatienceMs : Math.min(BRIEF_MS, busyPatienceMs)
        const waited = batch.splice(0)
        for (const unit of waited) {
          if (now - unit.queuedAt < patienceMs) batch.push(unit)
          else unit.reject(toAppError(error))
        }
        if (batch.length < waited.length) keeping.lost(error)
      }
      if (!batch.length) return
      await systemClock.sleep(BUSY_PAUSE_MS)
      batch.push(...queue.splice(0, MAX_BATCH - batch.length))
    }
  }

  /** Runs a unit, or several with the same `run`, in one savepoint. Several that fail each run again alone. */
  async function run(units: readonly Unit[]): Promise<void> {
    const [{ run: write, together, soon }] = units as readonly [Unit]
    const effects: (() => void)[] = []
    const tx: Tx = Object.create(base)
    tx.afterCommit = (effect) => {
      if (soon) throw new Error('what is answered before its commit has no after')
      effects.push(effect)
    }
    save.run()
    try {
      const items = together ? units.map(({ item }) => item) : []
      const value = await (strict ? onlyStore(() => write(tx, items)) : write(tx, items))
      release.run()
      const values = together ? (value as readonly unknown[]) : [value]
      ended(units, soon, () => settle(units, values, effects))
    } catch (error) {
      // A full disk makes SQLite roll back the whole transaction. Then there is no savepoint left to undo.
      if (!writer.inTransaction) throw error
      undo.run()
      release.run()
      if (units.length > 1) for (const unit of units) await run([unit])
      else ended(units, soon, () => units[0]!.reject(toAppError(error)))
    }
  }

  /** Handles units that have run: answers `soon` units now, others after the commit. */
  function ended(units: readonly Unit[], soon: boolean, settle: () => void): void {
    if (soon) settle()
    else waiting.push({ units, settle })
  }

  function commitNow(): void {
    if (timer) clearTimeout(timer)
    timer = null
    overdue = false
    const ended = waiting
    waiting = []
    try {
      if (!writer.inTransaction) return
      if (keeping.failing()) touch.run()
      commit.run()
      keeping.kept()
    } catch (error) {
      abandon(
        ended.flatMap(({ units }) => units),
        error,
      )
      return
    }
    onBatch(carried)
    carried = 0
    for (const { settle } of ended) settle()
  }

  function commitLater(): void {
    timer ??= setTimeout(() => {
      timer = null
      if (draining) overdue = true
      else commitNow()
    }, SOON_MS)
  }

  /** Rolls back the whole transaction and rejects its units: those of this batch and those that ran before it. */
  function abandon(batch: Unit[], error: unknown): void {
    if (writer.inTransaction) writer.run('ROLLBACK')
    for (const unit of [...waiting.flatMap(({ units }) => units), ...batch]) unit.reject(toAppError(error))
    waiting = []
    carried = 0
    keeping.lost(error)
    if (isDiskFailure(error)) onDiskFailure(error)
  }

  /** Runs all queued units and commits them. */
  async function finish(): Promise<void> {
    await draining
    commitNow()
  }

  return { enqueue, finish, touch: () => void touch.run() }
}

/** Runs the effects of units after their commit. An effect that throws rejects only these units. */
function settle(units: readonly Unit[], values: readonly unknown[], effects: readonly (() => void)[]): void {
  try {
    for (const effect of effects) effect()
    for (let at = 0; at < units.length; at++) units[at]!.resolve(values[at])
  } catch (error) {
    for (const { reject } of units) reject(error)
  }
}

/**
 * Rejects a unit that awaits anything but this store. Store calls settle in microtasks, and the tick requested here
 * runs once no microtask is left. If it runs before the unit has settled, the unit waits for something else.
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

/** Tracks whether the storage persists writes, by the result of the last commit. */
export function createStorageHealth() {
  let failing = false
  return {
    failing: (): boolean => failing,
    kept(): void {
      failing = false
    },
    /** Notes a failed commit. Errors of the unit itself do not concern the storage. */
    lost(error: unknown): void {
      if (isAway(error)) failing = true
    },
  }
}
