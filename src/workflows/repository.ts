import { and, asc, eq, inArray, isNotNull, lt, lte, type SQL } from 'drizzle-orm'
import type { CanvasId } from '../canvases/schema'
import type { OwnerScope } from '../kernel/caller'
import { pagesBy } from '../kernel/keyset'
import type { Page } from '../kernel/page'
import { insertAll, type Reader, type Tx, unlocked } from '../kernel/store'
import type { RunQuery, WorkflowId, WorkflowRunId } from './schema'
import { advanced, asList, inserted, type Moved, movable, planned, ran, runFound, stepPut, stepsOf } from './statements'
import { type RunRow, type StepRow, type WorkflowRow, workflowRuns, workflowSteps, workflows } from './table'

const newestFirst = pagesBy(workflowRuns, 'created_at')

/** Schedules that wait for their time. */
const waits = (db: Reader): SQL => {
  const t = db.of(workflows)
  return and(eq(t.enabled, true), isNotNull(t.next_run_at))!
}

/** Rows of runs and their steps, and what runs read of workflows. */
export const runRepository = {
  /** A workflow by id, for what it was subscribed or scheduled for. */
  async workflow(db: Reader, owner: OwnerScope, id: WorkflowId): Promise<WorkflowRow | undefined> {
    const table = db.of(workflows)
    const one = and(eq(table.id, id), eq(table.owner, owner))
    return (await db.select().from(table).where(one).limit(1))[0]
  },

  /** The workflow that was made from a canvas. */
  async ofCanvas(db: Reader, owner: OwnerScope, canvas: CanvasId): Promise<WorkflowRow | undefined> {
    const table = db.of(workflows)
    const one = and(eq(table.canvas_id, canvas), eq(table.owner, owner))
    return (await db.select().from(table).where(one).limit(1))[0]
  },

  /** When the next schedule is due; null when there is none. */
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

  /** Those of these that are due, locked until the commit. Left out is what another transaction has. */
  async lockDue(tx: Tx, ids: readonly WorkflowId[], now: number): Promise<WorkflowRow[]> {
    const t = tx.of(workflows)
    const found = tx.select().from(t)
    return unlocked(tx, found.where(and(inArray(t.id, [...ids]), waits(tx), lte(t.next_run_at, now))))
  },

  ran: async (tx: Tx, ids: readonly WorkflowId[], at: number): Promise<void> =>
    void (await ran(tx, { list: asList(ids), at })),

  /** When schedules come next. */
  plan: async (tx: Tx, ids: readonly WorkflowId[], at: number | null): Promise<void> =>
    void (await planned(tx, { list: asList(ids), at })),

  /** False when another try of the same request has begun it. */
  insert: async (tx: Tx, row: RunRow): Promise<boolean> => (await inserted(tx, row)) === 1,

  insertAll: (tx: Tx, runs: readonly RunRow[]): Promise<void> => insertAll(tx, tx.of(workflowRuns), runs, inserted),

  async byOnce(db: Reader, owner: OwnerScope, once: string): Promise<RunRow | undefined> {
    const table = db.of(workflowRuns)
    const one = and(eq(table.once, once), eq(table.owner, owner))
    return (await db.select().from(table).where(one).limit(1))[0]
  },

  /** Lets a request of another day have the same key. */
  async forgetOnce(tx: Tx, once: string, before: number): Promise<void> {
    const table = tx.of(workflowRuns)
    await tx
      .update(table)
      .set({ once: null })
      .where(and(eq(table.once, once), lt(table.created_at, before)))
  },

  find: async (db: Reader, id: WorkflowRunId): Promise<RunRow | undefined> => (await runFound(db, { id }))[0],

  list(db: Reader, workflowId: WorkflowId, { status, ...wanted }: RunQuery): Promise<Page<RunRow>> {
    const table = db.of(workflowRuns)
    const ofStatus = status && eq(table.status, status)
    return newestFirst(db, wanted, eq(table.workflow_id, workflowId), ofStatus)
  },

  /** Changes a run only where it still stands as it was read. Undefined when it does not. */
  async advance(tx: Tx, run: RunRow, change: Partial<Moved>): Promise<RunRow | undefined> {
    const { id, turn, executed, status } = run
    const stood = { at_turn: turn, at_executed: executed, at_status: status }
    return (await advanced(tx, { ...movable(run), ...change, id, ...stood }))[0] as RunRow | undefined
  },

  /** Runs of a workflow that have not ended. */
  async open(db: Reader, workflowId: WorkflowId): Promise<RunRow[]> {
    const table = db.of(workflowRuns)
    const live = inArray(table.status, ['running', 'paused'])
    return db
      .select()
      .from(table)
      .where(and(eq(table.workflow_id, workflowId), live))
  },

  /** A step is written when it pauses and when it ends. */
  putStep: async (tx: Tx, row: StepRow): Promise<void> => void (await stepPut(tx, row)),

  /** Those of one run, in the order they ran. */
  stepsOf: (db: Reader, id: WorkflowRunId): Promise<StepRow[]> => stepsOf(db, { id }),

  /** In the order they ran. */
  async steps(db: Reader, ids: readonly WorkflowRunId[]): Promise<StepRow[]> {
    if (!ids.length) return []
    const table = db.of(workflowSteps)
    return db
      .select()
      .from(table)
      .where(inArray(table.run_id, [...ids]))
      .orderBy(asc(table.run_id), asc(table.seq))
  },

  /** Deletes runs that ended before a moment, with their steps. Returns how many. */
  async removeOld(tx: Tx, before: number, limit: number): Promise<number> {
    const [runs, steps] = [tx.of(workflowRuns), tx.of(workflowSteps)]
    const old = await tx
      .select({ id: runs.id })
      .from(runs)
      .where(and(isNotNull(runs.completed_at), lt(runs.completed_at, before)))
      .limit(limit)
    const ids = old.map(({ id }) => id)
    if (!ids.length) return 0
    await tx.delete(steps).where(inArray(steps.run_id, ids))
    await tx.delete(runs).where(inArray(runs.id, ids))
    return ids.length
  },
}
