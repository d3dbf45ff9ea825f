import { sql } from 'drizzle-orm'
import type { OwnerScope } from '../../kernel/caller'
import type { KeyId, OrgId, UserId } from '../../kernel/ids'
import { defineTable, type Row } from '../../kernel/store'
import { ownedColumns, ownedIndexes } from '../../resource'
import type { CanvasId } from '../canvases/schema'
import type { RunStatus, Step, StepStatus, StepType, TriggerType, WorkflowId, WorkflowRunId } from './schema'

export const workflows = defineTable((k) =>
  k.table(
    'workflows',
    {
      ...ownedColumns<WorkflowId>(k),
      /** Whom its runs act for, with the maker in `user_id`. */
      api_key_id: k.text('api_key_id').$type<KeyId>(),
      active_org_id: k.text('active_org_id').$type<OrgId>(),
      trigger_type: k.text('trigger_type').$type<TriggerType>().notNull(),
      trigger_config: k.json<Record<string, unknown>>('trigger_config').notNull(),
      steps: k.json<Step[]>('steps').notNull(),
      enabled: k.bool('enabled').notNull(),
      next_run_at: k.ms('next_run_at'),
      last_run_at: k.ms('last_run_at'),
      /** The canvas that its steps are compiled from; null for one that was written. */
      canvas_id: k.text('canvas_id').$type<CanvasId>(),
    },
    (t) => [
      k.uniqueIndex('workflows_of_canvas').on(t.canvas_id),
      ...ownedIndexes(k, 'workflows', t),
      k.index('workflows_by_trigger').on(t.trigger_type, t.owner),
      k.index('workflows_due').on(t.next_run_at).where(sql`${t.next_run_at} is not null`),
    ],
  ),
)
export type WorkflowRow = Row<typeof workflows>

/** A value that may be a bare number or text, which a JSON column of Postgres does not take from the driver. */
type Output = { value: unknown }

/** Why a run waits. */
export type Pause = {
  kind: 'approval' | 'delay' | 'step'
  /** Epoch ms at which it goes on, or the approval times out. */
  until: number
  onTimeout?: 'approve' | 'reject'
  approvers?: readonly string[]
  message?: string
}

/** Runs keep the steps they began with, so that a changed or deleted workflow changes none (catalogue R14). */
export const workflowRuns = defineTable((k) =>
  k.table(
    'workflow_runs',
    {
      id: k.text('id').$type<WorkflowRunId>().primaryKey(),
      owner: k.text('owner').$type<OwnerScope>().notNull(),
      workflow_id: k.text('workflow_id').$type<WorkflowId>().notNull(),
      name: k.text('name').notNull(),
      user_id: k.text('user_id').$type<UserId>().notNull(),
      api_key_id: k.text('api_key_id').$type<KeyId>(),
      active_org_id: k.text('active_org_id').$type<OrgId>(),
      steps: k.json<Step[]>('steps').notNull(),
      trigger_type: k.text('trigger_type').$type<TriggerType>().notNull(),
      trigger_data: k.json<unknown>('trigger_data'),
      /** Events that led to it, to end loops. */
      depth: k.int('depth').notNull(),
      status: k.text('status').$type<RunStatus>().notNull(),
      /** Index of the step that comes next; null once it has ended. */
      next: k.int('next'),
      /** Steps that ended, and so the number of the next one. */
      executed: k.int('executed').notNull(),
      /** Counts its continuations: an older one has no effect. */
      turn: k.int('turn').notNull(),
      /** It pauses after each step. */
      stepwise: k.bool('stepwise').notNull(),
      pause: k.json<Pause | null>('pause'),
      warnings: k.json<string[]>('warnings').notNull(),
      error: k.text('error'),
      output: k.json<Output | null>('output'),
      /** The same for each try of one request (contract 1.7). */
      once: k.text('once'),
      created_at: k.ms('created_at').notNull(),
      completed_at: k.ms('completed_at'),
    },
    (t) => [
      k.index('workflow_runs_by_workflow').on(t.workflow_id, t.created_at, t.id),
      k.index('workflow_runs_by_end').on(t.completed_at),
      k.uniqueIndex('workflow_runs_once').on(t.once),
    ],
  ),
)
export type RunRow = Row<typeof workflowRuns>

export const workflowSteps = defineTable((k) =>
  k.table(
    'workflow_steps',
    {
      run_id: k.text('run_id').$type<WorkflowRunId>().notNull(),
      /** Its number in the run. */
      seq: k.int('seq').notNull(),
      index: k.int('index').notNull(),
      name: k.text('name').notNull(),
      type: k.text('type').$type<StepType>().notNull(),
      status: k.text('status').$type<StepStatus>().notNull(),
      output: k.json<Output | null>('output'),
      error: k.text('error'),
      cost_micro: k.int('cost_micro').notNull(),
      started_at: k.ms('started_at').notNull(),
      completed_at: k.ms('completed_at'),
    },
    (t) => [k.primaryKey({ columns: [t.run_id, t.seq] })],
  ),
)
export type StepRow = Row<typeof workflowSteps>
