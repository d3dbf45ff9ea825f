import { and, asc, desc, eq, inArray, isNotNull, isNull, lte, ne, notInArray, or, sql } from 'drizzle-orm'
import { rowsOf } from '../kernel/rows'
import { allOf, command, counted, insertAll, query, type Reader, rowsIn, type Tx, unlocked } from '../kernel/store'
import type { JobId, StepKind } from './schema'
import { type JobRow, jobAsks, jobMemory, jobSteps, jobs, type StepRow } from './table'

const jobStepRows = rowsOf(jobSteps)
const jobMemoryRows = rowsOf(jobMemory)
const jobRows = rowsOf(jobs)

/** Maximum logged steps per job, so that a kind that reports a stage for each page does not fill the database. */
const MAX_STEPS = 200

type NewStep = { what: StepKind; attempt: number; detail: string | null; now: number }

/** The step logs of visible jobs: the actions of each attempt with their times. Deleted with the job. */
export const jobStepRepository = {
  async add(tx: Tx, id: JobId, { now, ...step }: NewStep): Promise<void> {
    const t = tx.of(jobSteps)
    const found = tx.select({ seq: t.seq }).from(t).where(eq(t.job_id, id)).orderBy(desc(t.seq)).limit(1)
    const seq = ((await found)[0]?.seq ?? 0) + 1
    if (seq <= MAX_STEPS) await tx.insert(t).values({ job_id: id, seq, ...step, at: now })
  },

  /** In the order in which they happened. */
  of: (db: Reader, id: JobId): Promise<StepRow[]> =>
    jobStepRows.all(db, { job_id: id }, { order: (t) => [asc(t.seq)] }),

  async forget(tx: Tx, ids: readonly string[]): Promise<void> {
    const t = tx.of(jobSteps)
    if (ids.length) await tx.delete(t).where(inArray(t.job_id, ids as JobId[]))
  },
}

const known = query<{ id: JobId; name: string }>()((db, p) => {
  const t = db.of(jobMemory)
  return db
    .select({ value: t.value })
    .from(t)
    .where(and(eq(t.job_id, p.id), eq(t.name, p.name)))
})

/** Data that attempts of a job store by name, so that a later attempt continues where the previous one was killed. */
export const jobMemoryRepository = {
  /** Null when nothing is stored under the name. */
  async recall(db: Reader, id: JobId, name: string): Promise<object | null> {
    return (await known(db, { id, name }))[0]?.value ?? null
  },

  async keep(tx: Tx, id: JobId, name: string, value: object): Promise<void> {
    const t = tx.of(jobMemory)
    const added = tx.insert(t).values({ job_id: id, name, value })
    await added.onConflictDoUpdate({ target: [t.job_id, t.name], set: { value } })
  },

  forget: (tx: Tx, id: JobId) => jobMemoryRows.remove(tx, { job_id: id }),
}

/** Clears the queue position, times and lease of a job. */
const OUT_OF_LINE = { turn: null, run_at: null, again_at: null, lease_until: null } as const

const inserted = counted<JobRow>()((tx, p) =>
  tx
    .insert(tx.of(jobs))
    .values(allOf(tx.of(jobs), p))
    .onConflictDoNothing(),
)

/** Queues waiting jobs. `list` contains their `id` and `turn`. */
const lined = command<{ list: string }>()((tx, p) => {
  const t = tx.of(jobs)
  return tx
    .update(t)
    .set({ ...OUT_OF_LINE, node: null, state: 'queued', turn: sql`given.turn` })
    .from(rowsIn(tx, p.list, { id: 'text', turn: 'bigint' }))
    .where(sql`${t.id} = given.id`)
})

/** For each `kind` and `fair_key` in `list`: the newest turn, and the turn at the front of the kind's queue. */
const turns = query<{ list: string }, Tx>()((tx, p) => {
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
const claimed = command<{ list: string; node: string; now: number; until: number }>()((tx, p) => {
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

/** Deletes an active job that this claim holds, unless another run was requested. */
const removedHeld = counted<{ id: JobId; fence: number }>()((tx, p) => {
  const t = tx.of(jobs)
  const mine = and(eq(t.id, p.id), eq(t.fence, p.fence), isNotNull(t.lease_until), isNull(t.again_at))
  return tx.delete(t).where(mine)
})

const removed = command<{ id: JobId }>()((tx, p) => {
  const t = tx.of(jobs)
  return tx.delete(t).where(eq(t.id, p.id))
})

/** Identifies one run of a job. */
export type Claim = Pick<JobRow, 'id' | 'fence'>
type Place = Pick<JobRow, 'kind' | 'fair_key'>
type InLine = Place & Pick<JobRow, 'id'>

const held = counted<{ id: JobId; fence: number }>()((tx, p) => {
  const t = tx.of(jobs)
  const mine = and(eq(t.id, p.id), eq(t.fence, p.fence), isNotNull(t.lease_until))
  return tx
    .update(t)
    .set({ fence: sql`${t.fence}` })
    .where(mine)
})

const hastened = counted<{ kind: string; key: string; at: number }>()((tx, p) => {
  const t = tx.of(jobs)
  const isActive = isNotNull(t.lease_until)
  const again = sql`case when ${isActive} and (${t.again_at} is null or ${t.again_at} > ${p.at}) then ${p.at} else ${t.again_at} end`
  const runAt = sql`case when ${t.run_at} > ${p.at} then ${p.at} else ${t.run_at} end`
  return tx
    .update(t)
    .set({ again_at: again, run_at: runAt })
    .where(and(eq(t.kind, p.kind), eq(t.unique_key, p.key)))
})

const againAt = query<{ id: JobId }, Tx>()((db, p) => {
  const t = db.of(jobs)
  return db.select({ at: t.again_at }).from(t).where(eq(t.id, p.id))
})

const soonest = query()((db) => {
  const t = db.of(jobs)
  const waiting = db
    .select({ at: sql`min(${t.run_at})` })
    .from(t)
    .where(isNotNull(t.run_at))
  const leased = db
    .select({ at: sql`min(${t.lease_until})` })
    .from(t)
    .where(isNotNull(t.lease_until))
  const first = db.select({ id: t.id }).from(t).where(isNotNull(t.turn)).limit(1)
  const a = db.of(jobAsks)
  const ask = db.select({ seq: a.seq }).from(a).limit(1)
  return db
    .select({
      runAt: sql<number | null>`${waiting}`.as('run_at'),
      leaseUntil: sql<number | null>`${leased}`.as('lease_until'),
      inLine: sql<number>`case when exists ${first} then 1 else 0 end`.as('in_line'),
      asked: sql<number>`case when exists ${ask} then 1 else 0 end`.as('asked'),
    })
    .from(sql`(select 1) as one`)
})

/** Rows of jobs. Reads for callers filter by owner. Workers use the rest. */
export const jobRepository = {
  /** False when an open job of the kind has the same unique key. */
  async insert(tx: Tx, row: JobRow): Promise<boolean> {
    return (await inserted(tx, row)) === 1
  },

  /** Skips jobs whose unique key an open job already has. */
  insertAll: (tx: Tx, rows: readonly JobRow[]): Promise<void> => insertAll(tx, tx.of(jobs), rows, inserted),

  /**
   * Makes the open job with this key run at `at` or earlier, and once more if it runs now. False when there is none. A
   * run that ends meanwhile waits for this transaction and sees its change.
   */
  hasten: async (tx: Tx, kind: string, key: string, at: number): Promise<boolean> =>
    (await hastened(tx, { kind, key, at })) === 1,

  /** When another run of an active job was requested, or null. */
  againAt: async (tx: Tx, id: JobId): Promise<number | null> => (await againAt(tx, { id }))[0]?.at ?? null,

  /**
   * The turns of new jobs, in order: after the other jobs of the same key, and level with the front of the queue. This
   * gives keys alternating turns.
   */
  async nextTurns(tx: Tx, places: readonly Place[]): Promise<number[]> {
    const named = places.map(({ kind, fair_key }) => ({ name: `${kind} ${fair_key}`, kind, fair_key }))
    const distinct = [...new Map(named.map((one) => [one.name, one])).values()]
    const found = await turns(tx, { list: JSON.stringify(distinct) })
    const next = new Map(
      found.map(({ kind, fair_key, own, front }) => {
        const behind = own === null ? 0 : Number(own) + 1
        return [`${kind} ${fair_key}`, Math.max(behind, Number(front ?? 0))]
      }),
    )
    return named.map(({ name }) => {
      const turn = next.get(name)!
      next.set(name, turn + 1)
      return turn
    })
  },

  nextTurn: async (tx: Tx, place: Place): Promise<number> => (await jobRepository.nextTurns(tx, [place]))[0]!,

  /** When the next waiting job is due and the next lease ends (null for none), and if a job is queued or requested. */
  async soonest(db: Reader) {
    const [found] = await soonest(db, {})
    const ms = (value: number | null) => (value === null ? null : Number(value))
    const { runAt, leaseUntil, inLine, asked: requested } = found!
    const is = (value: number) => Number(value) === 1
    return { runAt: ms(runAt), leaseUntil: ms(leaseUntil), inLine: is(inLine), asked: is(requested) }
  },

  /** Waiting jobs that are due, the longest overdue first. */
  async due(tx: Tx, now: number, limit: number): Promise<InLine[]> {
    const t = tx.of(jobs)
    const found = tx.select({ id: t.id, kind: t.kind, fair_key: t.fair_key }).from(t).where(lte(t.run_at, now))
    return unlocked(tx, found.orderBy(t.run_at).limit(limit))
  },

  /** Jobs whose worker is gone: their lease has expired, or, with a single process, belongs to a previous process. */
  async lost(tx: Tx, { now, node, limit }: { now: number; node: string; limit: number }): Promise<JobRow[]> {
    const t = tx.of(jobs)
    const expired = lte(t.lease_until, now)
    const gone = tx.dialect === 'sqlite' ? or(expired, and(isNotNull(t.lease_until), ne(t.node, node))) : expired
    return unlocked(tx, tx.select().from(t).where(gone).limit(limit)) as Promise<JobRow[]>
  },

  /** The first queued jobs, in order, without those with a key in `without`. */
  async front(tx: Tx, kind: string, { limit, without }: { limit: number; without: string[] }): Promise<InLine[]> {
    const t = tx.of(jobs)
    const inLine = and(
      eq(t.kind, kind),
      isNotNull(t.turn),
      without.length ? notInArray(t.fair_key, without) : undefined,
    )
    const found = tx.select({ id: t.id, kind: t.kind, fair_key: t.fair_key }).from(t).where(inLine)
    return unlocked(tx, found.orderBy(t.turn, t.id).limit(limit))
  },

  /** The number of running jobs of a kind, by fair key. */
  async busyKeys(tx: Tx, kind: string): Promise<Map<string, number>> {
    const t = tx.of(jobs)
    const found = await tx
      .select({ key: t.fair_key, count: sql<number>`count(*)`.mapWith(Number) })
      .from(t)
      .where(and(eq(t.kind, kind), isNotNull(t.lease_until)))
      .groupBy(t.fair_key)
    return new Map(found.map(({ key, count }) => [key, count]))
  },

  /** Serializes the claims of a kind until the commit, if several processes could claim at once. */
  async claimAlone(tx: Tx, kind: string): Promise<void> {
    if (tx.dialect === 'postgres')
      await tx.select({ done: sql`pg_advisory_xact_lock(hashtext(${kind}))` }).from(sql`(select 1) as one`)
  },

  /** Claims jobs that `front` has locked, in order. */
  async claim(tx: Tx, ids: readonly JobId[], lease: { node: string; now: number; until: number }): Promise<JobRow[]> {
    if (!ids.length) return []
    const found = (await claimed(tx, { list: JSON.stringify(ids.map((id) => ({ id }))), ...lease })) as JobRow[]
    const byId = new Map(found.map((row) => [row.id, row]))
    return ids.flatMap((id) => byId.get(id) ?? [])
  },

  /** Queues waiting jobs. */
  async line(tx: Tx, some: readonly InLine[]): Promise<void> {
    if (!some.length) return
    const turns = await jobRepository.nextTurns(tx, some)
    await lined(tx, { list: JSON.stringify(some.map(({ id }, at) => ({ id, turn: turns[at] }))) })
  },

  /** Queues a job or makes it wait. */
  requeue: async (tx: Tx, id: JobId, place: Pick<JobRow, 'turn' | 'run_at'> & Partial<JobRow>): Promise<void> =>
    void (await jobRows.update(tx, { id }, { ...OUT_OF_LINE, node: null, state: 'queued', ...place })),

  /**
   * Ends an open job and returns it. Undefined when it had already ended. Increases its fence, so that a worker that
   * still runs the job has no effect.
   */
  async end(
    tx: Tx,
    id: JobId,
    ending: Pick<JobRow, 'state' | 'completed_at'> & Partial<JobRow>,
  ): Promise<JobRow | undefined> {
    const t = tx.of(jobs)
    const open = and(eq(t.id, id), inArray(t.state, ['queued', 'active']))
    const change = { ...OUT_OF_LINE, unique_key: null, fence: sql`${t.fence} + 1`, ...ending }
    return ((await tx.update(t).set(change).where(open).returning()) as JobRow[])[0]
  },

  /** Whether this claim is still valid. If so, it remains valid until the transaction ends. */
  holds: async (tx: Tx, { id, fence: fencingToken }: Claim): Promise<boolean> =>
    (await held(tx, { id, fence: fencingToken })) === 1,

  /** Extends the leases of these jobs. Returns the claims that are still valid. */
  async renew(tx: Tx, ids: readonly JobId[], { node, until }: { node: string; until: number }): Promise<Claim[]> {
    const t = tx.of(jobs)
    const mine = and(inArray(t.id, [...ids]), eq(t.node, node), isNotNull(t.lease_until))
    return tx.update(t).set({ lease_until: until }).where(mine).returning({ id: t.id, fence: t.fence })
  },

  /** False when the claim is no longer valid. */
  async progress(tx: Tx, { id, fence: fencingToken }: Claim, progress: number, stage: string | null): Promise<boolean> {
    const t = tx.of(jobs)
    const further = sql`case when ${t.progress} < ${progress} then ${progress} else ${t.progress} end`
    const mine = and(eq(t.id, id), eq(t.fence, fencingToken), isNotNull(t.lease_until))
    const update = tx.update(t).set({ progress: further, stage }).where(mine)
    return (await update.returning({ id: t.id })).length === 1
  },

  async remove(tx: Tx, id: JobId): Promise<void> {
    await removed(tx, { id })
  },

  /** False when the claim is no longer valid, or another run was requested. */
  removeHeld: async (tx: Tx, { id, fence: fencingToken }: Claim): Promise<boolean> =>
    (await removedHeld(tx, { id, fence: fencingToken })) === 1,

  byId: (db: Reader, id: JobId): Promise<JobRow | undefined> => jobRows.first(db, { id }),
}
