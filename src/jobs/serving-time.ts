import { and, asc, eq, isNull, lte, sql } from 'drizzle-orm'
import type { Clock } from '../kernel/clock'
import type { Reader, Store, Tx } from '../kernel/store'
import { QUEUE_TIMEOUT } from './schema'
import { type JobRow, jobServingTime, jobs } from './table'

/** How often the time in which jobs are served is counted. */
export const SERVING_STEP_MS = 300_000
/** Longest wait in line, in serving time (contract 7). */
const QUEUE_LIMIT_MS = 86_400_000
const BATCH = 100
const ONLY = 1

/** Milliseconds for which jobs have been served in all, as far as they are counted. */
export async function servingTime(db: Reader): Promise<number> {
  const t = db.of(jobServingTime)
  const found = db.select({ total: t.total_ms }).from(t).where(eq(t.id, ONLY)).limit(1)
  return (await found)[0]?.total ?? 0
}

/** Counts the time since the last count: no more than two steps, as nothing was served in a longer gap. */
async function count(tx: Tx, now: number): Promise<number> {
  const t = tx.of(jobServingTime)
  const most = 2 * SERVING_STEP_MS
  const passed = sql`min(max(${now} - ${t.counted_at}, 0), ${most})`
  const onPostgres = sql`least(greatest(${now} - ${t.counted_at}, 0), ${most})`
  const more = tx.dialect === 'sqlite' ? passed : onPostgres
  const counted = tx
    .insert(t)
    .values({ id: ONLY, total_ms: 0, counted_at: now })
    .onConflictDoUpdate({ target: t.id, set: { total_ms: sql`${t.total_ms} + ${more}`, counted_at: now } })
  return (await counted.returning({ total: t.total_ms }))[0]!.total
}

async function overdue(tx: Tx, linedUpBefore: number): Promise<JobRow[]> {
  const t = tx.of(jobs)
  const waits = and(sql`${t.state} = 'queued'`, isNull(t.started_at), lte(t.lined_up_at, linedUpBefore))
  return (await tx.select().from(t).where(waits).orderBy(asc(t.lined_up_at)).limit(BATCH)) as JobRow[]
}

type Deps = { store: Store; clock: Clock; fail(tx: Tx, row: JobRow, error: string): Promise<boolean> }

/** Ends jobs that waited for a worker longer than a day of serving time. */
export const createQueueTimeout =
  ({ store, clock, fail }: Deps) =>
  async (): Promise<void> => {
    const total = await store.write((tx) => count(tx, clock.now()))
    const endSome = () =>
      store.write(async (tx) => {
        const late = await overdue(tx, total - QUEUE_LIMIT_MS)
        for (const row of late) await fail(tx, row, QUEUE_TIMEOUT)
        return late.length
      })
    while ((await endSome()) === BATCH);
  }
