import { sql } from 'drizzle-orm'
import { type Loop, startLoop } from '../kernel/loop'
import { query, type Tx } from '../kernel/store'
import type { JobKind } from './kind'
import { jobRepository as rows, jobStepRepository as steps } from './repository'
import { createRuns } from './runs'
import type { JobId } from './schema'
import type { JobsDeps } from './service'
import { type JobRow, jobPauses, jobs } from './table'

/** A query for which of these kinds have a queued job and are not paused, in one statement. */
export const queuesWithWork = (kinds: readonly string[]) =>
  query()((db) => {
    const t = db.of(jobs)
    const known = sql.join(
      kinds.map((kind) => sql`(${kind})`),
      sql`, `,
    )
    const p = db.of(jobPauses)
    const inLine = sql`exists (select 1 from ${t} where ${t.kind} = known.column1 and ${t.turn} is not null)`
    const isPaused = sql`exists (select 1 from ${p} where ${p.kind} = known.column1)`
    return db
      .select({ kind: sql<string>`known.column1`.as('kind') })
      .from(sql`(values ${known}) as known`)
      .where(sql`${inLine} and not ${isPaused}`)
  })

/** Interval of checks for other processes' jobs. On SQLite there are none, and it only bounds a missed wake-up. */
const LOOK_MS = { postgres: 500, sqlite: 5_000 }
/** Maximum interval after checks without jobs, so that an idle server wakes less often. */
const CALM_MS = { postgres: 2_000, sqlite: 10_000 }
const PULSE_MS = 1_000
/** Without a run there is nothing to renew. The next run wakes the loop. */
const NO_PULSE_MS = 60_000
const BATCH = 100
/** Number of rows read per wanted job, because some keys may already have their maximum number of runs. */
const CANDIDATES = 4

type Added = {
  /** Adds recurring jobs that do not exist yet. */
  addRecurring(tx: Tx): Promise<void>
  /** Processes requests for jobs and returns their number. */
  heed(tx: Tx): Promise<number>
}

/** Claims and runs jobs, renews their leases, and gives lost jobs to a free worker (docs/promises.md I15). */
export function createWorker(deps: JobsDeps, kinds: ReadonlyMap<string, JobKind>, { addRecurring, heed }: Added) {
  const { store, clock, node, leaseMs, onError, takes = () => true } = deps
  const runs = createRuns(deps, { kinds, onEnd: wake })
  let loop: Loop | null = null
  let pulse: Loop | null = null
  let isFirstLook = true
  let lacksRecurring = true
  let isStopping = false
  let lookMs = LOOK_MS[store.dialect]
  let napMs = lookMs
  let lines = { of: 0, find: queuesWithWork([]) }

  return { start, runDue, wake, running: () => runs.countOf(), fail: runs.fail, drop: runs.drop }

  function wake(): void {
    loop?.wake()
  }

  function start(): Loop {
    // A stopped queue may start again, for example in a process that lost its lock and regained it.
    isStopping = false
    const own = { clock, onError }
    const looking = startLoop({ name: 'jobs', tick: handled, idleMs: () => napMs, ...own })
    const pulseMs = () => (runs.countOf() ? PULSE_MS : NO_PULSE_MS)
    const pulsing = startLoop({ name: 'job-leases', tick: runs.pulse, idleMs: pulseMs, ...own })
    loop = looking
    pulse = pulsing
    return {
      wake: looking.wake,
      async stop() {
        isStopping = true
        await looking.stop()
        await runs.stop()
        await pulsing.stop()
      },
    }
  }

  async function handled(): Promise<number> {
    const { moved, begun } = await look()
    return moved + begun
  }

  /** Runs the due jobs, of one kind or of all, and the jobs they cause. Returns the number of runs. */
  async function runDue(only?: string): Promise<number> {
    for (let total = 0; ; ) {
      const { moved, begun } = await look(only)
      if (!moved && !begun && !runs.countOf()) return total
      total += begun
      await runs.settled()
    }
  }

  /** Queues due and lost jobs, and begins as many as there are free slots. */
  async function look(only?: string): Promise<{ moved: number; begun: number }> {
    const now = clock.now()
    const { runAt, leaseUntil, inLine, asked: isRequested } = await rows.soonest(store.read)
    const isDue = runAt !== null && runAt <= now
    const isNew = isFirstLook || (loop !== null && lacksRecurring)
    const isLost = isNew || (leaseUntil !== null && leaseUntil <= now)
    lookMs = isDue || inLine || isRequested ? LOOK_MS[store.dialect] : Math.min(lookMs * 2, CALM_MS[store.dialect])
    napMs = Math.min(lookMs, ...[runAt, leaseUntil].map((at) => Math.max(1, (at ?? Infinity) - now)))
    const moved = isDue || isLost || isRequested ? await store.write((tx) => tidyLine(tx, now, isRequested)) : 0
    isFirstLook = false
    return { moved, begun: inLine || moved ? await claimAll(await kindsInLine(only)) : 0 }
  }

  /** Claiming takes several queries per kind, so only kinds with a queued job are claimed. */
  async function kindsInLine(only?: string): Promise<JobKind[]> {
    if (isStopping) return []
    if (lines.of !== kinds.size) lines = { of: kinds.size, find: queuesWithWork([...kinds.keys()]) }
    const found = (await lines.find(store.read, {})).map(({ kind }) => kinds.get(kind)!)
    return found.filter((kind) => takes(kind.name) && (only === undefined || kind.name === only) && freeOf(kind) > 0)
  }

  async function tidyLine(tx: Tx, now: number, isRequested: boolean): Promise<number> {
    const added = loop && lacksRecurring ? 1 : 0
    if (added) {
      await addRecurring(tx)
      tx.afterCommit(() => {
        lacksRecurring = false
      })
    }
    // First, because it may wait for a row, and must not meanwhile hold rows that another process needs.
    const heeded = isRequested ? await heed(tx) : 0
    const lost = await rows.lost(tx, { now, node, limit: BATCH })
    for (const row of lost) await recover(tx, row)
    const due = await rows.due(tx, now, BATCH)
    await rows.line(tx, due)
    return heeded + lost.length + due.length + added
  }

  /** Retries a job whose worker died while attempts are left. A job that kills its workers thus ends. */
  async function recover(tx: Tx, row: JobRow): Promise<void> {
    const kind = kinds.get(row.kind)
    if (kind && kind.everyMs === undefined && row.attempts >= kind.retry.attempts) {
      const times = row.attempts === 1 ? 'once' : `${row.attempts} times`
      await runs.fail(tx, row, `The process that ran the job ended unexpectedly, ${times}.`)
      return
    }
    if (kind?.shown)
      await steps.add(tx, row.id, { what: 'lost', attempt: row.attempts, detail: row.node, now: clock.now() })
    await rows.requeue(tx, row.id, { run_at: null, turn: await rows.nextTurn(tx, row) })
  }

  async function claimAll(free: readonly JobKind[]): Promise<number> {
    if (!free.length) return 0
    const claimed = await store.write(async (tx) => {
      const all: JobRow[] = []
      for (const kind of free) all.push(...(await claim(tx, kind)))
      return all
    })
    if (claimed.length && !runs.countOf()) pulse?.wake()
    for (const row of claimed) runs.begin(kinds.get(row.kind)!, row)
    return claimed.length
  }

  function freeOf({ name, concurrency }: JobKind): number {
    return Math.min(BATCH, concurrency - runs.countOf(name))
  }

  async function claim(tx: Tx, kind: JobKind): Promise<JobRow[]> {
    const now = clock.now()
    const limit = freeOf(kind)
    const each = kind.concurrencyPerKey ?? Infinity
    const isBounded = Number.isFinite(each)
    if (isBounded) await rows.claimAlone(tx, kind.name)
    const busy = isBounded ? await rows.busyKeys(tx, kind.name) : new Map<string, number>()
    const without = [...busy].filter(([, count]) => count >= each).map(([key]) => key)
    const front = await rows.front(tx, kind.name, { limit: isBounded ? limit * CANDIDATES : limit, without })
    const begun: JobId[] = []
    for (const { id, fair_key } of front) {
      const count = busy.get(fair_key) ?? 0
      if (begun.length === limit) break
      if (count >= each) continue
      busy.set(fair_key, count + 1)
      begun.push(id)
    }
    const claimed = await rows.claim(tx, begun, { node, now, until: now + leaseMs })
    if (!kind.shown) return claimed
    for (const { id, attempts } of claimed)
      await steps.add(tx, id, { what: 'begun', attempt: attempts, detail: node, now })
    return claimed
  }
}
