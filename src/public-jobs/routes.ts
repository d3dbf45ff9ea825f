import type { Guard } from '../http/guard'
import type { OperatorEdge } from '../http/operator-edge'
import { operatorRoutes, tenantRoutes, verb } from '../http/verbs'
import type { Call, OperatorCaller } from '../kernel/caller'
import { JobPage, JobQuery, JobReply } from './schema'
import type { PublicJobs } from './service'

/** `/jobs` (contract 7), for tenants and operators. */
const verbsOf = ({ list, get, cancel }: PublicJobs) =>
  [
    verb(
      {
        method: 'get',
        path: '/jobs',
        query: JobQuery,
        reply: JobPage,
        owned: true,
        summary: 'List jobs, newest first',
      },
      (call, { query, owner }) => list(call, query, owner),
    ),
    verb(
      { method: 'get', path: '/jobs/:id', reply: JobReply, summary: 'Read the progress and the result of a job' },
      (call, { id }) => get(call, id),
    ),
    verb(
      {
        method: 'post',
        path: '/jobs/:id/cancel',
        reply: JobReply,
        idempotent: true,
        errors: [409],
        summary: 'Cancel a job that has not ended',
        description: 'It becomes `failed` with the error `cancelled`, and what was held for it is released.',
      },
      (call, { id }) => cancel(call, id),
    ),
  ] as const

export const jobRoutes = (publicJobs: PublicJobs, guard: Guard) =>
  tenantRoutes(verbsOf(publicJobs), guard, { scope: 'completions', tag: 'Jobs' })

export const jobOperatorRoutes = (publicJobs: PublicJobs, edge: OperatorEdge) =>
  operatorRoutes(
    [
      ...verbsOf(publicJobs),
      verb(
        {
          method: 'post',
          path: '/jobs/:id/retry',
          reply: JobReply,
          summary: 'Put the work of a failed job in line again, as a new job',
        },
        (call, { id }) => publicJobs.retry(call as Call<OperatorCaller>, id),
      ),
    ] as const,
    edge,
  )
