import type { ActingIdentity } from '../accounts'
import { type Jobs, RECURRING, recurring } from '../jobs'
import { type Clock, iso } from '../kernel/clock'
import { AppError } from '../kernel/errors'
import type { UserId } from '../kernel/ids'
import type { Reader, Store, Tx } from '../kernel/store'
import type { RunRow, WorkflowRow } from './table'
import type { Outcomes } from './workflows-executor'
import { runRepository as rows } from './workflows-repository'
import { nextOf } from './workflows-review'
import { type TriggerType, type WorkflowId, WorkflowRunId } from './workflows-schema'

type Started = {
  trigger: TriggerType
  data: unknown
  behalf: ActingIdentity
  /** Number of events in the causal chain. */
  depth?: number
  once?: string | null
  stepwise?: boolean
  /** Why the run cannot begin. The run is stored as failed. */
  failed?: string
}

/** Idempotency-Keys are remembered for a day (docs/api.md 1.7). */
const DAY_MS = 86_400_000

type Deps = { clock: Clock; outcomes: Pick<Outcomes, 'goOn' | 'goOnAll' | 'end'> }

/** Begins a run in the transaction of its cause. Null when another attempt of the same request has begun it. */
export const createStart =
  ({ clock, outcomes }: Deps) =>
  async (tx: Tx, workflow: WorkflowRow, started: Started): Promise<RunRow | null> => {
    const now = clock.now()
    if (started.once) await rows.forgetOnce(tx, started.once, now - DAY_MS)
    const run = runOf(workflow, started, now)
    if (!(await rows.insert(tx, run))) return null
    await rows.ran(tx, [workflow.id], now)
    if (started.failed !== undefined) return outcomes.end(tx, run, { status: 'failed', error: started.failed })
    await outcomes.goOn(tx, run)
    return run
  }

/** Begins several runs, none of which a request caused. */
export const createStartAll =
  ({ clock, outcomes }: Deps) =>
  async (tx: Tx, some: readonly { workflow: WorkflowRow; started: Started }[]): Promise<void> => {
    if (!some.length) return
    const now = clock.now()
    const runs = some.map(({ workflow, started }) => runOf(workflow, started, now))
    await rows.insertAll(tx, runs)
    const ids = some.map(({ workflow }) => workflow.id)
    await rows.ran(tx, ids, now)
    await outcomes.goOnAll(tx, runs)
  }

const runOf = (
  workflow: WorkflowRow,
  { trigger, data, behalf, depth = 0, once = null, stepwise = false }: Started,
  now: number,
): RunRow => ({
  id: WorkflowRunId.create(),
  owner: workflow.owner,
  workflow_id: workflow.id,
  name: workflow.name,
  ...behalf,
  steps: withPrompt(workflow.steps, data),
  trigger_type: trigger,
  trigger_data: data,
  depth,
  status: 'running',
  next: 0,
  executed: 0,
  turn: 0,
  stepwise,
  pause: null,
  warnings: [],
  error: null,
  output: null,
  once,
  created_at: now,
  completed_at: null,
})

/** `triggerData.overridePrompt` replaces the first prompt (docs/api.md 10). */
function withPrompt(steps: WorkflowRow['steps'], data: unknown): WorkflowRow['steps'] {
  const prompt = (data as { overridePrompt?: unknown } | null)?.overridePrompt
  if (typeof prompt !== 'string' || prompt.trim() === '') return steps
  const first = steps.findIndex(({ type }) => type === 'ai_transform')
  return steps.map((step, at) => (at === first ? { ...step, config: { ...step.config, prompt } } : step))
}

/** The account that the runs of a workflow act for. */
export const identityOfWorkflow = ({ user_id, api_key_id, active_org_id }: WorkflowRow): ActingIdentity => ({
  user_id,
  api_key_id,
  active_org_id,
})

export type StartRun = ReturnType<typeof createStart>
export type ScheduleDeps = {
  store: Store
  clock: Clock
  jobs: Pick<Jobs, 'register' | 'ensure'>
  startAll: ReturnType<typeof createStartAll>
  /** The time zone of a user's account, for schedules without a time zone (docs/api.md 10). */
  zoneOf(reader: Reader, userId: UserId): Promise<string>
  onError(name: string, error: unknown): void
}

const NAME = 'workflow.schedules'
/** Minimum time between two checks. */
const EVERY_MS = 250
/** Maximum number of due schedules found per check, and number started per commit. */
const MAX_FOUND = 10_000
const BATCH = 100
/** A schedule that cannot start is retried after this time, and does not delay others. */
const PUT_OFF_MS = 60_000

/**
 * Starts runs at the times of schedules. A single recurring job finds due schedules and starts them in batches. Missed
 * times, for example while no server ran, cause a single run.
 */
export function createSchedules({ store, clock, jobs, startAll, zoneOf, onError }: ScheduleDeps) {
  jobs.register(recurring(NAME, EVERY_MS, startDue, { dueAt: rows.soonestDue }))
  return {
    /** Makes the recurring job run when this schedule is due. */
    follow: (tx: Tx, runAt: number): Promise<void> =>
      jobs.ensure(tx, { name: NAME }, { owner: null, payload: null, uniqueKey: RECURRING, runAt }),
  }

  async function startDue(signal: AbortSignal): Promise<void> {
    const due = inTurns(await rows.due(store.read, clock.now(), MAX_FOUND))
    for (let from = 0; from < due.length && !signal.aborted; from += BATCH) {
      await startSome(due.slice(from, from + BATCH).map(({ id }) => id))
    }
  }

  /** Starts all in one commit. If that fails for another reason than unavailable storage, starts them one by one. */
  async function startSome(ids: readonly WorkflowId[]): Promise<void> {
    try {
      await store.write((tx) => startLocked(tx, ids))
    } catch (error) {
      if (error instanceof AppError && error.code === 'storage_unavailable') throw error
      if (ids.length > 1) {
        for (const id of ids) await startSome([id])
        return
      }
      onError(NAME, error)
      const later = clock.now() + PUT_OFF_MS
      await store.write((tx) => rows.plan(tx, ids, later))
    }
  }

  async function startLocked(tx: Tx, ids: readonly WorkflowId[]): Promise<void> {
    const now = clock.now()
    const due = await rows.lockDue(tx, ids, now)
    const next = await nextTimes(tx, due, now)
    for (const [at, some] of Map.groupBy(due, ({ id }) => next.get(id)!)) {
      const same = some.map(({ id }) => id)
      await rows.plan(tx, same, at)
    }
    const started = due.map((workflow) => {
      const data = { scheduledFor: iso(workflow.next_run_at!) }
      return { workflow, started: { trigger: 'schedule' as const, data, behalf: identityOfWorkflow(workflow) } }
    })
    await startAll(tx, started)
  }

  /** Caches times and zones, because many schedules have the same time and few users have many schedules. */
  async function nextTimes(
    tx: Tx,
    due: readonly WorkflowRow[],
    after: number,
  ): Promise<Map<WorkflowId, number | null>> {
    const zones = new Map<UserId, string>()
    const times = new Map<string, number | null>()
    const next = new Map<WorkflowId, number | null>()
    for (const { id, user_id, trigger_type: type, trigger_config: config } of due) {
      const known = (config.timezone as string | undefined) ?? zones.get(user_id)
      const zone = known ?? (await zoneOf(tx, user_id))
      if (known === undefined) zones.set(user_id, zone)
      const what = `${zone} ${config.cron}`
      if (!times.has(what)) times.set(what, nextOf(type, config, { zone, after }))
      next.set(id, times.get(what)!)
    }
    return next
  }
}

/** Interleaves the owners, so that many schedules of one owner do not delay those of another. */
function inTurns<T extends { owner: string }>(due: readonly T[]): T[] {
  const counts = new Map<string, number>()
  const placed = due.map((one) => {
    const turn = counts.get(one.owner) ?? 0
    counts.set(one.owner, turn + 1)
    return { one, turn }
  })
  return placed.sort((a, b) => a.turn - b.turn).map(({ one }) => one)
}
