import { sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import type { KeyId } from '../kernel/ids'
import { defineTable, type Row } from '../kernel/store'
import type { Stored } from './kind'
import type { JobId, JobState, JobType, StepKind } from './schema'
import type { TakeoverStatus } from './takeovers'

/**
 * A queued job is either in line (`turn`) or waits for its time (`run_at`); an active one has a lease (`lease_until`).
 * What does not apply is null, so the partial indexes hold only the rows a worker looks for.
 */
export const jobs = defineTable((k) =>
  k.table(
    'jobs',
    {
      id: k.text('id').$type<JobId>().primaryKey(),
      kind: k.text('kind').notNull(),
      /** Null for kinds that are shown to nobody. */
      type: k.text('type').$type<JobType>(),
      state: k.text('state').$type<JobState>().notNull(),
      /** Whose work it is; null for work of the server itself. */
      owner: k.text('owner').$type<OwnerScope>(),
      /** The key that ordered it; null where no key did. */
      key_id: k.text('key_id').$type<KeyId>(),
      /** Jobs of one key take turns with those of others. */
      fair_key: k.text('fair_key').notNull(),
      /** At most one open job of a kind has this key. Null once it has ended. */
      unique_key: k.text('unique_key'),
      payload: k.json<Stored>('payload'),
      turn: k.int('turn'),
      run_at: k.ms('run_at'),
      /** Of an active job: it was asked for again meanwhile, and runs once more from then on. */
      again_at: k.ms('again_at'),
      lease_until: k.ms('lease_until'),
      /** Counts claims; who holds an older one can change nothing any more. */
      fence: k.int('fence').notNull(),
      /** The process that runs it, or ran it last. */
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
      /** The serving time when it was put in line; null for kinds that may wait for ever. */
      lined_up_at: k.int('lined_up_at'),
    },
    (t) => [
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
  ),
)

/**
 * Who asked for a job whose key is shared, on Postgres: units that ask for one job at the same time neither wait for
 * each other nor keep workers from it. Workers heed these rows once they are committed.
 */
export const jobAsks = defineTable((k) =>
  k.table('job_asks', {
    seq: k.serial('seq'),
    kind: k.text('kind').notNull(),
    unique_key: k.text('unique_key').notNull(),
    owner: k.text('owner').$type<OwnerScope>(),
    payload: k.json<Stored>('payload'),
    run_at: k.ms('run_at').notNull(),
  }),
)
export type AskRow = Row<typeof jobAsks>

/** What the tries of a job keep for one another. Gone with its end. */
export const jobMemory = defineTable((k) =>
  k.table(
    'job_memory',
    {
      job_id: k.text('job_id').$type<JobId>().notNull(),
      name: k.text('name').notNull(),
      value: k.json<object>('value').notNull(),
    },
    (t) => [k.primaryKey({ columns: [t.job_id, t.name] })],
  ),
)

/** What the tries of a job that callers are shown did, in order. Gone with its row. */
export const jobSteps = defineTable((k) =>
  k.table(
    'job_steps',
    {
      job_id: k.text('job_id').$type<JobId>().notNull(),
      seq: k.int('seq').notNull(),
      at: k.ms('at').notNull(),
      what: k.text('what').$type<StepKind>().notNull(),
      attempt: k.int('attempt').notNull(),
      detail: k.text('detail'),
    },
    (t) => [k.primaryKey({ columns: [t.job_id, t.seq] })],
  ),
)
export type StepRow = Row<typeof jobSteps>

/** Kinds of which no process begins a job until an operator says so. */
export const jobPauses = defineTable((k) =>
  k.table('job_pauses', {
    kind: k.text('kind').primaryKey(),
    paused_at: k.ms('paused_at').notNull(),
  }),
)

/** How long jobs have been served in all, so that an outage does not count as waiting. One row. */
export const jobServingTime = defineTable((k) =>
  k.table('job_serving_time', {
    id: k.int('id').primaryKey(),
    total_ms: k.int('total_ms').notNull(),
    counted_at: k.ms('counted_at').notNull(),
  }),
)

export type JobRow = Row<typeof jobs>

/** One row for each subject that somebody was asked for or took over; all others are with the AI. */
export const takeovers = defineTable((k) =>
  k.table(
    'takeovers',
    {
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
    },
    (t) => [
      k.primaryKey({ columns: [t.kind, t.subject_id] }),
      k.index('takeovers_until').on(t.until),
      k.index('takeovers_by_owner').on(t.owner, t.kind, t.status),
    ],
  ),
)
export type TakeoverRow = Row<typeof takeovers>
