import type { Hold, Payer } from '../billing/schema'
import { defineEvent } from '../events'
import type { Draft, Files } from '../files'
import type { About, Artifact, ArtifactId } from '../files/schema'
import { type JobKind, type JobRow, type Running, statusOf } from '../jobs'
import { JOB_STATES, JOB_TYPES, JobId, type JobType, STEP_KINDS } from '../jobs/schema'
import { iso } from '../kernel/clock'
import { defineErrors } from '../kernel/errors'
import type { UserId } from '../kernel/ids'
import { microToCents } from '../kernel/money'
import { PageQuery } from '../kernel/page'
import {
  deletionMembers,
  JsonObject,
  namedObject,
  nullable,
  oneOf,
  pageOf,
  type Static,
  Timestamp,
  t,
} from '../kernel/schema'
import type { Reader, Tx } from '../kernel/store'

/** The file's members of `result_data` (docs/api.md 7). A deleted file has no URL. */
const factsOf = (file: Artifact | null): Record<string, unknown> =>
  file === null
    ? { url: null }
    : {
        url: file.url,
        url_expires_at: file.url_expires_at,
        artifact_id: file.id,
        duration_seconds: file.duration_seconds,
        width: file.width,
        height: file.height,
        mime_type: file.mime_type,
        size_bytes: file.size_bytes,
      }

/** What a run made. */
export type JobResult = {
  /** The result as callers read it. For a file, its URL is used instead. */
  text?: string
  /** `result_data`, without the members of the file. */
  data?: Record<string, unknown>
  file?: { draft: Draft; about: About }
  /** Cost in micro-cents. The charge never exceeds the hold. */
  cost: number
  /** Commits with the end of the job, once. */
  effects?(tx: Tx): Promise<unknown>
}

/** The run continues later, at `at` in epoch milliseconds. */
type Again = { again: { at: number } }

/** A kind of job that callers start, follow and pay for. The end of the job settles or releases its hold. */
export type PublicKind<Input extends object> = Pick<
  JobKind,
  'name' | 'retry' | 'timeLimitMs' | 'concurrency' | 'concurrencyPerKey' | 'remembers'
> & {
  shown: JobType
  /** `hold` is the credit held for the job. A run may settle it itself, with what it made. */
  run(job: Running<Input>, hold: Hold | null): Promise<JobResult | Again>
  /** Cancels the job, if the kind has its own way to end. False for a job that has ended. */
  cancel?(tx: Tx, row: JobRow, input: Input): Promise<boolean>
  describe?(error: unknown): string
  /** Runs in the transaction that ends a job as failed or cancelled. */
  onFailure?(tx: Tx, input: Input, error: string): Promise<unknown>
}

/** The stored payload of a job. */
export type JobPayload<Input extends object = object> = {
  input: Input
  payer: Payer
  hold: Hold | null
  /** Id of the request that started the job, for the record. */
  requestId: string
  userId: UserId | null
}

/** The stored result of a job. */
export type StoredJobResult = {
  text: string | null
  data: Record<string, unknown> | null
  artifact: ArtifactId | null
  /** Micro-cents that were charged. */
  cost: number
}

type JobEnded = {
  job_id: string
  type: string
  status: string
  result: string | null
  error: string | null
  usage: { cost_cents: number }
  created_at: string
  completed_at: string | null
}

/** docs/api.md 14.2. */
export const jobCompleted = defineEvent<JobEnded>('job.completed')

export const jobFailed = defineEvent<JobEnded>('job.failed')

export const publicJobErrors = {
  ...defineErrors('queue_unavailable', {
    /** The job could not be stored (docs/promises.md I16), or no process would run it. */
    queueUnavailable: 'The job could not be queued right now. Nothing was started or charged; try again shortly.',
  }),
  ...defineErrors('conflict', {
    hasEnded: (status: string) => `The job has ${status}; only a queued or active job can be cancelled.`,
    hasNotFailed: (status: string) => `The job is ${status}; only a failed job can be retried.`,
  }),
}

const members = {
  id: JobId.schema,
  type: oneOf(JOB_TYPES),
  status: oneOf(JOB_STATES),
  progress: t.Number({ description: 'Percent; never falls' }),
  stage: nullable(t.String({ description: 'Current step' })),
  attempts: t.Integer({ description: 'Attempts so far, including the running one' }),
  result: nullable(t.String({ description: 'Once completed: the report, or the address of the file' })),
  result_data: nullable(JsonObject),
  error: nullable(t.String()),
  usage: t.Object({ cost_cents: t.Number() }),
  created_at: Timestamp,
  started_at: nullable(Timestamp),
  completed_at: nullable(Timestamp),
}

/** A job as its owner sees it (docs/api.md 7). */
export const Job = t.Object(members, { $id: 'Job' })
export type Job = Static<typeof Job>

/** The members appear at the top level, as documented, and again under `job`, where clients look for them. */
export const JobReply = t.Object({ ...members, job: Job })
export type JobReply = Static<typeof JobReply>

export const JobPage = pageOf('jobs', Job)
export type JobPage = Static<typeof JobPage>

export const JobQuery = t.Object({
  type: t.Optional(oneOf(JOB_TYPES)),
  status: t.Optional(oneOf(JOB_STATES)),
  api_key_id: t.Optional(t.String({ maxLength: 64, description: 'Only jobs that this key started' })),
  ...PageQuery.properties,
})
export type JobQuery = Static<typeof JobQuery>

/** Log of a job in order, for operators: each attempt, its steps, and why it was postponed (docs/operating.md 2.12). */
export const JobLog = namedObject('JobLog', {
  object: t.Literal('job_log'),
  job_id: JobId.schema,
  status: oneOf(JOB_STATES),
  cost_cents: nullable(t.Number({ description: 'The charge; null until the job ends' })),
  webhooks: t.Integer({ description: 'Webhooks that are notified when it ends' }),
  steps: t.Array(
    t.Object({
      at: Timestamp,
      what: oneOf(['queued', ...STEP_KINDS, 'completed', 'failed']),
      attempt: t.Integer(),
      detail: nullable(t.String({ description: 'The stage, the process, or why it ended' })),
    }),
  ),
})
export type JobLog = Static<typeof JobLog>

/** The job queues by type, for operators. */
export const JobQueues = namedObject('JobQueues', {
  queues: t.Array(
    t.Object({
      type: oneOf(JOB_TYPES),
      queued: t.Integer(),
      active: t.Integer({ description: 'Run now' }),
      put_off: t.Integer({ description: 'Wait for another try' }),
      oldest_at: nullable(Timestamp),
      nodes: t.Integer({ description: 'Processes that run one now' }),
      workers: t.Integer({ description: 'Maximum at a time in each process' }),
      paused_at: nullable(Timestamp),
    }),
  ),
})
export type JobQueues = Static<typeof JobQueues>

export const JobPurge = t.Object({
  ...deletionMembers('Only jobs that ended before'),
  owner: t.Optional(t.String({ description: 'Only of this organization or user' })),
})
export type JobPurge = Static<typeof JobPurge>

export const JobsPurged = t.Object({ object: t.Literal('job_purge'), jobs: t.Integer() })
export type JobsPurged = Static<typeof JobsPurged>

/** A job as callers see it. The URL of its file is signed again on each call. */
export async function presentJob(reader: Reader, row: JobRow, files: Pick<Files, 'find'>): Promise<Job> {
  const ended = row.state === 'completed' ? (row.result as StoredJobResult | null) : null
  const file = ended?.artifact && row.owner ? await files.find(reader, row.owner, ended.artifact) : null
  const at = (moment: number | null) => (moment === null ? null : iso(moment))
  return {
    id: row.id,
    type: row.type!,
    status: statusOf(row),
    progress: row.progress,
    stage: row.stage,
    attempts: row.attempts,
    result: ended?.artifact ? (file?.url ?? null) : (ended?.text ?? null),
    result_data: ended?.artifact ? { ...ended.data, ...factsOf(file) } : (ended?.data ?? null),
    error: row.error,
    usage: { cost_cents: microToCents(ended?.cost ?? 0) },
    created_at: iso(row.created_at),
    started_at: at(row.started_at),
    completed_at: at(row.completed_at),
  }
}
