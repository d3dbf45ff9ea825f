import { and, eq, inArray, isNotNull, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import type { KeyId } from '../kernel/ids'
import { pagesBy, type Wanted } from '../kernel/keyset'
import type { Page } from '../kernel/page'
import type { Reader } from '../kernel/store'
import type { JobId, JobState, JobType } from './schema'
import { type JobRow, jobs } from './table'

export type ShownQuery = Wanted & {
  type?: JobType | undefined
  status?: JobState | undefined
  api_key_id?: string | undefined
}

const newestFirst = pagesBy(jobs, 'created_at')

/** A job that waits for another try has begun: what callers see only moves forward (I15). */
export const statusOf = ({ state, started_at }: Pick<JobRow, 'state' | 'started_at'>): JobState =>
  state === 'queued' && started_at !== null ? 'active' : state

/** Jobs of the kinds that callers are shown, of one owner or, for operators, of all (null). */
export const shownJobs = {
  async find(db: Reader, owner: OwnerScope | null, id: JobId): Promise<JobRow | undefined> {
    const t = db.of(jobs)
    const wanted = and(eq(t.id, id), isNotNull(t.type), owner === null ? undefined : eq(t.owner, owner))
    return (await db.select().from(t).where(wanted).limit(1))[0] as JobRow | undefined
  },

  list(
    db: Reader,
    owner: OwnerScope | null,
    { type, status, api_key_id: key, ...wanted }: ShownQuery,
  ): Promise<Page<JobRow>> {
    const t = db.of(jobs)
    const shown = sql`${t.type} is not null`
    const ownerFilter = owner === null ? undefined : eq(t.owner, owner)
    const ordered = key === undefined ? undefined : eq(t.key_id, key as KeyId)
    return newestFirst(db, wanted, shown, ownerFilter, ordered, type && eq(t.type, type), status && inStatus(t, status))
  },

  /** Those of these jobs that have not ended. */
  async open(db: Reader, ids: readonly JobId[]): Promise<Set<JobId>> {
    const t = db.of(jobs)
    const found = db
      .select({ id: t.id })
      .from(t)
      .where(and(inArray(t.id, [...ids]), inArray(t.state, ['queued', 'active'])))
    return new Set((await found).map(({ id }) => id))
  },
}

function inStatus(t: typeof jobs.sqlite, status: JobState): SQL | undefined {
  if (status === 'queued') return and(eq(t.state, 'queued'), isNull(t.started_at))
  if (status === 'active') return or(eq(t.state, 'active'), and(eq(t.state, 'queued'), isNotNull(t.started_at)))
  return eq(t.state, status)
}
