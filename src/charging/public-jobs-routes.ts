import type { Guard } from '../http/guard'
import { tenantRoutes, verb } from '../http/verbs'
import { JOB_TYPES, type JobType } from '../jobs/schema'
import type { Call, OperatorCaller } from '../kernel/caller'
import { notFound } from '../kernel/errors'
import type { PublicJobs } from './public-jobs'
import { JobLog, JobPage, JobPurge, JobQuery, JobQueues, JobReply, JobsPurged } from './public-jobs-schema'

/** Members with content: the result of a job, and links to its files. Some operators get them empty. */
const JOB_WORDS = ['result', 'result_data', 'error']

/** `/jobs` (docs/api.md 7), for tenants and operators. */
const verbsOf = ({ list, get, cancel }: PublicJobs) =>
  [
    verb.get(
      '/jobs',
      {
        holds: JOB_WORDS,
        query: JobQuery,
        reply: JobPage,
        owned: true,
        summary: 'List jobs, newest first',
      },
      (call, { query, owner }) => list(call, query, owner),
    ),
    verb.get(
      '/jobs/:id',
      {
        holds: JOB_WORDS,
        reply: JobReply,
        summary: 'Read the progress and the result of a job',
      },
      (call, { id }) => get(call, id),
    ),
    verb.post(
      '/jobs/:id/cancel',
      {
        reply: JobReply,
        idempotent: true,
        errors: [409],
        summary: 'Cancel a job that has not ended',
        description: 'It becomes `failed` with the error `cancelled`, and its reserved credit is released.',
      },
      (call, { id }) => cancel(call, id),
    ),
  ] as const

export const jobRoutes = (publicJobs: PublicJobs, guard: Guard) =>
  tenantRoutes(verbsOf(publicJobs), guard, { scope: 'completions', tag: 'Jobs' })

export const jobOperatorVerbs = (publicJobs: PublicJobs) =>
  [...queueVerbs(publicJobs), ...verbsOf(publicJobs), ...operatorAccessVerbs(publicJobs)] as const

const operatorAccessVerbs = ({ retry, operatorAccess }: PublicJobs) =>
  [
    verb.post(
      '/jobs/:id/retry',
      {
        reply: JobReply,
        summary: 'Queue a failed job again, as a new job',
      },
      (call, { id }) => retry(call as Call<OperatorCaller>, id),
    ),
    verb.get(
      '/jobs/:id/log',
      {
        holds: ['detail'],
        reply: JobLog,
        summary: 'List what each attempt of a job did',
      },
      (_, { id }) => operatorAccess.log(id),
    ),
    verb.post(
      '/jobs/purge',
      {
        body: JobPurge,
        reply: JobsPurged,
        summary: 'Delete jobs that ended before a given time',
      },
      (call, { body }) => operatorAccess.purge(call as Call<OperatorCaller>, body),
    ),
  ] as const

const queueVerbs = ({ operatorAccess }: PublicJobs) =>
  [
    verb.get(
      '/job-queues',
      {
        holds: 'facts',
        reply: JobQueues,
        summary: 'Read the job queues by type',
      },
      () => operatorAccess.queues(),
    ),
    verb.post(
      '/job-queues/:id/pause',
      {
        reply: JobQueues,
        summary: 'Start no more jobs of a type; running jobs continue',
      },
      (call, { id }) => operatorAccess.pause(call as Call<OperatorCaller>, typeNamed(id)),
    ),
    verb.post(
      '/job-queues/:id/resume',
      {
        reply: JobQueues,
        summary: 'Resume starting jobs of a type',
      },
      (call, { id }) => operatorAccess.resume(call as Call<OperatorCaller>, typeNamed(id)),
    ),
  ] as const

function typeNamed(word: string): JobType {
  const type = JOB_TYPES.find((known) => known === word)
  if (!type) throw notFound('type of job')
  return type
}
