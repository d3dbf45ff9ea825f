import { and, asc, eq, type Placeholder, type SQL, sql } from 'drizzle-orm'
import { command, counted, query, rowsIn, type Tx } from '../kernel/store'
import type { WorkflowRunId } from './schema'
import { type RunRow, type StepRow, workflowRuns, workflowSteps, workflows } from './table'

export const inserted = counted<RunRow>()((tx, p) =>
  tx
    .insert(tx.of(workflowRuns))
    .values({
      id: p.id,
      owner: p.owner,
      workflow_id: p.workflow_id,
      name: p.name,
      user_id: p.user_id,
      api_key_id: p.api_key_id,
      active_org_id: p.active_org_id,
      steps: p.steps,
      trigger_type: p.trigger_type,
      trigger_data: p.trigger_data,
      depth: p.depth,
      status: p.status,
      next: p.next,
      executed: p.executed,
      turn: p.turn,
      stepwise: p.stepwise,
      pause: p.pause,
      warnings: p.warnings,
      error: p.error,
      output: p.output,
      once: p.once,
      created_at: p.created_at,
      completed_at: p.completed_at,
    } satisfies Record<keyof RunRow, unknown>)
    .onConflictDoNothing({ target: tx.of(workflowRuns).once }),
)

/** A list of ids as one parameter. */
export const asList = (ids: readonly string[]): string => JSON.stringify(ids.map((id) => ({ id })))

const amongThese = (tx: Tx, list: Placeholder): SQL =>
  sql`${tx.of(workflows).id} in (select id from ${rowsIn(tx, list, { id: 'text' })})`

export const planned = command<{ list: string; at: number | null }>()((tx, p) => {
  const t = tx.of(workflows)
  return tx
    .update(t)
    .set({ next_run_at: sql`${p.at}` })
    .where(amongThese(tx, p.list))
})

export const ran = command<{ list: string; at: number }>()((tx, p) => {
  const t = tx.of(workflows)
  return tx
    .update(t)
    .set({ last_run_at: sql`${p.at}` })
    .where(amongThese(tx, p.list))
})

export const runFound = query<{ id: WorkflowRunId }>()((db, p) => {
  const t = db.of(workflowRuns)
  return db.select().from(t).where(eq(t.id, p.id))
})

export const stepsOf = query<{ id: WorkflowRunId }>()((db, p) => {
  const t = db.of(workflowSteps)
  return db.select().from(t).where(eq(t.run_id, p.id)).orderBy(asc(t.seq))
})

export const stepPut = command<StepRow>()((tx, p) => {
  const t = tx.of(workflowSteps)
  const row = {
    run_id: p.run_id,
    seq: p.seq,
    index: p.index,
    name: p.name,
    type: p.type,
    status: p.status,
    output: p.output,
    error: p.error,
    cost_micro: p.cost_micro,
    started_at: p.started_at,
    completed_at: p.completed_at,
  } satisfies Record<keyof StepRow, unknown>
  const names = Object.keys(row) as (keyof StepRow)[]
  const set = Object.fromEntries(names.map((name) => [name, sql`excluded.${sql.identifier(name)}`]))
  return tx
    .insert(t)
    .values(row)
    .onConflictDoUpdate({ target: [t.run_id, t.seq], set })
})

/** What a run that goes on changes. */
export type Moved = Pick<
  RunRow,
  'status' | 'next' | 'executed' | 'turn' | 'pause' | 'warnings' | 'error' | 'output' | 'completed_at'
>
type Stood = { id: WorkflowRunId; at_turn: number; at_executed: number; at_status: RunRow['status'] }

export const advanced = command<Moved & Stood>()((tx, p) => {
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

export const movable = ({
  status,
  next,
  executed,
  turn,
  pause,
  warnings,
  error,
  output,
  completed_at,
}: RunRow): Moved => ({
  ...{ status, next, executed, turn, pause, warnings, error, output, completed_at },
})
