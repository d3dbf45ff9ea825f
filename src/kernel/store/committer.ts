import type { Database, Statement } from 'bun:sqlite'
import { isBusy, isDiskFailure, toAppError } from './errors'
import type { Tx } from './store'

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
  /** Told how many units each transaction carried. */
  onBatch(units: number): void
}

type Ended = { unit: Unit; settle(): void }

const MAX_BATCH = 512
const BUSY_PAUSE_MS = 20
/** How long work that need not wait for durability may wait for company. */
const SOON_MS = 3

/**
 * Group commit: every unit queued in a turn runs in one transaction, each in a savepoint of its own, and
 * is answered after the one commit (design 4). A batch of nothing but `soon` units is answered at once and
 * leaves the transaction open for the next batch to commit.
 */
export function createCommitter({ writer, base, onDiskFailure, strict, busyPatienceMs, onBatch }: Deps) {
  const statement = (text: string) => writer.prepare(text)
  const begin = statement('BEGIN IMMEDIATE')
  const commit = statement('COMMIT')
  const save = statement('SAVEPOINT unit')
  const release = statement('RELEASE unit')
  const undo = statement('ROLLBACK TO unit')

  const queue: Unit[] = []
  let draining: Promise<void> | null = null
  let timer: ReturnType<typeof setTimeout> | null = null
  /** What waits has waited long enough: the batch in hand commits, whatever is in it. */
  let overdue = false

  function enqueue(unit: Unit): void {
    queue.push(unit)
    draining ??= new Promise((done) => setImmediate(() => done(drain())))
  }

  async function drain(): Promise<void> {
    while (queue.length) {
      await runBatch(queue.splice(0, MAX_BATCH))
      // A batch runs in microtasks alone; between two of them everyone else gets a turn.
      if (queue.length) await new Promise((resolve) => setImmediate(resolve))
    }
    draining = null
  }

  async function runBatch(batch: Unit[]): Promise<void> {
    const ended: Ended[] = []
    try {
      if (!writer.inTransaction) await beginPatiently(begin, busyPatienceMs)
      for (const unit of batch) ended.push({ unit, settle: await runUnit(unit) })
      if (!overdue && batch.every(({ soon }) => soon)) commitLater()
      else commitNow()
    } catch (error) {
      abandon(batch, error)
      return
    }
    onBatch(batch.length)
    for (const { settle } of ended) settle()
  }

  async function runUnit(unit: Unit): Promise<() => void> {
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

  function commitNow(): void {
    if (timer) clearTimeout(timer)
    timer = null
    overdue = false
    commit.run()
  }

  function commitLater(): void {
    timer ??= setTimeout(() => {
      timer = null
      if (!writer.inTransaction) return
      overdue = draining !== null
      if (overdue) return
      try {
        commit.run()
      } catch (error) {
        abandon([], error)
      }
    }, SOON_MS)
  }

  function abandon(batch: Unit[], error: unknown): void {
    if (writer.inTransaction) writer.run('ROLLBACK')
    for (const unit of batch) unit.reject(toAppError(error))
    if (isDiskFailure(error)) onDiskFailure(error)
  }

  /** Ends what is queued and makes all of it durable. */
  async function finish(): Promise<void> {
    await draining
    if (writer.inTransaction) commitNow()
  }

  return { enqueue, finish }
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
