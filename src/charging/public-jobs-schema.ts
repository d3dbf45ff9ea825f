import { JOB_STATES, JOB_TYPES, JobId, STEP_KINDS } from '../jobs/schema'
import { PageQuery } from '../kernel/page'
import { deletionMembers, JsonObject, nullable, oneOf, pageOf, type Static, Timestamp, t } from '../kernel/schema'

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

/** A job as its owner sees it (contract 7). */
export const Job = t.Object(members, { $id: 'Job' })
export type Job = Static<typeof Job>

/** Flat, as documented, and once more under `job`, where clients look for it. */
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

/** What happened to a job, in order, for operators: each try, what it did, and why it was put off (dx 2.12). */
export const JobLog = t.Object(
  {
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
  },
  { $id: 'JobLog' },
)
export type JobLog = Static<typeof JobLog>

/** The lines of jobs by type, for operators. */
export const JobQueues = t.Object(
  {
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
  },
  { $id: 'JobQueues' },
)
export type JobQueues = Static<typeof JobQueues>

export const JobPurge = t.Object({
  ...deletionMembers('Only jobs that ended before'),
  owner: t.Optional(t.String({ description: 'Only of this organization or user' })),
})
export type JobPurge = Static<typeof JobPurge>

export const JobsPurged = t.Object({ object: t.Literal('job_purge'), jobs: t.Integer() })
export type JobsPurged = Static<typeof JobsPurged>
