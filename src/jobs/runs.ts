import { asOneWork } from '../kernel/caller'
import { AppError } from '../kernel/errors'
import type { Tx } from '../kernel/store'
import { GiveUp, type JobKind, nextOf, type Outcome, type Running, type Stored } from './kind'
import { jobMemoryRepository as memory, jobRepository as rows, jobStepRepository as steps } from './repository'
import type { JobId } from './schema'
import type { JobsDeps } from './service'
import type { JobRow } from './table'

/** One run in this process. */
type Run = {
  row: JobRow
  kind: JobKind
  abort: AbortController
  leaseUntil: number
  /** Progress that is not written yet. */
  news: { percent: number; stage: string | null } | null
  done: Promise<void>
}

/** The job has another worker or has ended, so this run has no effect any more. */
class LeaseLost extends Error {}
class OutOfTime extends Error {}
class Stopping extends Error {}

const BATCH = 100
/** Number of lease renewals per lease duration. */
const RENEWALS = 5
const LONGEST_DELAY_MS = 600_000
/** How long runs may take to end after the server begins to stop. */
const GRACE_MS = 5_000

/** The runs of this process: their access to their jobs, their endings, and the renewal of their leases. */
export function createRuns(
  { store, clock, node, leaseMs, onError }: JobsDeps,
  { kinds, onEnd }: { kinds: ReadonlyMap<string, JobKind>; onEnd(): void },
) {
  const running = new Set<Run>()
  let renewedAt = clock.now()
  return { begin, countOf, settled, stop, drop, fail, pulse }

  /** The number of runs, of one kind or in total. */
  function countOf(kind?: string): number {
    return kind === undefined ? running.size : [...running].filter((run) => run.kind.name === kind).length
  }

  async function settled(): Promise<void> {
    await Promise.all([...running].map(({ done }) => done))
  }

  /** Aborts all runs, because the server stops, and waits for them. */
  async function stop(): Promise<void> {
    for (const { abort } of running) abort.abort(new Stopping())
    await settled()
  }

  function begin(kind: JobKind, row: JobRow): void {
    const run: Run = {
      row,
      kind,
      abort: new AbortController(),
      leaseUntil: row.lease_until!,
      news: null,
      done: Promise.resolve(),
    }
    running.add(run)
    run.done = execute(run)
      .catch((error) => onError(`job ${kind.name}`, error))
      .finally(() => {
        running.delete(run)
        onEnd()
      })
  }

  async function execute(run: Run): Promise<void> {
    const { kind, abort } = run
    const cancelLimit = clock.after(kind.timeLimitMs, () => abort.abort(new OutOfTime()))
    try {
      const outcome = await Promise.race([asOneWork(() => kind.run(viewOf(run))), endOf(run)])
      await complete(run, outcome)
    } catch (error) {
      await endBadly(run, abort.signal.aborted ? abort.signal.reason : error)
    } finally {
      cancelLimit()
    }
  }

  /** Rejects when the run must end now, even if it ignores its signal. */
  function endOf({ abort: { signal } }: Run): Promise<never> {
    return new Promise((_, reject) => {
      const end = () => {
        if (signal.reason instanceof Stopping) clock.after(GRACE_MS, () => reject(signal.reason))
        else reject(signal.reason)
      }
      signal.addEventListener('abort', end, { once: true })
    })
  }

  function viewOf(run: Run): Running<Stored> {
    const { id, owner, payload, attempts } = run.row
    return {
      id,
      owner,
      payload,
      attempt: attempts,
      signal: run.abort.signal,
      progress(percent, stage) {
        const further = Math.max(Math.min(Math.floor(percent), 99), run.news?.percent ?? run.row.progress)
        run.news = { percent: further, stage: stage ?? run.news?.stage ?? run.row.stage }
      },
      recall: (name) => memory.recall(store.read, id, name),
      keep: (name, value) => writeHeld(run, (tx) => memory.keep(tx, id, name, value)),
      write: (unit) => writeHeld(run, unit),
    }
  }

  function writeHeld<T>({ row }: Run, unit: (tx: Tx) => Promise<T>): Promise<T> {
    return store.write(async (tx) => {
      if (!(await rows.holds(tx, row))) throw new LeaseLost()
      return unit(tx)
    })
  }

  async function complete(run: Run, outcome: Outcome<Stored>): Promise<void> {
    const { row, kind } = run
    const leavesNothing = kind.keepMs === 0 && kind.everyMs === undefined && !outcome.effects && !outcome.again
    if (leavesNothing && !kind.remembers && (await store.write((tx) => rows.removeHeld(tx, row)))) return
    await writeHeld(run, async (tx) => {
      await outcome.effects?.(tx)
      const now = clock.now()
      const planned = outcome.again?.at ?? (await nextOf(tx, kind, now))
      const requestedAt = row.unique_key === null ? null : await rows.againAt(tx, row.id)
      const at = planned === null || requestedAt === null ? (planned ?? requestedAt) : Math.min(planned, requestedAt)
      if (at !== null) {
        // The progress that callers see never decreases (docs/api.md 7).
        const progressReset = kind.shown ? {} : { progress: 0 }
        // At least now, so that the job queues after jobs that already wait.
        return rows.requeue(tx, row.id, { turn: null, run_at: Math.max(at, now), attempts: 0, ...progressReset })
      }
      if (kind.keepMs === 0) return rows.remove(tx, row.id)
      const { result = null } = outcome
      const ending = { state: 'completed', result, progress: 100, stage: null, completed_at: now } as const
      const ended = await rows.end(tx, row.id, ending)
      if (kind.remembers) await memory.forget(tx, row.id)
      if (ended) await kind.onEnd?.(tx, ended)
    })
  }

  async function endBadly(run: Run, error: unknown): Promise<void> {
    if (error instanceof LeaseLost) return
    const { row, kind } = run
    const isOurs = error instanceof GiveUp || error instanceof AppError || isOfWorker(error)
    if (!isOurs) onError(`job ${kind.name}`, error)
    try {
      await writeHeld(run, (tx) => putOff(tx, { row, kind, error }))
    } catch (unwritten) {
      if (!(unwritten instanceof LeaseLost)) throw unwritten
    }
  }

  /** Schedules another attempt, or ends the job. */
  async function putOff(tx: Tx, { row, kind, error }: Pick<Run, 'row' | 'kind'> & { error: unknown }): Promise<void> {
    const now = clock.now()
    const { attempts } = row
    if (kind.everyMs !== undefined) {
      const at = now + Math.min(kind.everyMs * 2 ** attempts, LONGEST_DELAY_MS)
      return rows.requeue(tx, row.id, { turn: null, run_at: error instanceof Stopping ? now : at })
    }
    if (error instanceof Stopping && kind.retry.attempts > 1) {
      return rows.requeue(tx, row.id, { run_at: null, turn: await rows.nextTurn(tx, row), attempts: attempts - 1 })
    }
    const isLast = error instanceof GiveUp || isOfWorker(error) || attempts >= kind.retry.attempts
    const why = kind.describe?.(error) ?? describe(error, kind)
    if (isLast) return void (await fail(tx, row, why))
    if (kind.shown) await steps.add(tx, row.id, { what: 'put_off', attempt: attempts, detail: why, now })
    await rows.requeue(tx, row.id, { turn: null, run_at: now + kind.retry.delayMs(attempts) })
  }

  /** Ends a job as failed and calls the listeners of its kind. False when it had already ended. */
  async function fail(tx: Tx, row: JobRow, error: string): Promise<boolean> {
    const kind = kinds.get(row.kind)
    const ended = await rows.end(tx, row.id, { state: 'failed', error, stage: null, completed_at: clock.now() })
    if (!ended) return false
    const { id, owner, payload } = row
    if (!kind || kind.remembers) await memory.forget(tx, id)
    await kind?.onFailed?.(tx, { id, owner, payload }, error)
    await kind?.onEnd?.(tx, ended)
    if (kind?.keepMs === 0) await rows.remove(tx, id)
    return true
  }

  /** Aborts this process's run of a job that was ended in the store. */
  function drop(id: JobId): void {
    for (const { row, abort } of running) if (row.id === id) abort.abort(new LeaseLost())
  }

  /** Writes progress, renews leases, and aborts runs that lost their lease. */
  async function pulse(): Promise<number> {
    const withNews = [...running].filter(({ news }) => news)
    if (withNews.length) await store.writeSoon((tx) => tellProgress(tx, withNews))
    const now = clock.now()
    if (running.size && now - renewedAt >= leaseMs / RENEWALS) await renew(now)
    for (const { leaseUntil, abort } of running) if (leaseUntil <= clock.now()) abort.abort(new LeaseLost())
    return 0
  }

  async function tellProgress(tx: Tx, withNews: readonly Run[]): Promise<void> {
    for (const run of withNews) {
      if (!run.news) continue
      const { percent, stage } = run.news
      const { row, kind } = run
      const isNews = kind.shown && stage !== null && stage !== row.stage
      if ((await rows.progress(tx, row, percent, stage)) && isNews)
        await steps.add(tx, row.id, { what: 'stage', attempt: row.attempts, detail: stage, now: clock.now() })
      run.row = { ...run.row, progress: run.news.percent, stage: run.news.stage }
      run.news = null
    }
  }

  async function renew(now: number): Promise<void> {
    renewedAt = now
    const until = now + leaseMs
    const all = [...running]
    for (let from = 0; from < all.length; from += BATCH) {
      const some = all.slice(from, from + BATCH)
      const ids = some.map(({ row }) => row.id)
      const stored = await store.writeSoon((tx) => rows.renew(tx, ids, { node, until }))
      const fences = new Map(stored.map(({ id, fence: fencingToken }) => [id, fencingToken]))
      for (const run of some) {
        if (fences.get(run.row.id) === run.row.fence) run.leaseUntil = until
        else run.abort.abort(new LeaseLost())
      }
    }
  }
}

const isOfWorker = (error: unknown): boolean => error instanceof OutOfTime || error instanceof Stopping

function describe(error: unknown, { timeLimitMs }: JobKind): string {
  if (error instanceof OutOfTime) return `It took longer than ${Math.round(timeLimitMs / 1_000)} seconds.`
  if (error instanceof Stopping) return 'The server stopped before the job finished.'
  if (error instanceof GiveUp || error instanceof AppError) return error.message
  return 'An internal error ended it.'
}
