import { and, asc, count, eq, gte, inArray, isNotNull, lt, lte, type SQL, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import { iso, isoOrNull } from '../kernel/clock'
import { listBy, pagesBy } from '../kernel/keyset'
import { microToCents } from '../kernel/money'
import { removeOld } from '../kernel/old-rows'
import { type Page, toPage } from '../kernel/page'
import { rowsOf } from '../kernel/rows'
import {
  allOf,
  command,
  counted,
  excludedOf,
  insertAll,
  type Reader,
  type Store,
  type Tx,
  unlocked,
} from '../kernel/store'
import type { CanvasId } from './canvases-schema'
import { type RunRow, type StepRow, type WorkflowRow, workflowRuns, workflowSteps, workflows } from './table'
import type { RunQuery, StepResult, WorkflowId, WorkflowRun, WorkflowRunId } from './workflows-schema'

/** The kind of job that executes runs. Stored in rows. */
export const RUN_JOB = { name: 'workflow.run' } as const

/** Maximum number of steps in one run, loops included (docs/api.md 10). */
export const MAX_EXECUTED = 200
/** Maximum working time of a run between two pauses (docs/attacks.md R11). */
export const TIME_LIMIT_MS = 15 * 60_000
/** How long `POST /workflows/{id}/run` waits for the run to end (docs/api.md 10). */
export const WAIT_MS = 25_000
/** How long a stepwise run waits for the command to continue. */
export const STEP_PAUSE_MS = 86_400_000
/** Retention of ended runs, equal to that of jobs (docs/api.md 7). */
export const STORED_MS = 30 * 86_400_000
/** Maximum size of a step's output as JSON. */
export const MAX_OUTPUT_BYTES = 512 * 1024
/** Maximum total size of outputs in a run, because each further step reads them all. */
export const MAX_RUN_BYTES = 2 * 1024 * 1024
/** Size at which a page of runs ends. */
const MAX_LISTED_BYTES = 4 * 1024 * 1024

const inserted = counted<RunRow>()((tx, p) =>
  tx
    .insert(tx.of(workflowRuns))
    .values(allOf(tx.of(workflowRuns), p))
    .onConflictDoNothing({ target: tx.of(workflowRuns).once }),
)

const rows = rowsOf(workflows)
const runs = rowsOf(workflowRuns)
const steps = rowsOf(workflowSteps)

const stepPut = command<StepRow>()((tx, p) => {
  const t = tx.of(workflowSteps)
  const row = allOf(t, p)
  return tx
    .insert(t)
    .values(row)
    .onConflictDoUpdate({ target: [t.run_id, t.seq], set: excludedOf(row) })
})

/** The columns that a continuing run changes. */
type Moved = Pick<
  RunRow,
  'status' | 'next' | 'executed' | 'turn' | 'pause' | 'warnings' | 'error' | 'output' | 'completed_at'
>

type Stood = { id: WorkflowRunId; at_turn: number; at_executed: number; at_status: RunRow['status'] }

const advanced = command<Moved & Stood>()((tx, p) => {
  const t = tx.of(workflowRuns)
  const same = [eq(t.id, p.id), eq(t.turn, p.at_turn), eq(t.executed, p.at_executed), eq(t.status, p.at_status)]
  const change = {
    status: sql`${sql.param(p.status, t.status)}`,
    next: sql`${sql.param(p.next, t.next)}`,
    executed: sql`${p.executed}`,
    turn: sql`${p.turn}`,
    pause: sql`${sql.param(p.pause, t.pause)}`,
    warnings: sql`${sql.param(p.warnings, t.warnings)}`,
    error: sql`${p.error}`,
    output: sql`${sql.param(p.output, t.output)}`,
    completed_at: sql`${p.completed_at}`,
  } satisfies Record<keyof Moved, unknown>
  return tx
    .update(t)
    .set(change)
    .where(and(...same))
    .returning()
})

const newestFirst = pagesBy(workflowRuns, 'created_at')

/** Schedules that wait for their next time. */
const waits = (db: Reader): SQL => {
  const t = db.of(workflows)
  return and(eq(t.enabled, true), isNotNull(t.next_run_at))!
}

/** Rows of runs and their steps, and the workflow columns that runs read. */
export const runRepository = {
  /** A workflow by id, for a subscription or schedule. */
  workflow: (db: Reader, owner: OwnerScope, id: WorkflowId) => rows.first(db, { id, owner }),

  /** The workflow that was made from a canvas. */
  ofCanvas: (db: Reader, owner: OwnerScope, canvas_id: CanvasId) => rows.first(db, { canvas_id, owner }),

  /** When the next schedule is due. Null when there is none. */
  async soonestDue(db: Reader): Promise<number | null> {
    const t = db.of(workflows)
    const first = db.select({ at: t.next_run_at }).from(t).where(waits(db)).orderBy(t.next_run_at).limit(1)
    return (await first)[0]?.at ?? null
  },

  /** Schedules that are due, the longest overdue first. */
  due(db: Reader, now: number, limit: number): Promise<Pick<WorkflowRow, 'id' | 'owner'>[]> {
    const t = db.of(workflows)
    const found = db.select({ id: t.id, owner: t.owner }).from(t)
    return found
      .where(and(waits(db), lte(t.next_run_at, now)))
      .orderBy(t.next_run_at)
      .limit(limit)
  },

  /** The given workflows that are due, locked until the commit. Skips rows that another transaction has locked. */
  async lockDue(tx: Tx, ids: readonly WorkflowId[], now: number): Promise<WorkflowRow[]> {
    const t = tx.of(workflows)
    const found = tx.select().from(t)
    return unlocked(tx, found.where(and(inArray(t.id, [...ids]), waits(tx), lte(t.next_run_at, now))))
  },

  ran: (tx: Tx, ids: readonly WorkflowId[], at: number) => rows.update(tx, { id: ids }, { last_run_at: at }),
  /** Sets the next time of schedules. */
  plan: (tx: Tx, ids: readonly WorkflowId[], at: number | null) => rows.update(tx, { id: ids }, { next_run_at: at }),
  /** False when another attempt of the same request has already begun the run. */
  insert: async (tx: Tx, row: RunRow): Promise<boolean> => (await inserted(tx, row)) === 1,

  insertAll: (tx: Tx, runs: readonly RunRow[]): Promise<void> => insertAll(tx, tx.of(workflowRuns), runs, inserted),

  byOnce: (db: Reader, owner: OwnerScope, once: string) => runs.first(db, { once, owner }),

  /** Allows a request on a later day to reuse the key. */
  forgetOnce: (tx: Tx, once: string, before: number) =>
    runs.update(tx, { once }, { once: null }, (t) => lt(t.created_at, before)),

  find: (db: Reader, id: WorkflowRunId) => runs.first(db, { id }),

  /** How many runs that began since a moment failed, by workflow; others are left out. */
  async failedSince(db: Reader, ids: readonly WorkflowId[], from: number): Promise<ReadonlyMap<WorkflowId, number>> {
    const table = db.of(workflowRuns)
    const found = await db
      .select({ id: table.workflow_id, many: count() })
      .from(table)
      .where(and(inArray(table.workflow_id, [...ids]), gte(table.created_at, from), eq(table.status, 'failed')))
      .groupBy(table.workflow_id)
    return new Map(found.map(({ id, many }) => [id, many]))
  },

  list(db: Reader, workflowId: WorkflowId, { status, ...wanted }: RunQuery): Promise<Page<RunRow>> {
    const table = db.of(workflowRuns)
    const ofStatus = status && eq(table.status, status)
    return newestFirst(db, wanted, eq(table.workflow_id, workflowId), ofStatus)
  },

  /** Changes a run only if it is unchanged since it was read. Undefined otherwise. */
  async advance(tx: Tx, run: RunRow, change: Partial<Moved>): Promise<RunRow | undefined> {
    const stood = { at_turn: run.turn, at_executed: run.executed, at_status: run.status }
    return (await advanced(tx, { ...run, ...change, ...stood }))[0] as RunRow | undefined
  },

  /** Runs of a workflow that have not ended. */
  open: (db: Reader, workflow_id: WorkflowId): Promise<RunRow[]> =>
    runs.all(db, { workflow_id, status: ['running', 'paused'] }),

  /** A step is written when it pauses and when it ends. */
  putStep: async (tx: Tx, row: StepRow): Promise<void> => void (await stepPut(tx, row)),

  /** The steps of runs, in the order they ran. */
  steps: (db: Reader, ids: readonly WorkflowRunId[]): Promise<StepRow[]> =>
    steps.all(db, { run_id: ids }, { order: (t) => [asc(t.run_id), asc(t.seq)] }),

  /** Deletes runs that ended before the given time, with their steps. */
  removeOld: (store: Store, before: number): Promise<number> =>
    removeOld(
      store,
      {
        ...({ table: workflowRuns, key: 'id', at: 'completed_at' } as const),
        also: (tx, ids) => steps.remove(tx, { run_id: ids as WorkflowRunId[] }),
      },
      before,
    ),
}

/** A run as the API shows it. An ended run includes the steps that never ran. */
export function presentRun(run: RunRow, steps: readonly StepRow[]): WorkflowRun {
  const ran = new Set(steps.map(({ index }) => index))
  const hasEnded = run.completed_at !== null
  const skipped = hasEnded
    ? run.steps.flatMap(({ name, type, nodeId }, index) =>
        ran.has(index) ? [] : [{ index, name, type, ...(nodeId === undefined ? {} : { nodeId }) }],
      )
    : []
  return {
    id: run.id,
    workflowId: run.workflow_id,
    status: run.status,
    stepsCompleted: steps.filter(({ status }) => status === 'completed').length,
    error: run.error,
    startedAt: iso(run.created_at),
    completedAt: isoOrNull(run.completed_at),
    triggerType: run.trigger_type,
    triggerData: run.trigger_data ?? null,
    stepResults: [
      ...steps.map((step) => presentStep(step, run.steps[step.index]?.nodeId)),
      ...skipped.map((step) => ({ ...step, ...SKIPPED })),
    ],
    output: run.output?.value ?? null,
    warnings: run.warnings,
  }
}

const SKIPPED = {
  status: 'skipped' as const,
  output: null,
  error: null,
  costCents: 0,
  startedAt: null,
  completedAt: null,
}

const presentStep = (
  { index, name, type, status, output, error, ...row }: StepRow,
  nodeId: string | undefined,
): StepResult => ({
  index,
  name,
  type,
  ...(nodeId === undefined ? {} : { nodeId }),
  status,
  output: output?.value ?? null,
  error,
  costCents: microToCents(row.cost_micro),
  startedAt: iso(row.started_at),
  completedAt: isoOrNull(row.completed_at),
})

type RunWithSteps = { run: RunRow; steps: StepRow[] }

/** Number of runs whose steps are read at a time. */
const TOGETHER = 10

/** A page of runs with their steps. Shorter than the limit when the outputs would make the answer too large. */
export async function pageOfRuns(db: Reader, workflow: WorkflowId, query: RunQuery): Promise<Page<RunWithSteps>> {
  const page = await runRepository.list(db, workflow, query)
  const items: RunWithSteps[] = []
  for (let bytes = 0; items.length < page.items.length && bytes < MAX_LISTED_BYTES; ) {
    const some = page.items.slice(items.length, items.length + TOGETHER)
    const ids = some.map((run) => run.id)
    const steps = Map.groupBy(await runRepository.steps(db, ids), (step) => step.run_id)
    for (const run of some) {
      if (bytes >= MAX_LISTED_BYTES) break
      const runSteps = steps.get(run.id) ?? []
      bytes += bytesOf(run.output) + sumOfOutputs(runSteps)
      items.push({ run, steps: runSteps })
    }
  }
  if (items.length === page.items.length) return { ...page, items }
  const list = listBy(db.of(workflowRuns).created_at)
  return { items, next: toPage(list, page.items, items.length, ({ created_at: at, id }) => ({ at, id })).next }
}

/** Total size of the outputs of steps as JSON, in bytes. */
export const sumOfOutputs = (steps: readonly StepRow[]): number =>
  steps.reduce((sum, { output }) => sum + bytesOf(output), 0)

const bytesOf = (value: unknown): number => (value === null ? 0 : Buffer.byteLength(JSON.stringify(value)))
