import { and, asc, eq, gt, inArray, isNull, lte, type SQL, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import type { KeyId } from '../kernel/ids'
import { inBatches, type Loop } from '../kernel/loop'
import { removeOldest } from '../kernel/old-rows'
import { allOf, command, type Reader, type Store, type Tx, unlocked } from '../kernel/store'
import { type JobKind, RECURRING, recurring, STORED_MS, type Stored } from './kind'
import { shownJobs } from './queries'
import { createQueues } from './queues'
import { jobMemoryRepository as memory, jobRepository as rows, jobStepRepository as steps } from './repository'
import { CANCELLED, JobId, QUEUE_TIMEOUT } from './schema'
import { type AskRow, type JobRow, jobAsks, jobServingTime, jobs } from './table'
import { createWorker } from './worker'

/** How often the serving time of jobs is counted. */
const SERVING_STEP_MS = 300_000

/** Maximum wait in the queue, in serving time (docs/api.md 7). */
const QUEUE_LIMIT_MS = 86_400_000

const BATCH = 100

const ONLY = 1

type Deps = { store: Store; clock: Clock; fail(tx: Tx, row: JobRow, error: string): Promise<boolean> }

/** Fails jobs that waited for a worker longer than a day of serving time. */
const createQueueTimeout =
  ({ store, clock, fail }: Deps) =>
  async (): Promise<void> => {
    const total = await store.write((tx) => count(tx, clock.now()))
    const endSome = () =>
      store.write(async (tx) => {
        const t = tx.of(jobs)
        const waits = and(sql`${t.state} = 'queued'`, isNull(t.started_at), lte(t.lined_up_at, total - QUEUE_LIMIT_MS))
        const late = (await tx.select().from(t).where(waits).orderBy(asc(t.lined_up_at)).limit(BATCH)) as JobRow[]
        for (const row of late) await fail(tx, row, QUEUE_TIMEOUT)
        return late.length
      })
    while ((await endSome()) === BATCH);
  }

/** Ended jobs of these kinds, and of this owner if given. `before` is epoch milliseconds. */
type Ended = { kinds: readonly string[]; before: number; owner?: OwnerScope | null }

const endedBefore = (t: typeof jobs.sqlite, { kinds, before, owner = null }: Ended): SQL | undefined =>
  and(
    inArray(t.kind, [...kinds]),
    lte(t.completed_at, before),
    gt(t.completed_at, 0),
    owner === null ? undefined : eq(t.owner, owner),
  )

type Ask = Omit<AskRow, 'seq'>

const inserted = command<Ask>()((tx, p) => tx.insert(tx.of(jobAsks)).values(allOf(tx.of(jobAsks), p)))

/** Requests for jobs that no worker has processed yet. */
const askRepository = {
  insert: async (tx: Tx, ask: Ask): Promise<void> => void (await inserted(tx, ask)),

  /** Removes and returns the first requests that no other worker has taken: one per job, with the earliest time. */
  async take(tx: Tx, limit: number): Promise<Ask[]> {
    const t = tx.of(jobAsks)
    const found = (await unlocked(tx, tx.select().from(t).orderBy(asc(t.seq)).limit(limit))) as AskRow[]
    const seqs = found.map(({ seq }) => seq)
    if (seqs.length) await tx.delete(t).where(inArray(t.seq, seqs))
    const byJob = Map.groupBy(found, ({ kind, unique_key }) => `${kind} ${unique_key}`)
    // Sorted, so that workers that process several requests do not deadlock.
    const inOrder = [...byJob].sort(([a], [b]) => (a < b ? -1 : 1))
    return inOrder.map(([, some]) => ({ ...some[0]!, run_at: Math.min(...some.map(({ run_at }) => run_at)) }))
  },
}

export type JobsDeps = {
  store: Store
  clock: Clock
  /** Which kinds this process runs, by default all. It still queues the others for processes that run them. */
  takes?(kind: string): boolean
  /** Id of this process, new at each start. */
  node: string
  /** How long a worker may be silent before other workers take its jobs, in milliseconds. */
  leaseMs: number
  onError(name: string, error: unknown): void
}

export type NewJob<Payload extends Stored> = {
  owner: OwnerScope | null
  payload: Payload
  id?: JobId
  /** At most one open job of the kind has this key. A second one is not created. */
  uniqueKey?: string
  /** The API key that requested the job. */
  keyId?: KeyId | null
  /** The key whose turn the job takes, by default the owner. */
  fairKey?: string
  /** Epoch milliseconds, by default now. */
  runAt?: number
}

type Wanted<Payload extends Stored> = Pick<NewJob<Payload>, 'owner' | 'payload' | 'runAt'> & { uniqueKey: string }

type Named = Pick<JobKind, 'name' | 'shown'>

export type Jobs = ReturnType<typeof createJobs>

const TIDY_EVERY_MS = 600_000
const ASKS_BATCH = 500

/** The job queue of this server: kinds of work are registered, jobs are queued, workers run them. */
export function createJobs(deps: JobsDeps) {
  const { store, clock } = deps
  const kinds = new Map<string, JobKind>()
  const worker = createWorker(deps, kinds, { addRecurring, heed })
  const timeOut = createQueueTimeout({ store, clock, fail: worker.fail })
  register(recurring('jobs.tidy', TIDY_EVERY_MS, tidy))
  register(recurring('jobs.queue-timeout', SERVING_STEP_MS, timeOut))
  return {
    register,
    enqueue,
    enqueueAll,
    ensure,
    cancel,
    /** Stores an object for the attempts of a job that is queued in the same transaction. */
    keepFor: memory.keep,
    /** Starts the workers of this process. Stopping aborts the signals of running jobs and waits for them. */
    start: (): Loop => worker.start(),
    runDue: worker.runDue,
    /** The number of jobs that this process runs now. */
    running: worker.running,
    shown: shownJobs,
    /** A job of this kind and owner, visible or not. */
    find: async (reader: Reader, { name }: Named, owner: OwnerScope, id: JobId): Promise<JobRow | undefined> => {
      const row = await rows.byId(reader, id)
      return row?.kind === name && row.owner === owner ? row : undefined
    },
    stepsOf: steps.of,
    queues: createQueues({ clock, kinds, wake: worker.wake }),
    countEnded,
    removeEnded,
  }

  /** Registers a kind of work. Jobs of unknown kinds are left to processes that know them. */
  function register<Payload extends Stored, Result extends Stored>(kind: JobKind<Payload, Result>): void {
    if (kinds.has(kind.name)) throw new Error(`the kind of job "${kind.name}" is registered twice`)
    kinds.set(kind.name, kind as unknown as JobKind)
  }

  /** Adds a job in the transaction of its cause. Null when an open job has the same unique key. */
  async function enqueue<Payload extends Stored>(tx: Tx, kind: Named, job: NewJob<Payload>): Promise<JobId | null> {
    const [row] = await rowsOf(tx, kind, [job])
    if (!(await rows.insert(tx, row!))) return null
    tx.afterCommit(worker.wake)
    return row!.id
  }

  /** Adds several jobs at once. Skips those whose unique key an open job already has. */
  async function enqueueAll<Payload extends Stored>(
    tx: Tx,
    kind: Named,
    some: readonly NewJob<Payload>[],
  ): Promise<void> {
    await rows.insertAll(tx, await rowsOf(tx, kind, some))
    tx.afterCommit(worker.wake)
  }

  async function rowsOf(tx: Tx, kind: Named, some: readonly NewJob<Stored>[]): Promise<JobRow[]> {
    const now = clock.now()
    const linedUpAt = kind.shown === undefined ? null : await servingTime(tx)
    const made = some.map(
      ({ id = JobId.create(), uniqueKey = null, keyId = null, ...job }): JobRow => ({
        id,
        kind: kind.name,
        fair_key: job.fairKey ?? job.owner ?? '',
        type: kind.shown ?? null,
        state: 'queued',
        owner: job.owner,
        key_id: keyId,
        unique_key: uniqueKey,
        payload: job.payload,
        turn: null,
        run_at: job.runAt !== undefined && job.runAt > now ? job.runAt : null,
        again_at: null,
        lease_until: null,
        fence: 0,
        node: null,
        attempts: 0,
        progress: 0,
        stage: null,
        result: null,
        error: null,
        created_at: now,
        started_at: null,
        completed_at: null,
        lined_up_at: linedUpAt,
      }),
    )
    const inLine = made.filter((row) => row.run_at === null)
    const turns = inLine.length ? await rows.nextTurns(tx, inLine) : []
    for (const [at, row] of inLine.entries()) row.turn = turns[at]!
    return made
  }

  /**
   * Ensures that a job of this kind and key runs at `runAt` or earlier: adds a job, runs the open one sooner, or runs
   * it again after its current run. Any number of requests for one key thus share one job.
   */
  async function ensure<Payload extends Stored>(
    tx: Tx,
    kind: Pick<JobKind, 'name'>,
    { owner, payload, uniqueKey, runAt = 0 }: Wanted<Payload>,
  ): Promise<void> {
    const run_at = Math.max(runAt, clock.now())
    const ask: Ask = { kind: kind.name, unique_key: uniqueKey, owner, payload, run_at }
    // SQLite has one writer at a time. On Postgres no requester may lock the job's row until its commit, because with
    // many requesters the row would never be free for a worker.
    await (tx.dialect === 'sqlite' ? heedOne(tx, ask) : askRepository.insert(tx, ask))
    tx.afterCommit(worker.wake)
  }

  /** Processes committed requests, so that a job that begins afterwards sees their causes. Returns their number. */
  async function heed(tx: Tx): Promise<number> {
    const some = await askRepository.take(tx, ASKS_BATCH)
    for (const ask of some) await heedOne(tx, ask)
    return some.length
  }

  async function heedOne(tx: Tx, { kind, unique_key: uniqueKey, owner, payload, run_at: runAt }: Ask): Promise<void> {
    for (;;) {
      if (await rows.hasten(tx, kind, uniqueKey, runAt)) return
      // Null when another process has added one meanwhile.
      if (await enqueue(tx, { name: kind }, { owner, payload, uniqueKey, runAt })) return
    }
  }

  /** Ends a queued or active job as failed, with the error `cancelled` (docs/api.md 7). False if it already ended. */
  async function cancel(tx: Tx, row: JobRow): Promise<boolean> {
    if (!(await worker.fail(tx, row, CANCELLED))) return false
    tx.afterCommit(() => worker.drop(row.id))
    return true
  }

  /** Adds recurring jobs that do not exist yet. */
  async function addRecurring(tx: Tx): Promise<void> {
    for (const { name, everyMs } of kinds.values()) {
      if (everyMs !== undefined) await enqueue(tx, { name }, { owner: null, payload: null, uniqueKey: RECURRING })
    }
  }

  /** Deletes jobs whose retention time has passed. */
  async function tidy(): Promise<void> {
    const byAge = Map.groupBy(kinds.values(), ({ keepMs = STORED_MS }) => keepMs)
    for (const [storedMs, some] of byAge) {
      const over = { kinds: some.map(({ name }) => name), before: clock.now() - storedMs }
      await inBatches((limit, from) => store.write((tx) => removeEnded(tx, over, { limit, from })))
    }
  }
}

/** Deletes jobs that ended before a given time, and their logs, oldest first. Returns their end times. */
function removeEnded(tx: Tx, wanted: Ended, batch: { limit: number; from: number }): Promise<number[]> {
  const where = (t: typeof jobs.sqlite) => endedBefore(t, wanted)
  const ended = { table: jobs, key: 'id', at: 'completed_at', where, also: steps.forget } as const
  return removeOldest(tx, ended, { ...batch, before: wanted.before + 1 })
}

async function countEnded(db: Reader, wanted: Ended): Promise<number> {
  const t = db.of(jobs)
  return db.$count(t, endedBefore(t, wanted))
}

/** Total time in milliseconds for which jobs have been served, as counted so far. */
async function servingTime(db: Reader): Promise<number> {
  const t = db.of(jobServingTime)
  const found = db.select({ total: t.total_ms }).from(t).where(eq(t.id, ONLY)).limit(1)
  return (await found)[0]?.total ?? 0
}

/** Adds the time since the last count, at most two steps, because nothing was served in a longer gap. */
async function count(tx: Tx, now: number): Promise<number> {
  const t = tx.of(jobServingTime)
  const max = 2 * SERVING_STEP_MS
  const passed = sql`min(max(${now} - ${t.counted_at}, 0), ${max})`
  const onPostgres = sql`least(greatest(${now} - ${t.counted_at}, 0), ${max})`
  const more = tx.dialect === 'sqlite' ? passed : onPostgres
  const counted = tx
    .insert(t)
    .values({ id: ONLY, total_ms: 0, counted_at: now })
    .onConflictDoUpdate({ target: t.id, set: { total_ms: sql`${t.total_ms} + ${more}`, counted_at: now } })
  return (await counted.returning({ total: t.total_ms }))[0]!.total
}
