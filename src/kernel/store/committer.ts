import type { Database } from 'bun:sqlite'
import { systemClock } from '../clock'
import { isAway, isBusy, isDiskFailure, toAppError } from './errors'
import type { Tx } from './store'

type Keeping = ReturnType<typeof createKeeping>

export type Unit = {
  run(tx: Tx): Promise<unknown>
  /** May be answered before it is durable. */
  soon: boolean
  resolve(value: unknown): void
  reject(error: unknown): void
}

type Deps = {
  writer: Database
  base: Tx
  onDiskFailure(error: unknown): void
  strict: boolean
  busyPatienceMs: number
  keeping: Keeping
  /** Called after each commit with the number of units in the transaction. */
  onBatch(units: number): void
}

type Queued = Unit & { queuedAt: number }
type Ended = { unit: Unit; settle(): void }

const MAX_BATCH = 512
/** How many turns of the event loop a transaction may stay open for more units to join. */
const MAX_TURNS = 4
const BUSY_PAUSE_MS = 20
/** How long a unit waits for a file that others have waited for in vain. */
const BRIEF_MS = 200
/** Busy again after so long is busy anew. */
const ANEW_MS = 1_000
/** How long a transaction of `soon` units stays open for more units to join. */
const SOON_MS = 3

/**
 * Group commit: units queued while a transaction is open run in it, each in its own savepoint, and are answered after
 * the common commit (design 4). `soon` units are answered as soon as they have run; a transaction of `soon` units only
 * stays open for the next units and commits by itself after SOON_MS.
 */
export function createCommitter(deps: Deps) {
  const { writer, base, onDiskFailure, strict, busyPatienceMs, keeping, onBatch } = deps
  const statement = (text: string) => writer.prepare(text)
  const begin = statement('BEGIN IMMEDIATE')
  const commit = statement('COMMIT')
  const save = statement('SAVEPOINT unit')
  const release = statement('RELEASE unit')
  const undo = statement('ROLLBACK TO unit')
  // Writes the first page and changes nothing: without a page to write, a commit proves nothing about the disk.
  const touch = statement('PRAGMA user_version = 0')

  const queue: Queued[] = []
  /** Units that have run and wait for the commit. */
  let waiting: Ended[] = []
  let draining: Promise<void> | null = null
  let timer: ReturnType<typeof setTimeout> | null = null
  /** SOON_MS passed while batches were running: the current drain must commit. */
  let overdue = false
  let carried = 0
  let busy = { since: 0, last: Number.NEGATIVE_INFINITY }

  function enqueue(unit: Unit): void {
    queue.push({ ...unit, queuedAt: systemClock.monotonic() })
    draining ??= new Promise((done) => setImmediate(() => done(drain())))
  }

  /**
   * A batch runs in microtasks only. Then the event loop gets one turn, and units queued in that turn join the
   * transaction. It commits after a turn that queued nothing: a lone unit commits at once, while under load many units
   * share a commit.
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

  async function runBatch(batch: Queued[]): Promise<void> {
    try {
      if (!writer.inTransaction) await beginFor(batch)
      if (!batch.length) return
      for (const unit of batch) {
        const settle = await runUnit(unit)
        if (unit.soon) settle()
        else waiting.push({ unit, settle })
      }
    } catch (error) {
      abandon(batch, error)
      return
    }
    carried += batch.length
  }

  /**
   * Begins a transaction. While another program holds the file it is tried again without blocking the loop, and units
   * that come meanwhile join; each leaves, refused, when its own patience is over.
   */
  async function beginFor(batch: Queued[]): Promise<void> {
    for (;;) {
      try {
        begin.run()
        return
      } catch (error) {
        if (!isBusy(error)) throw error
        const now = systemClock.monotonic()
        busy = { since: now - busy.last > ANEW_MS ? now : busy.since, last: now }
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

  async function runUnit(unit: Unit): Promise<() => void> {
    const effects: (() => void)[] = []
    const tx: Tx = Object.create(base)
    tx.afterCommit = (effect) => {
      if (unit.soon) throw new Error('what is answered before its commit has no after')
      effects.push(effect)
    }
    save.run()
    try {
      const value = await (strict ? onlyStore(() => unit.run(tx)) : unit.run(tx))
      release.run()
      return () => settle(unit, value, effects)
    } catch (error) {
      // A full disk makes SQLite roll back the whole transaction; then there is no savepoint left to undo.
      if (!writer.inTransaction) throw error
      undo.run()
      release.run()
      return () => unit.reject(toAppError(error))
    }
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
        ended.map(({ unit }) => unit),
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
    for (const unit of [...waiting.map((ended) => ended.unit), ...batch]) unit.reject(toAppError(error))
    waiting = []
    carried = 0
    keeping.lost(error)
    if (isDiskFailure(error)) onDiskFailure(error)
  }

  /** Runs everything that is queued and commits it. */
  async function finish(): Promise<void> {
    await draining
    commitNow()
  }

  return { enqueue, finish, touch: () => void touch.run() }
}

/** Runs the unit's effects after the commit; one that throws rejects this unit and no other. */
function settle(unit: Unit, value: unknown, effects: (() => void)[]): void {
  try {
    for (const effect of effects) effect()
    unit.resolve(value)
  } catch (error) {
    unit.reject(error)
  }
}

/**
 * Rejects a unit that awaits anything but this store. Store calls settle in microtasks, and the tick requested here
 * runs once no microtask is left: if it runs before the unit has settled, the unit waits for something else.
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

/** Follows whether the storage keeps what is written, as the last commit that was tried shows. */
export function createKeeping() {
  let failing = false
  return {
    failing: (): boolean => failing,
    kept(): void {
      failing = false
    },
    /** Notes a failed commit; errors of the unit itself say nothing about the storage. */
    lost(error: unknown): void {
      if (isAway(error)) failing = true
    },
  }
}
