import { asc, desc, eq, inArray } from 'drizzle-orm'
import type { Reader, Tx } from '../kernel/store'
import type { JobId, StepKind } from './schema'
import { jobSteps, type StepRow } from './table'

/** A kind that names a stage for each page it reads must not fill the database. */
const MAX_STEPS = 200

type NewStep = { what: StepKind; attempt: number; detail: string | null; now: number }

/** The step logs of the jobs that callers are shown: which try did what, and when. They go with their job. */
export const jobStepRepository = {
  async add(tx: Tx, id: JobId, { now, ...step }: NewStep): Promise<void> {
    const t = tx.of(jobSteps)
    const found = tx.select({ seq: t.seq }).from(t).where(eq(t.job_id, id)).orderBy(desc(t.seq)).limit(1)
    const seq = ((await found)[0]?.seq ?? 0) + 1
    if (seq <= MAX_STEPS) await tx.insert(t).values({ job_id: id, seq, ...step, at: now })
  },

  /** In the order they happened. */
  async of(db: Reader, id: JobId): Promise<StepRow[]> {
    const t = db.of(jobSteps)
    return db.select().from(t).where(eq(t.job_id, id)).orderBy(asc(t.seq))
  },

  async forget(tx: Tx, ids: readonly JobId[]): Promise<void> {
    const t = tx.of(jobSteps)
    if (ids.length) await tx.delete(t).where(inArray(t.job_id, [...ids]))
  },
}
