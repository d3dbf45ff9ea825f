import { and, eq } from 'drizzle-orm'
import { query, type Reader, type Tx } from '../kernel/store'
import type { JobId } from './schema'
import { jobMemory } from './table'

const known = query<{ id: JobId; name: string }>()((db, p) => {
  const t = db.of(jobMemory)
  return db
    .select({ value: t.value })
    .from(t)
    .where(and(eq(t.job_id, p.id), eq(t.name, p.name)))
})

/** What the tries of a job keep for one another, by name, so that a later one goes on where an earlier one was killed. */
export const jobMemoryRepository = {
  /** Null when nothing was kept under the name. */
  async recall(db: Reader, id: JobId, name: string): Promise<object | null> {
    return (await known(db, { id, name }))[0]?.value ?? null
  },

  async keep(tx: Tx, id: JobId, name: string, value: object): Promise<void> {
    const t = tx.of(jobMemory)
    const added = tx.insert(t).values({ job_id: id, name, value })
    await added.onConflictDoUpdate({ target: [t.job_id, t.name], set: { value } })
  },

  async forget(tx: Tx, id: JobId): Promise<void> {
    const t = tx.of(jobMemory)
    await tx.delete(t).where(eq(t.job_id, id))
  },
}
