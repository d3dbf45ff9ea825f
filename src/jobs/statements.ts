import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import { command, counted, query, rowsIn, type Tx } from '../kernel/store'
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

/** Puts waiting jobs in line: `list` has their `id` and `turn`. */
export const lined = command<{ list: string }>()((tx, p) => {
  const t = tx.of(jobs)
  return tx
    .update(t)
    .set({ ...OUT_OF_LINE, node: null, state: 'queued', turn: sql`given.turn` })
    .from(rowsIn(tx, p.list, { id: 'text', turn: 'bigint' }))
    .where(sql`${t.id} = given.id`)
})

/** Of each `kind` and `fair_key` in `list` the newest turn, and the turn at the front of its kind's line. */
export const turns = query<{ list: string }, Tx>()((tx, p) => {
  const t = tx.of(jobs)
  const inLine = sql`${t.kind} = given.kind and ${t.turn} is not null`
  return tx
    .select({
      kind: sql<string>`given.kind`.as('kind'),
      fair_key: sql<string>`given.fair_key`.as('fair_key'),
      own: sql<number | null>`(select max(${t.turn}) from ${t} where ${inLine} and ${t.fair_key} = given.fair_key)`.as(
        'own',
      ),
      front: sql<number | null>`(select min(${t.turn}) from ${t} where ${inLine})`.as('front'),
    })
    .from(rowsIn(tx, p.list, { kind: 'text', fair_key: 'text' }))
})

/** Claims the jobs whose `id` is in `list`. */
export const claimed = command<{ list: string; node: string; now: number; until: number }>()((tx, p) => {
  const t = tx.of(jobs)
  const among = sql`${t.id} in (select id from ${rowsIn(tx, p.list, { id: 'text' })})`
  return tx
    .update(t)
    .set({
      state: 'active',
      turn: null,
      again_at: null,
      lease_until: sql`${p.until}`,
      node: sql`${p.node}`,
      fence: sql`${t.fence} + 1`,
      attempts: sql`${t.attempts} + 1`,
      started_at: sql`coalesce(${t.started_at}, ${p.now})`,
    })
    .where(among)
    .returning()
})

/** Deletes an active job that this claim holds, unless it was asked for again. */
export const removedHeld = counted<{ id: JobId; fence: number }>()((tx, p) => {
  const t = tx.of(jobs)
  const mine = and(eq(t.id, p.id), eq(t.fence, p.fence), isNotNull(t.lease_until), isNull(t.again_at))
  return tx.delete(t).where(mine)
})

export const removed = command<{ id: JobId }>()((tx, p) => {
  const t = tx.of(jobs)
  return tx.delete(t).where(eq(t.id, p.id))
})
