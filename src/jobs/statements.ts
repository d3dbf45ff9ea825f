import { eq, sql } from 'drizzle-orm'
import { command, counted } from '../kernel/store'
import type { JobId } from './schema'
import { type JobRow, jobs } from './table'

/** No place in line, no time and no lease. */
export const OUT_OF_LINE = { turn: null, run_at: null, again_at: null, lease_until: null } as const

export const inserted = counted<JobRow>()((tx, p) =>
  tx
    .insert(tx.of(jobs))
    .values({
      id: p.id,
      kind: p.kind,
      type: p.type,
      state: p.state,
      owner: p.owner,
      key_id: p.key_id,
      fair_key: p.fair_key,
      unique_key: p.unique_key,
      payload: p.payload,
      turn: p.turn,
      run_at: p.run_at,
      again_at: p.again_at,
      lease_until: p.lease_until,
      fence: p.fence,
      node: p.node,
      attempts: p.attempts,
      progress: p.progress,
      stage: p.stage,
      result: p.result,
      error: p.error,
      created_at: p.created_at,
      started_at: p.started_at,
      completed_at: p.completed_at,
      lined_up_at: p.lined_up_at,
    } satisfies Record<keyof JobRow, unknown>)
    .onConflictDoNothing(),
)

export const lined = command<{ id: JobId; turn: number }>()((tx, p) => {
  const t = tx.of(jobs)
  return tx
    .update(t)
    .set({ ...OUT_OF_LINE, node: null, state: 'queued', turn: sql`${p.turn}` })
    .where(eq(t.id, p.id))
})

export const removed = command<{ id: JobId }>()((tx, p) => {
  const t = tx.of(jobs)
  return tx.delete(t).where(eq(t.id, p.id))
})
