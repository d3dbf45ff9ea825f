import type { OwnerScope } from '../kernel/caller'
import type { Tx } from '../kernel/store'
import type { JobId, JobType } from './schema'
import type { JobRow } from './table'

/** What a job may be given and may leave: an object of JSON, or nothing. */
export type Stored = object | null

/** A claimed job as its kind sees it. */
export type Running<Payload extends Stored> = {
  readonly id: JobId
  readonly owner: OwnerScope | null
  readonly payload: Payload
  /** 1 at first. */
  readonly attempt: number
  /** Aborts when the job is cancelled, taken over or out of time, and when the server stops. */
  readonly signal: AbortSignal
  /** Percent, 0 to 99, and a word for what is done now. Never falls; written about once a second. */
  progress(percent: number, stage?: string): void
  /** What this or an earlier try kept under a name; null when there is none. */
  recall(name: string): Promise<object | null>
  /**
   * Keeps an object of JSON for later tries of a kind that remembers, until the job ends. Throws when another process
   * has the job.
   */
  keep(name: string, value: object): Promise<void>
  /** A unit of work that commits only while this process holds the job: else it throws, and nothing of it stays. */
  write<T>(unit: (tx: Tx) => Promise<T>): Promise<T>
}

/** How a run ended well: with a result, and effects that commit with it, once; or it continues at a later time. */
export type Outcome<Result extends Stored> =
  | { result?: Result; again?: undefined; effects?(tx: Tx): Promise<unknown> }
  /** `at` in epoch milliseconds. The next run counts as a first attempt. */
  | { again: { at: number }; result?: undefined; effects?(tx: Tx): Promise<unknown> }

/** Throw it to fail a job without another attempt; the message is stored as its error and may be shown to its owner. */
export class GiveUp extends Error {
  override name = 'GiveUp'
}

/**
 * A kind of work. A run happens at least once: effects in the database belong into `Outcome.effects` or
 * `Running.write`, which happen once; effects elsewhere need a key, such as the job's id, to be repeated safely.
 */
export type JobKind<Payload extends Stored = Stored, Result extends Stored = Stored> = {
  name: string
  /** What callers know it as: its jobs can be read, listed and cancelled, and wait in line for 24 hours at most. */
  shown?: JobType
  run(job: Running<Payload>): Promise<Outcome<Result>>
  /** How many runs there may be, crashes included, and how long to wait after each failed one, in milliseconds. */
  retry: { attempts: number; delayMs(attempt: number): number }
  /** Longest run in milliseconds; a longer one fails without another attempt. */
  timeLimitMs: number
  /** Most runs at once in this process. */
  concurrency: number
  /** Most runs at once, of all processes, of jobs with the same fair key. */
  concurrencyPerKey?: number
  /** Its tries keep things for one another, which are deleted with its end. */
  remembers?: true
  /** Runs for ever, this long after each end, in one process at a time. Its payload is null. */
  everyMs?: number
  /**
   * When there is something to do again, in epoch milliseconds; null for nothing that is known. With it a kind that
   * recurs rests until then, for five minutes at most. What is due sooner than that asks for it with `ensure`.
   */
  dueAt?(tx: Tx): Promise<number | null>
  /** How long a row is kept after its end; 0 deletes it with its end. 30 days by default (docs/api.md 7). */
  keepMs?: number
  /** Part of the commit that ends a job as failed, whatever the cause: releases what it held, tells who waits. */
  onFailed?(tx: Tx, job: { id: JobId; owner: OwnerScope | null; payload: Payload }, error: string): Promise<unknown>
  /** Part of the commit that ends a job, completed or failed: pays or gives back, tells who listens. */
  onEnd?(tx: Tx, ended: JobRow): Promise<unknown>
  /** The stored text of an error; by default the message of a {@link GiveUp} and a general sentence for all others. */
  describe?(error: unknown): string
}

export const STORED_MS = 30 * 86_400_000

/** The key of the one job of a kind that recurs. */
export const RECURRING = 'recurring'

/** A kind that runs for ever, `everyMs` after each end, in one process of all at a time. */
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

/** Work that recurs and knows when it is due looks all the same, so that a forgotten `ensure` costs minutes only. */
export const LONGEST_REST_MS = 300_000

/** When work that recurs runs again; null for other work. */
export async function nextOf(tx: Tx, { everyMs, dueAt }: JobKind, now: number): Promise<number | null> {
  if (everyMs === undefined) return null
  if (!dueAt) return now + everyMs
  return Math.max(now + everyMs, Math.min((await dueAt(tx)) ?? Infinity, now + LONGEST_REST_MS))
}

const RECURRING_LIMIT_MS = 600_000

/** Declares a kind of job. */
export const defineJob = <Payload extends Stored, Result extends Stored = Stored>(
  kind: JobKind<Payload, Result>,
): JobKind<Payload, Result> => kind
