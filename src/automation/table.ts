import { sql } from 'drizzle-orm'
import type { EventId } from '../events/schema'
import type { OwnerScope } from '../kernel/caller'
import type { KeyId, OrgId, UserId } from '../kernel/ids'
import { defineTable, type Row } from '../kernel/store'
import { ownedColumns, ownedIndexes } from '../resource'
import type { SkillManifest } from '../skills'
import type { SkillId, SubmissionId, Visibility } from '../skills/schema'
import type { CanvasGraph, CanvasId, CanvasStatus, CanvasStep, CanvasVersionId } from './canvases-schema'
import type { ChannelId, ChannelStatus, ChannelType, HookId, RunCause, SkillRunId, SkillRunStatus } from './schema'
import type { RunStatus, Step, StepStatus, StepType, TriggerType, WorkflowId, WorkflowRunId } from './workflows-schema'

export const canvases = defineTable(
  'canvases',
  (k) => ({
    ...ownedColumns<CanvasId>(k),
    description: k.text('description'),
    status: k.text('status').$type<CanvasStatus>().notNull(),
    graph: k.json<CanvasGraph>('graph').notNull(),
    /** Size of the graph as JSON. List pages use it to stay within a total size. */
    graph_bytes: k.int('graph_bytes').notNull(),
    manifest: k.json<SkillManifest | null>('manifest'),
    steps: k.json<CanvasStep[] | null>('steps'),
    is_public: k.bool('is_public').notNull(),
    published_skill_id: k.text('published_skill_id').$type<SkillId>(),
  }),
  (t, k) => ownedIndexes(k, 'canvases', t, 'updated_at'),
)
export type CanvasRow = Row<typeof canvases>

/** The graph and manifest of each publication of a canvas. */
export const canvasVersions = defineTable(
  'canvas_versions',
  (k) => ({
    id: k.text('id').$type<CanvasVersionId>().primaryKey(),
    canvas_id: k.text('canvas_id').$type<CanvasId>().notNull(),
    version: k.text('version').notNull(),
    graph: k.json<CanvasGraph>('graph').notNull(),
    graph_bytes: k.int('graph_bytes').notNull(),
    manifest: k.json<SkillManifest>('manifest').notNull(),
    visibility: k.text('visibility').$type<Visibility>().notNull(),
    skill_id: k.text('skill_id').$type<SkillId>().notNull(),
    submission_id: k.text('submission_id').$type<SubmissionId>().notNull(),
    created_at: k.ms('created_at').notNull(),
  }),
  (t, k) => [k.index('canvas_versions_by_canvas').on(t.canvas_id, t.created_at, t.id)],
)
export type CanvasVersionRow = Row<typeof canvasVersions>

export const channels = defineTable(
  'channels',
  (k) => ({
    id: k.text('id').$type<ChannelId>().primaryKey(),
    owner: k.text('owner').$type<OwnerScope>().notNull(),
    type: k.text('type').$type<ChannelType>().notNull(),
    name: k.text('name').notNull(),
    status: k.text('status').$type<ChannelStatus>().notNull(),
    last_message_at: k.ms('last_message_at').notNull(),
    created_at: k.ms('created_at').notNull(),
  }),
  (t, k) => [
    k.uniqueIndex('channels_by_owner').on(t.owner, t.type, t.name),
    k.index('channels_by_silence').on(t.status, t.last_message_at),
  ],
)
export type ChannelRow = Row<typeof channels>

/** While a hook is enabled, its pattern is a row of `event_subscriptions`. */
export const hooks = defineTable(
  'hooks',
  (k) => ({
    ...ownedColumns<HookId>(k),
    /** The key that runs act for, with the creator in `user_id`. */
    api_key_id: k.text('api_key_id').$type<KeyId>(),
    preset: k.text('preset'),
    pattern: k.text('pattern').notNull(),
    /** The skill itself, because another skill may later get its slug. */
    skill_id: k.text('skill_id').$type<SkillId>().notNull(),
    slug: k.text('slug').notNull(),
    enabled: k.bool('enabled').notNull(),
    disabled_reason: k.text('disabled_reason').$type<'failures'>(),
    cooldown_minutes: k.int('cooldown_minutes').notNull(),
    consecutive_failures: k.int('consecutive_failures').notNull(),
    last_fired_at: k.ms('last_fired_at'),
    config: k.json<Record<string, unknown>>('config').notNull(),
  }),
  (t, k) => ownedIndexes(k, 'hooks', t),
)
export type HookRow = Row<typeof hooks>

/** Unattended runs, kept for the limits of docs/api.md 8.1 and as a history. */
export const skillRuns = defineTable(
  'skill_runs',
  (k) => ({
    id: k.text('id').$type<SkillRunId>().primaryKey(),
    /** The owner, who pays. */
    owner: k.text('owner').$type<OwnerScope>().notNull(),
    user_id: k.text('user_id').$type<UserId>().notNull(),
    api_key_id: k.text('api_key_id').$type<KeyId>(),
    skill_id: k.text('skill_id').$type<SkillId>().notNull(),
    slug: k.text('slug').notNull(),
    cause: k.text('cause').$type<RunCause>().notNull(),
    /** The hook or the installation that the run belongs to. */
    source: k.text('source'),
    event_id: k.text('event_id').$type<EventId>(),
    status: k.text('status').$type<SkillRunStatus>().notNull(),
    error: k.text('error'),
    /** The start of the skill's answer. */
    output: k.text('output'),
    cost_micro: k.int('cost_micro').notNull(),
    conversation_id: k.text('conversation_id'),
    created_at: k.ms('created_at').notNull(),
    completed_at: k.ms('completed_at'),
  }),
  (t, k) => [
    k.index('skill_runs_by_owner').on(t.owner, t.created_at),
    k.index('skill_runs_by_status').on(t.status, t.created_at),
    k.index('skill_runs_by_source').on(t.source, t.created_at, t.id),
    k.index('skill_runs_by_age').on(t.created_at, t.id),
  ],
)
export type SkillRunRow = Row<typeof skillRuns>

export const workflows = defineTable(
  'workflows',
  (k) => ({
    ...ownedColumns<WorkflowId>(k),
    /** The key that runs act for, with the creator in `user_id`. */
    api_key_id: k.text('api_key_id').$type<KeyId>(),
    active_org_id: k.text('active_org_id').$type<OrgId>(),
    trigger_type: k.text('trigger_type').$type<TriggerType>().notNull(),
    trigger_config: k.json<Record<string, unknown>>('trigger_config').notNull(),
    steps: k.json<Step[]>('steps').notNull(),
    enabled: k.bool('enabled').notNull(),
    next_run_at: k.ms('next_run_at'),
    last_run_at: k.ms('last_run_at'),
    /** The canvas that the steps are compiled from. Null for a workflow written by hand. */
    canvas_id: k.text('canvas_id').$type<CanvasId>(),
  }),
  (t, k) => [
    k.uniqueIndex('workflows_of_canvas').on(t.canvas_id),
    ...ownedIndexes(k, 'workflows', t),
    k.index('workflows_by_trigger').on(t.trigger_type, t.owner),
    k.index('workflows_due').on(t.next_run_at).where(sql`${t.next_run_at} is not null`),
  ],
)
export type WorkflowRow = Row<typeof workflows>

/** A wrapper for values that may be a bare number or text, which the driver cannot write to Postgres JSON. */
type Output = { value: unknown }

/** Why a run waits. */
export type Pause = {
  kind: 'approval' | 'delay' | 'step'
  /** Epoch ms at which the run continues, or the approval times out. */
  until: number
  onTimeout?: 'approve' | 'reject'
  approvers?: readonly string[]
  message?: string
}

/** Runs keep their initial steps, so changing or deleting a workflow does not affect them (docs/attacks.md R14). */
export const workflowRuns = defineTable(
  'workflow_runs',
  (k) => ({
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
    /** Number of events in the causal chain, to end loops. */
    depth: k.int('depth').notNull(),
    status: k.text('status').$type<RunStatus>().notNull(),
    /** Index of the next step. Null when the run has ended. */
    next: k.int('next'),
    /** Number of ended steps, and so the `seq` of the next one. */
    executed: k.int('executed').notNull(),
    /** Counts the continuations. A job of an older turn has no effect. */
    turn: k.int('turn').notNull(),
    /** Whether the run pauses after each step. */
    stepwise: k.bool('stepwise').notNull(),
    pause: k.json<Pause | null>('pause'),
    warnings: k.json<string[]>('warnings').notNull(),
    error: k.text('error'),
    output: k.json<Output | null>('output'),
    /** Equal for each retry of one request (docs/api.md 1.7). */
    once: k.text('once'),
    created_at: k.ms('created_at').notNull(),
    completed_at: k.ms('completed_at'),
  }),
  (t, k) => [
    k.index('workflow_runs_by_workflow').on(t.workflow_id, t.created_at, t.id),
    k.index('workflow_runs_by_end').on(t.completed_at),
    k.uniqueIndex('workflow_runs_once').on(t.once),
  ],
)
export type RunRow = Row<typeof workflowRuns>

export const workflowSteps = defineTable(
  'workflow_steps',
  (k) => ({
    run_id: k.text('run_id').$type<WorkflowRunId>().notNull(),
    /** Number of the step in the run. */
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
  }),
  (t, k) => [k.primaryKey({ columns: [t.run_id, t.seq] })],
)
export type StepRow = Row<typeof workflowSteps>
