import { and, inArray, sql } from 'drizzle-orm'
import type { Clock } from '../kernel/clock'
import type { Reader, Tx } from '../kernel/store'
import type { JobKind } from './kind'
import type { JobType } from './schema'
import { jobPauses, jobs } from './table'

/** The queue of one job type. Times are epoch milliseconds. */
export type Queue = {
  type: JobType
  queued: number
  active: number
  /** Active jobs that wait for a retry. */
  put_off: number
  oldest: number | null
  /** Number of processes that run such a job now. */
  nodes: number
  /** Maximum number of concurrent runs per process. */
  workers: number
  paused_at: number | null
}

type Deps = { clock: Clock; kinds: ReadonlyMap<string, JobKind>; wake(): void }

/** The queues of jobs visible to callers, which operators can pause (docs/operating.md 2.12). */
export function createQueues({ clock, kinds, wake }: Deps) {
  return { all, namesOf, pause, resume }

  /** Names of the kinds with this visible type, or of all visible kinds. */
  function namesOf(type?: JobType): string[] {
    return shown()
      .filter((kind) => type === undefined || kind.shown === type)
      .map(({ name }) => name)
  }

  function shown(): JobKind[] {
    return [...kinds.values()].filter(({ shown }) => shown !== undefined)
  }

  async function all(db: Reader): Promise<Queue[]> {
    const counted = await countOpen(db, namesOf())
    const t = db.of(jobPauses)
    const paused = await db.select().from(t)
    const pauses = new Map(paused.map(({ kind, paused_at }) => [kind, paused_at]))
    return [...Map.groupBy(shown(), (kind) => kind.shown!)].map(([type, some]) => {
      const found = counted.filter(({ kind }) => some.some(({ name }) => name === kind))
      const sum = (of: (one: Counted) => number) => found.reduce((total, one) => total + of(one), 0)
      const waits = found.filter((one) => one.queued > 0).map(({ oldest }) => Number(oldest))
      const paused = some.flatMap(({ name }) => pauses.get(name) ?? [])
      return {
        type,
        queued: sum((one) => one.queued),
        active: sum((one) => one.active),
        put_off: sum((one) => one.put_off),
        oldest: waits.length ? Math.min(...waits) : null,
        nodes: Math.max(0, ...found.map((one) => one.nodes)),
        workers: some.reduce((total, { concurrency }) => total + concurrency, 0),
        paused_at: paused.length ? Math.min(...paused) : null,
      }
    })
  }

  /** Prevents all processes from starting jobs of the type. Running jobs continue. False if it was already paused. */
  async function pause(tx: Tx, type: JobType): Promise<boolean> {
    const t = tx.of(jobPauses)
    const now = clock.now()
    if (!namesOf(type).length) return false
    const added = tx.insert(t).values(namesOf(type).map((kind) => ({ kind, paused_at: now })))
    return (await added.onConflictDoNothing().returning({ kind: t.kind })).length > 0
  }

  /** False when the type was not paused. */
  async function resume(tx: Tx, type: JobType): Promise<boolean> {
    const t = tx.of(jobPauses)
    const gone = tx.delete(t).where(inArray(t.kind, namesOf(type)))
    tx.afterCommit(wake)
    return (await gone.returning({ kind: t.kind })).length > 0
  }
}

type Counted = Awaited<ReturnType<typeof countOpen>>[number]

async function countOpen(db: Reader, kinds: readonly string[]) {
  const t = db.of(jobs)
  const isNew = sql`${t.state} = 'queued' and ${t.started_at} is null`
  const sumOf = (condition: ReturnType<typeof sql>) =>
    sql<number>`coalesce(sum(case when ${condition} then 1 else 0 end), 0)`.mapWith(Number)
  return db
    .select({
      kind: t.kind,
      queued: sumOf(isNew),
      active: sumOf(sql`${t.state} = 'active'`),
      put_off: sumOf(sql`${t.state} = 'queued' and ${t.started_at} is not null`),
      oldest: sql<number | null>`min(case when ${isNew} then ${t.created_at} end)`,
      nodes: sql<number>`count(distinct case when ${t.state} = 'active' then ${t.node} end)`.mapWith(Number),
    })
    .from(t)
    .where(and(inArray(t.kind, [...kinds]), inArray(t.state, ['queued', 'active'])))
    .groupBy(t.kind)
}
