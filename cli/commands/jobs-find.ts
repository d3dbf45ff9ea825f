import type { Job } from '../../src/charging/public-jobs-schema'
import { apiOf } from '../api'
import { expectData } from '../failure'
import { eachEntry, type PageQuery } from '../pages'
import type { Shell } from '../shell'
import { choice, text } from '../words'

type Wanted = { type?: Job['type'] | undefined; status?: Job['status'] | undefined; key?: string | undefined }

/** What both the list of jobs and a retry of many are narrowed by. */
export const jobFilters = {
  type: choice(['research', 'video'], 'only jobs of this type'),
  key: text('KEY', 'only jobs that this key started'),
}

/** Reads one page after another of the jobs that the filters leave, newest first. */
export async function jobPages(shell: Shell, { type, status, key }: Wanted) {
  const { api, ownerFilter } = await apiOf(shell)
  const ordered = key === undefined ? {} : { api_key_id: await keyId(shell, key) }
  const only = { ...(type ? { type } : {}), ...(status ? { status } : {}), ...ordered, ...ownerFilter }
  return async (input: PageQuery) => {
    const { jobs: items, next_cursor: next } = expectData(await api.jobs.get({ query: { ...input, ...only } }))
    return { items, next }
  }
}

/** All of them. */
export const allJobs = async (shell: Shell, wanted: Wanted): Promise<Job[]> =>
  Array.fromAsync(eachEntry(await jobPages(shell, wanted)))

/** Operators name a key by its beginning; a tenant knows the ids of its own. */
async function keyId(shell: Shell, key: string): Promise<string> {
  const connection = await shell.connect()
  if (connection.api !== 'operator') return key
  const one = connection.ops().keys({ ref: encodeURIComponent(key) })
  return expectData(await one.get()).id
}
