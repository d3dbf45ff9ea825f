import { and, desc, eq, gte, inArray, isNotNull, ne, sql } from 'drizzle-orm'
import { iso, isoOrNull } from '../kernel/clock'
import type { Reader } from '../kernel/store'
import { CANCELLED } from './schema'
import { statusOf } from './shown'
import { type JobRow, jobs } from './table'

/** The newest jobs of everyone that callers are shown, without results; for operators. */
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

/** What these jobs were ordered with. */
export async function payloadsOf(reader: Reader, ids: readonly JobRow['id'][]) {
  const t = reader.of(jobs)
  if (!ids.length) return []
  return await reader
    .select({ id: t.id, payload: t.payload })
    .from(t)
    .where(inArray(t.id, [...ids]))
}

/** How many jobs of callers wait and run, and failed since a moment: who cancels one knows of it, so it is not counted. */
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
