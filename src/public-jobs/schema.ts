import { JOB_STATES, JOB_TYPES, JobId } from '../jobs/schema'
import { PageQuery } from '../kernel/page'
import { JsonObject, nullable, oneOf, pageOf, type Static, Timestamp, t } from '../kernel/schema'

const members = {
  id: JobId.schema,
  type: oneOf(JOB_TYPES),
  status: oneOf(JOB_STATES),
  progress: t.Number({ description: 'Percent; never falls' }),
  stage: nullable(t.String({ description: 'What is done now' })),
  attempts: t.Integer({ description: 'Tries so far, the one that runs included' }),
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
  ...PageQuery.properties,
})
export type JobQuery = Static<typeof JobQuery>
