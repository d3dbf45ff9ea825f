import { sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import type { KeyId } from '../kernel/ids'
import { defineTable, type Row } from '../kernel/store'
import type { Stored } from './kind'
import type { JobId, JobState, JobType, StepKind } from './schema'
import type { TakeoverStatus } from './takeovers'

/**
 * A queued job is either in the queue (`turn`) or waits for its time (`run_at`). An active job has a lease
 * (`lease_until`). Unused columns are null, so the partial indexes contain only the rows a worker searches for.
 */
export const jobs = defineTable(
  'jobs',
  (k) => ({
    id: k.text('id').$type<JobId>().primaryKey(),
    kind: k.text('kind').notNull(),
    /** Null for kinds that are not visible to callers. */
    type: k.text('type').$type<JobType>(),
    state: k.text('state').$type<JobState>().notNull(),
    /** The owner of the work. Null for work of the server itself. */
    owner: k.text('owner').$type<OwnerScope>(),
    /** The API key that requested the job, or null. */
    key_id: k.text('key_id').$type<KeyId>(),
    /** Jobs of one key take turns with those of other keys. */
    fair_key: k.text('fair_key').notNull(),
    /** At most one open job of a kind has this key. Null after the job has ended. */
    unique_key: k.text('unique_key'),
    payload: k.json<Stored>('payload'),
    turn: k.int('turn'),
    run_at: k.ms('run_at'),
    /** Set on an active job when another run was requested meanwhile: it runs again from this time on. */
    again_at: k.ms('again_at'),
    lease_until: k.ms('lease_until'),
    /** Counts claims. The holder of an older claim can no longer change anything. */
    fence: k.int('fence').notNull(),
    /** The process that runs the job, or ran it last. */
    node: k.text('node'),
    attempts: k.int('attempts').notNull(),
    /** Percent. */
    progress: k.int('progress').notNull(),
    stage: k.text('stage'),
    result: k.json<Stored>('result'),
    error: k.text('error'),
    created_at: k.ms('created_at').notNull(),
    started_at: k.ms('started_at'),
    completed_at: k.ms('completed_at'),
    /** The serving time when the job was queued. Null for kinds that may wait forever. */
    lined_up_at: k.int('lined_up_at'),
  }),
  (t, k) => [
    k.index('jobs_line').on(t.kind, t.turn, t.id).where(sql`${t.turn} is not null`),
    k.index('jobs_turns').on(t.kind, t.fair_key, t.turn).where(sql`${t.turn} is not null`),
    k.index('jobs_waiting').on(t.run_at).where(sql`${t.run_at} is not null`),
    k.index('jobs_leases').on(t.lease_until).where(sql`${t.lease_until} is not null`),
    k.index('jobs_busy').on(t.kind, t.fair_key).where(sql`${t.lease_until} is not null`),
    k.uniqueIndex('jobs_unique').on(t.kind, t.unique_key),
    k.index('jobs_by_owner').on(t.owner, t.created_at, t.id).where(sql`${t.type} is not null`),
    k.index('jobs_shown').on(t.created_at, t.id).where(sql`${t.type} is not null`),
    k.index('jobs_in_line').on(t.lined_up_at).where(sql`${t.state} = 'queued' and ${t.started_at} is null`),
    k.index('jobs_ended').on(t.completed_at).where(sql`${t.completed_at} is not null`),
  ],
)

/**
 * Requests for jobs with a shared key, on Postgres. Transactions that request the same job neither wait for each other
 * nor block workers. Workers process these rows after the commit.
 */
export const jobAsks = defineTable('job_asks', (k) => ({
  seq: k.serial('seq'),
  kind: k.text('kind').notNull(),
  unique_key: k.text('unique_key').notNull(),
  owner: k.text('owner').$type<OwnerScope>(),
  payload: k.json<Stored>('payload'),
  run_at: k.ms('run_at').notNull(),
}))
export type AskRow = Row<typeof jobAsks>

/** Data that attempts of a job store for later attempts. Deleted when the job ends. */
export const jobMemory = defineTable(
  'job_memory',
  (k) => ({
    job_id: k.text('job_id').$type<JobId>().notNull(),
    name: k.text('name').notNull(),
    value: k.json<object>('value').notNull(),
  }),
  (t, k) => [k.primaryKey({ columns: [t.job_id, t.name] })],
)

/** The steps of a visible job's attempts, in order. Deleted with the job. */
export const jobSteps = defineTable(
  'job_steps',
  (k) => ({
    job_id: k.text('job_id').$type<JobId>().notNull(),
    seq: k.int('seq').notNull(),
    at: k.ms('at').notNull(),
    what: k.text('what').$type<StepKind>().notNull(),
    attempt: k.int('attempt').notNull(),
    detail: k.text('detail'),
  }),
  (t, k) => [k.primaryKey({ columns: [t.job_id, t.seq] })],
)
export type StepRow = Row<typeof jobSteps>

/** Kinds that are paused: no process begins their jobs until an operator resumes them. */
export const jobPauses = defineTable('job_pauses', (k) => ({
  kind: k.text('kind').primaryKey(),
  paused_at: k.ms('paused_at').notNull(),
}))

/** Total time for which jobs have been served, so that an outage does not count as waiting. One row. */
export const jobServingTime = defineTable('job_serving_time', (k) => ({
  id: k.int('id').primaryKey(),
  total_ms: k.int('total_ms').notNull(),
  counted_at: k.ms('counted_at').notNull(),
}))

export type JobRow = Row<typeof jobs>

/** One row for each subject for which a person was requested or took over. The AI handles all others. */
export const takeovers = defineTable(
  'takeovers',
  (k) => ({
    kind: k.text('kind').notNull(),
    subject_id: k.text('subject_id').notNull(),
    owner: k.text('owner').$type<OwnerScope>().notNull(),
    status: k.text('status').$type<TakeoverStatus>().notNull(),
    fence: k.int('fence').notNull(),
    holder_id: k.text('holder_id'),
    holder_name: k.text('holder_name'),
    since: k.ms('since'),
    until: k.ms('until'),
    reason: k.text('reason'),
  }),
  (t, k) => [
    k.primaryKey({ columns: [t.kind, t.subject_id] }),
    k.index('takeovers_until').on(t.until),
    k.index('takeovers_by_owner').on(t.owner, t.kind, t.status),
  ],
)
export type TakeoverRow = Row<typeof takeovers>
