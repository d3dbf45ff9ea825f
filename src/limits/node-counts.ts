import { and, eq, gt, or, sql } from 'drizzle-orm'
import type { Clock } from '../kernel/clock'
import { addedOf, command, insertListed, postgresNow, query, type Store } from '../kernel/store'
import { rateCounts } from './table'
import { WINDOW_MS, type WindowName } from './window'

/** What one node admitted to a window in the last minute. Redis does not know the part `apart`. */
export type NodeCount = { node: string; used: number; apart: number }

const SECOND_MS = 1_000
/** Time between two writes. A killed node loses what it admitted since its last write. */
const WRITE_EVERY_MS = 20
const RETRY_MS = 100
/** If a write takes longer, each call waits until its own count is written. */
const LATE_MS = 200
/** Concurrent writes, at most. A frozen Postgres also runs the writes of a node that has died meanwhile. */
const MAX_WRITES = 100
const SWEEP_EVERY_MS = 10_000
const MAX_SWEPT = 5_000
/** A row that tells other nodes that this one admits calls. It counts for `MARKED_MS` and one more minute. */
const MARK = { subject: '', name: 'requests', weight: 0, apart: 0 }
const MARKED_MS = 20_000
/** A node admits up to 1/`PARTS` of a limit before it is written, so that calls need not wait for the disk. */
const PARTS = 20

/**
 * How much of a limit one node admits before it is written, at most. Other nodes assume that a dead node admitted this
 * much more than it wrote.
 */
export const maxUnwrittenOf = (limit: number): number => Math.ceil(limit / PARTS)

const secondNow = sql<number>`${postgresNow} / ${SECOND_MS}::bigint * ${SECOND_MS}::bigint`
const secondOf = sql<number>`${secondNow} + case when subject = '' then ${MARKED_MS}::bigint else 0 end`
/** Start of the oldest second that overlaps the last minute. */
const oldest = sql<number>`${postgresNow} - ${WINDOW_MS + SECOND_MS}::bigint`

/** Adds counts, durably: Postgres may crash, a node be killed and Redis lose its data shortly after each other. */
const addUp = command<{ list: string; node: string }>()((tx, p) => {
  const t = tx.of(rateCounts)
  return insertListed(tx, t, p.list, { node: sql`${p.node}`, second: secondOf }).onConflictDoUpdate({
    target: [t.subject, t.name, t.node, t.second],
    set: addedOf(t, ['weight', 'apart']),
  })
})

/**
 * The counts of a window by node, including nodes that admitted nothing to it. Redis remembers the last `back`
 * milliseconds. A second that began earlier counts as forgotten as a whole. Counts of that time that were written later
 * are less than `maxUnwrittenOf` the limit.
 */
const byNode = query<{ subject: string; name: WindowName; back: number }>()((db, p) => {
  const t = db.of(rateCounts)
  const isForgotten = sql`${t.second} <= ${postgresNow} - ${p.back}::bigint`
  return db
    .select({
      node: t.node,
      used: sql<number>`sum(${t.weight})::float8`,
      apart: sql<number>`sum(case when ${isForgotten} then greatest(${t.weight}, ${t.apart}) else ${t.apart} end)::float8`,
    })
    .from(t)
    .where(
      and(
        gt(t.second, oldest as never),
        or(and(eq(t.subject, p.subject), eq(t.name, p.name)), and(eq(t.subject, MARK.subject), eq(t.name, 'requests'))),
      ),
    )
    .groupBy(t.node)
})

const withApart = query()((db) => {
  const t = db.of(rateCounts)
  return db
    .selectDistinct({ subject: t.subject, name: t.name })
    .from(t)
    .where(and(gt(t.second, oldest as never), gt(t.apart, 0)))
})

/** Deletes old rows. Skips rows that another node is deleting. */
const sweep = command<{ limit: number }>()((tx, p) => {
  const t = tx.of(rateCounts)
  const old = sql`select ctid from ${t} where ${t.second} <= ${oldest} limit ${p.limit} for update skip locked`
  return tx.delete(t).where(sql`ctid in (${old})`)
})

/** Counts that are written together. No call waits for the part `behind`. */
type Batch = {
  counts: Map<string, { subject: string; name: WindowName; weight: number; apart: number; behind: number }>
  /** Whether calls wait for it. */
  isUrgent: boolean
  written: PromiseWithResolvers<void>
}

const newBatch = (): Batch => {
  const written = Promise.withResolvers<void>()
  // Usually no call waits, so nobody would handle a rejection.
  written.promise.catch(() => undefined)
  return { counts: new Map(), isUrgent: false, written }
}

const keyOf = (subject: string, name: WindowName): string => `${name} ${subject}`

/**
 * Keeps in Postgres what this node admits, by the second. Without it, the count would be lost if the node is killed and
 * Redis loses its data, too. Counts are written after the calls, many in one statement, up to `maxUnwrittenOf` the limit.
 * Any further call waits until its count is on the disk. So a dead node admitted at most that much more than it wrote.
 */
export function createNodeCounts({ store, clock, node }: { store: Store; clock: Clock; node: string }) {
  let batch = newBatch()
  let isWriting = false
  let failingSince: number | null = null
  /** The running writes and when each was sent. */
  const sent = new Set<{ at: number }>()
  /** Admitted weight that is not written yet and that no call waits for, by window. */
  const unwritten = new Map<string, number>()
  let markedUntil = Number.NEGATIVE_INFINITY
  let sweptAt = clock.monotonic()

  return {
    add,
    letIn,
    /** The counts of each node. Redis remembers the last `back` milliseconds. Rejects if Postgres is unavailable. */
    read: (subject: string, name: WindowName, back: number): Promise<NodeCount[]> =>
      byNode(store.read, { subject, name, back: Math.ceil(Math.min(back, 2 * WINDOW_MS)) }).catch((error) => {
        failingSince ??= clock.monotonic()
        throw error
      }),
    /** Windows to which some node admitted calls that Redis does not know. Rejects if Postgres is unavailable. */
    uncertain: () => withApart(store.read, {}),
  }

  /**
   * Counts an admitted call. Waits until the count is on the disk if Redis does not know the call, too much of the
   * limit is unwritten, other nodes do not know this one yet, or Postgres is slow or failing. Rejects with 503
   * `storage_unavailable`, and then the call is refused.
   */
  function letIn(
    subject: string,
    name: WindowName,
    weight: number,
    apart: number,
    limit: number,
  ): void | Promise<void> {
    const waits =
      apart > 0 ||
      failingSince !== null ||
      isLate() ||
      clock.monotonic() >= markedUntil ||
      (unwritten.get(keyOf(subject, name)) ?? 0) + weight > maxUnwrittenOf(limit)
    if (!waits) return add(subject, name, weight, apart)
    put(subject, name, weight, apart, 0)
    const { written } = batch
    batch.isUrgent = true
    if (!sent.size || isLate()) writeSoon()
    return written.promise
  }

  /** Counts an admitted weight without waiting. Redis does not know the part `apart`. */
  function add(subject: string, name: WindowName, weight: number, apart: number): void {
    const key = keyOf(subject, name)
    unwritten.set(key, (unwritten.get(key) ?? 0) + weight)
    put(subject, name, weight, apart, weight)
  }

  function put(subject: string, name: WindowName, weight: number, apart: number, behind: number): void {
    const key = keyOf(subject, name)
    const found = batch.counts.get(key)
    if (found) {
      found.weight += weight
      found.apart += apart
      found.behind += behind
    } else {
      batch.counts.set(key, { subject, name, weight, apart, behind })
    }
    if (!isWriting) void writeAll()
  }

  function isLate(): boolean {
    const [first] = sent
    return first !== undefined && clock.monotonic() - first.at > LATE_MS
  }

  async function writeAll(): Promise<void> {
    isWriting = true
    await undefined
    while (batch.counts.size) {
      writeSoon()
      await clock.sleep(failingSince === null ? WRITE_EVERY_MS : RETRY_MS)
    }
    isWriting = false
  }

  function writeSoon(): void {
    if (batch.counts.size && sent.size < MAX_WRITES) void writeWaiting()
  }

  async function writeWaiting(): Promise<void> {
    const { counts, written } = batch
    batch = newBatch()
    // Concurrent writes may touch the same rows. A fixed order avoids deadlocks.
    const taken = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
    const write = { at: clock.monotonic() }
    const isMarked = write.at < markedUntil - MARKED_MS / 2
    const list = JSON.stringify(isMarked ? taken : [MARK, ...taken])
    sent.add(write)
    const failure = await store
      .writeOne((tx) => addUp(tx, { list, node }))
      .then(
        () => null,
        (error: Error) => error,
      )
    sent.delete(write)
    for (const { subject, name, behind } of taken) wrote(keyOf(subject, name), behind)
    if (failure) {
      failingSince ??= clock.monotonic()
      // If it was written despite the error, it counts twice, which is the safe side.
      if (clock.monotonic() < failingSince + WINDOW_MS)
        for (const { subject, name, weight, apart } of taken) add(subject, name, weight, apart)
      written.reject(failure)
    } else {
      failingSince = null
      if (!isMarked) markedUntil = Math.max(markedUntil, write.at + MARKED_MS)
      written.resolve()
    }
    if (batch.isUrgent) writeSoon()
    if (failingSince === null && clock.monotonic() > sweptAt + SWEEP_EVERY_MS) {
      sweptAt = clock.monotonic()
      await store.writeOne((tx) => sweep(tx, { limit: MAX_SWEPT })).catch(() => undefined)
    }
  }

  function wrote(key: string, behind: number): void {
    const left = (unwritten.get(key) ?? 0) - behind
    if (left > 0) unwritten.set(key, left)
    else unwritten.delete(key)
  }
}

export type NodeCounts = ReturnType<typeof createNodeCounts>
