import { and, desc, eq, gte, inArray, isNotNull, isNull, ne, or, type SQL, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import { iso, isoOrNull } from '../kernel/clock'
import type { KeyId } from '../kernel/ids'
import { type PageRequest, pagesBy } from '../kernel/keyset'
import type { Page } from '../kernel/page'
import type { Reader } from '../kernel/store'
import { CANCELLED, type JobId, type JobState, type JobType } from './schema'
import { type JobRow, jobs } from './table'

export type ShownQuery = PageRequest & {
  type?: JobType | undefined
  status?: JobState | undefined
  api_key_id?: string | undefined
}

const newestFirst = pagesBy(jobs, 'created_at')

/** A job that waits for a retry counts as active. The visible status only moves forward (docs/promises.md I15). */
export const statusOf = ({ state, started_at }: Pick<JobRow, 'state' | 'started_at'>): JobState =>
  state === 'queued' && started_at !== null ? 'active' : state

/** Jobs of the kinds visible to callers, of one owner or, for operators, of all owners (null). */
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

  /** The number of an owner's jobs of a type that have not ended. */
  async countOpen(db: Reader, owner: OwnerScope, type: JobType): Promise<number> {
    const t = db.of(jobs)
    return db.$count(t, and(eq(t.owner, owner), eq(t.type, type), inArray(t.state, ['queued', 'active'])))
  },

  /** The given jobs that have not ended. */
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

/** For operators: the newest visible jobs of all owners, without results. */
export async function newestJobs(reader: Reader, limit: number) {
  const t = reader.of(jobs)
  const shown = {
    id: t.id,
    type: t.type,
    state: t.state,
    owner: t.owner,
    progress: t.progress,
    stage: t.stage,
    attempts: t.attempts,
    turn: t.turn,
    error: t.error,
    created_at: t.created_at,
    started_at: t.started_at,
    completed_at: t.completed_at,
  }
  const found = await reader
    .select(shown)
    .from(t)
    .where(isNotNull(t.type))
    .orderBy(desc(t.created_at), desc(t.id))
    .limit(limit)
  return found.map(({ state, turn, created_at, started_at, completed_at, ...job }) => ({
    ...job,
    status: statusOf({ state, started_at }),
    turn,
    created_at: iso(created_at),
    started_at: isoOrNull(started_at),
    completed_at: isoOrNull(completed_at),
  }))
}

/** The payloads of these jobs. */
export async function payloadsOf(reader: Reader, ids: readonly JobRow['id'][]) {
  const t = reader.of(jobs)
  if (!ids.length) return []
  return await reader
    .select({ id: t.id, payload: t.payload })
    .from(t)
    .where(inArray(t.id, [...ids]))
}

/** The numbers of callers' jobs that wait, run, and failed since a time. Cancelled jobs do not count as failed. */
export async function jobSums(reader: Reader, since: number) {
  const t = reader.of(jobs)
  const total = sql<number>`count(*)`.mapWith(Number)
  const isShown = isNotNull(t.type)
  const oldest = sql<number | null>`min(${t.created_at})`
  const open = await reader
    .select({ state: t.state, total, oldest })
    .from(t)
    .where(and(isShown, inArray(t.state, ['queued', 'active'])))
    .groupBy(t.state)
  const [failed] = await reader
    .select({ total })
    .from(t)
    .where(and(isShown, eq(t.state, 'failed'), ne(t.error, CANCELLED), gte(t.completed_at, since)))
  const [every] = await reader.select({ total }).from(t).where(isShown)
  const of = (state: JobRow['state']) => open.find((one) => one.state === state)
  const waiting = of('queued')?.oldest ?? null
  return {
    queued: of('queued')?.total ?? 0,
    active: of('active')?.total ?? 0,
    failed: failed!.total,
    total: every!.total,
    oldest: waiting === null ? null : iso(Number(waiting)),
  }
}
