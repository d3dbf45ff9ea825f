import type { Job } from '../../src/public-jobs/schema'
import { apiOf } from '../api'
import { expectData } from '../failure'
import type { PageOrder } from '../pages'
import type { Shell } from '../shell'

const PAGE = 100

type Wanted = { type?: Job['type'] | undefined; status?: Job['status'] | undefined; key?: string | undefined }

/** One page after another of the jobs that the filters leave, newest first. */
export async function jobPages(shell: Shell, { type, status, key }: Wanted) {
  const { api, whose } = await apiOf(shell)
  const ordered = key === undefined ? {} : { api_key_id: await keyId(shell, key) }
  const only = { ...(type ? { type } : {}), ...(status ? { status } : {}), ...ordered, ...whose }
  return async (order: PageOrder) => expectData(await api.jobs.get({ query: { ...order, ...only } }))
}

/** All of them. */
export async function allJobs(shell: Shell, wanted: Wanted): Promise<Job[]> {
  const page = await jobPages(shell, wanted)
  const all: Job[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const found = await page({ limit: PAGE, ...(cursor ? { cursor } : {}) })
    all.push(...found.jobs)
    cursor = found.next_cursor
  }
  return all
}

/** Operators name a key by its beginning; a tenant knows the ids of its own. */
async function keyId(shell: Shell, key: string): Promise<string> {
  const connection = await shell.connect()
  if (connection.api !== 'operator') return key
  const one = connection.ops().keys({ ref: encodeURIComponent(key) })
  return expectData(await one.get()).id
}
