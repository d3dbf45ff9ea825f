import { and, eq, gt, inArray, lte, type SQL, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import type { Reader, Tx } from '../kernel/store'
import { jobStepRepository as steps } from './steps'
import { jobs } from './table'

/** Ended jobs of these kinds, and of this owner where one is named; `before` is epoch milliseconds. */
export type Ended = { kinds: readonly string[]; before: number; owner?: OwnerScope | null }

/** Deletes jobs that ended before a moment, and their logs. Returns how many. */
export async function removeEnded(tx: Tx, wanted: Ended, limit: number): Promise<number> {
  const t = tx.of(jobs)
  const some = tx.select({ id: t.id }).from(t).where(endedBefore(t, wanted)).limit(limit)
  const gone = await tx.delete(t).where(inArray(t.id, some)).returning({ id: t.id })
  await steps.forget(
    tx,
    gone.map(({ id }) => id),
  )
  return gone.length
}

export async function countEnded(db: Reader, wanted: Ended): Promise<number> {
  const t = db.of(jobs)
  const found = db.select({ total: sql<number>`count(*)`.mapWith(Number) }).from(t)
  return (await found.where(endedBefore(t, wanted)))[0]!.total
}

const endedBefore = (t: typeof jobs.sqlite, { kinds, before, owner = null }: Ended): SQL | undefined =>
  and(
    inArray(t.kind, [...kinds]),
    lte(t.completed_at, before),
    gt(t.completed_at, 0),
    owner === null ? undefined : eq(t.owner, owner),
  )
