import type { OwnerScope } from '../kernel/caller'
import type { Tx } from '../kernel/store'
import type { JobId, JobType } from './schema'
import type { JobRow } from './table'

/** The payload or result of a job: a JSON object, or null. */
export type Stored = object | null

/** A claimed job as its kind sees it. */
export type Running<Payload extends Stored> = {
  readonly id: JobId
  readonly owner: OwnerScope | null
  readonly payload: Payload
  /** 1 for the first attempt. */
  readonly attempt: number
  /** Aborts when the job is cancelled, taken over or times out, and when the server stops. */
  readonly signal: AbortSignal
  /** Reports progress in percent, 0 to 99, and a word for the stage. Never decreases. Written about once a second. */
  progress(percent: number, stage?: string): void
  /** The value that this or an earlier attempt stored under a name, or null. */
  recall(name: string): Promise<object | null>
  /**
   * Stores a JSON object for later attempts of a kind that remembers, until the job ends. Throws when another process
   * has the job.
   */
  keep(name: string, value: object): Promise<void>
  /** Runs a transaction that commits only while this process holds the job. Otherwise throws and rolls back. */
  write<T>(unit: (tx: Tx) => Promise<T>): Promise<T>
}

/** The outcome of a successful run: a result whose effects commit with it exactly once, or a later continuation. */
export type Outcome<Result extends Stored> =
  | { result?: Result; again?: undefined; effects?(tx: Tx): Promise<unknown> }
  /** `at` in epoch milliseconds. The next run counts as a first attempt. */
  | { again: { at: number }; result?: undefined; effects?(tx: Tx): Promise<unknown> }

/** Throw this to fail a job without another attempt. Its message is stored and may be shown to the job's owner. */
export class GiveUp extends Error {
  override name = 'GiveUp'
}

/**
 * A kind of work. A run happens at least once. Effects in the database belong in `Outcome.effects` or `Running.write`,
 * which happen exactly once. Effects elsewhere need a key, such as the job's id, to be repeated safely.
 */
export type JobKind<Payload extends Stored = Stored, Result extends Stored = Stored> = {
  name: string
  /** The type under which callers can read, list and cancel its jobs. Such jobs wait at most 24 hours. */
  shown?: JobType
  run(job: Running<Payload>): Promise<Outcome<Result>>
  /** Maximum number of runs, crashes included, and the delay after each failed run, in milliseconds. */
  retry: { attempts: number; delayMs(attempt: number): number }
  /** Time limit of a run in milliseconds. A longer run fails without another attempt. */
  timeLimitMs: number
  /** Maximum number of concurrent runs in this process. */
  concurrency: number
  /** Maximum number of concurrent runs, over all processes, of jobs with the same fair key. */
  concurrencyPerKey?: number
  /** Its attempts store data for later attempts, which is deleted when the job ends. */
  remembers?: true
  /** Runs forever, this long after each end, in one process at a time. Its payload is null. */
  everyMs?: number
  /**
   * When there is work again, in epoch milliseconds, or null if none is known. A recurring kind rests until then, but
   * at most five minutes. Call `ensure` for work that becomes due earlier.
   */
  dueAt?(tx: Tx): Promise<number | null>
  /** Retention of a row after its end. 0 deletes it at its end. 30 days by default (docs/api.md 7). */
  keepMs?: number
  /** Runs in the commit that ends a job as failed, whatever the cause. Releases what it held and notifies waiters. */
  onFailed?(tx: Tx, job: { id: JobId; owner: OwnerScope | null; payload: Payload }, error: string): Promise<unknown>
  /** Runs in the commit that ends a job, completed or failed. Settles charges and notifies listeners. */
  onEnd?(tx: Tx, ended: JobRow): Promise<unknown>
  /** The stored text of an error. By default the message of a {@link GiveUp}, and a general sentence for all others. */
  describe?(error: unknown): string
}

export const STORED_MS = 30 * 86_400_000

/** The unique key of the single job of a recurring kind. */
export const RECURRING = 'recurring'

/** A kind that runs forever, `everyMs` after each end, in one process at a time. */
export const recurring = (
  name: string,
  everyMs: number,
  work: (signal: AbortSignal) => Promise<unknown>,
  rest: Pick<JobKind, 'dueAt'> = {},
): JobKind<null> => ({
  ...rest,
  name,
  everyMs,
  run: async ({ signal }) => {
    await work(signal)
    return {}
  },
  retry: { attempts: 1, delayMs: () => everyMs },
  timeLimitMs: RECURRING_LIMIT_MS,
  concurrency: 1,
})

/** Maximum rest of recurring work that knows when it is due, so that a forgotten `ensure` delays it by minutes only. */
export const MAX_IDLE_MS = 300_000

/** When recurring work runs again. Null for other work. */
export async function nextOf(tx: Tx, { everyMs, dueAt }: JobKind, now: number): Promise<number | null> {
  if (everyMs === undefined) return null
  if (!dueAt) return now + everyMs
  return Math.max(now + everyMs, Math.min((await dueAt(tx)) ?? Infinity, now + MAX_IDLE_MS))
}

const RECURRING_LIMIT_MS = 600_000

/** Declares a kind of job. */
export const defineJob = <Payload extends Stored, Result extends Stored = Stored>(
  kind: JobKind<Payload, Result>,
): JobKind<Payload, Result> => kind
