import type { Job, JobPage, JobQuery } from '../src/public-jobs/schema'
import { expectData, usageFailure } from './failure'
import type { Shell } from './shell'

type Asked = Omit<JobQuery, 'limit'> & { limit: number }

/** Jobs over either API: operators see everyone's, tenants their own. */
export type JobPlane = {
  list(query: Asked): Promise<JobPage>
  get(id: string): Promise<Job>
  cancel(id: string): Promise<Job>
  retry(id: string): Promise<Job>
}

export async function jobsOver(shell: Shell): Promise<JobPlane> {
  const connection = await shell.connect()
  const idOf = (id: string) => ({ id: encodeURIComponent(id) })
  if (connection.plane === 'operator') {
    const { jobs } = connection.ops()
    const { org } = shell.globals
    return {
      list: async (query) => expectData(await jobs.get({ query: { ...query, ...(org ? { owner: org } : {}) } })),
      get: async (id) => expectData(await jobs(idOf(id)).get()).job,
      cancel: async (id) => expectData(await jobs(idOf(id)).cancel.post()).job,
      retry: async (id) => expectData(await jobs(idOf(id)).retry.post()).job,
    }
  }
  const { client } = await connection.tenant()
  const { jobs } = client
  return {
    list: async (query) => expectData(await jobs.get({ query })),
    get: async (id) => expectData(await jobs(idOf(id)).get()).job,
    cancel: async (id) => expectData(await jobs(idOf(id)).cancel.post()).job,
    retry: () => Promise.reject(usageFailure('jobs retry belongs to the operator plane.', 'send the request again')),
  }
}
