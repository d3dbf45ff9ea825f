import { and, eq, gt, or, sql } from 'drizzle-orm'
import type { Clock } from '../kernel/clock'
import { command, insertListed, postgresNow, query, type Store } from '../kernel/store'
import { rateCounts } from './table'
import { WINDOW_MS, type WindowName } from './window'

/** What one node let in of a window in the last minute, and how much of that Redis does not know. */
export type KeptCount = { node: string; used: number; apart: number }

type Deps = { store: Store; clock: Clock; node: string }

const SECOND_MS = 1_000
/** Between two writes; what was let in since the last may be lost with the node. */
const WRITE_EVERY_MS = 20
const RETRY_MS = 100
/** A write that takes longer is late: then each call waits for its own. */
const LATE_MS = 200
/** At once: what a Postgres that stands still was sent, it writes also for a node that is gone by then. */
const MAX_WRITES = 100
const SWEEP_EVERY_MS = 10_000
const MAX_SWEPT = 5_000
/** The row by which others know of a node that it lets in calls. They know it for so long, and a minute more. */
const MARK = { subject: '', name: 'requests', weight: 0, apart: 0 }
const MARKED_MS = 20_000
/** One part in so many of a limit is let in before it is written, so that a call does not wait for the disk. */
const PARTS = 20

/**
 * How much of a limit one node lets in before it is written, at most. Others take a node that is gone to have let in so
 * much more than is written.
 */
export const unwrittenOf = (limit: number): number => Math.ceil(limit / PARTS)

const secondNow = sql<number>`${postgresNow} / ${SECOND_MS}::bigint * ${SECOND_MS}::bigint`
const secondOf = sql<number>`${secondNow} + case when subject = '' then ${MARKED_MS}::bigint else 0 end`
/** The second that began then still has a part in the last minute. */
const oldest = sql<number>`${postgresNow} - ${WINDOW_MS + SECOND_MS}::bigint`

/** On the disk before the next ones: a node may be killed, and Redis forget, soon after Postgres crashed. */
const addUp = command<{ list: string; node: string }>()((tx, p) => {
  const t = tx.of(rateCounts)
  return insertListed(tx, t, p.list, { node: sql`${p.node}`, second: secondOf }).onConflictDoUpdate({
    target: [t.subject, t.name, t.node, t.second],
    set: { weight: sql`${t.weight} + excluded.weight`, apart: sql`${t.apart} + excluded.apart` },
  })
})

/**
 * `back`: since how many milliseconds Redis remembers. A second that had begun by then counts whole as forgotten; what
 * was let in by then and written later is less than `unwrittenOf` the limit. Nodes that let in nothing of it are there,
 * too.
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

/** Several nodes sweep; what one of them is at is left to it. */
const sweep = command<{ limit: number }>()((tx, p) => {
  const t = tx.of(rateCounts)
  const old = sql`select ctid from ${t} where ${t.second} <= ${oldest} limit ${p.limit} for update skip locked`
  return tx.delete(t).where(sql`ctid in (${old})`)
})

/** Written together. `behind`: how much of a count calls did not wait for. */
type Batch = {
  counts: Map<string, { subject: string; name: WindowName; weight: number; apart: number; behind: number }>
  /** Calls wait for it. */
  isUrgent: boolean
  written: PromiseWithResolvers<void>
}

const newBatch = (): Batch => {
  const written = Promise.withResolvers<void>()
  // Most of the time nobody waits.
  written.promise.catch(() => undefined)
  return { counts: new Map(), isUrgent: false, written }
}

const keyOf = (subject: string, name: WindowName): string => `${name} ${subject}`

/**
 * What this node lets in, by the second in Postgres: a node that is killed takes its own count with it, and where Redis
 * forgot, too, nobody else would know of it. Written behind the calls, many in one statement, up to `unwrittenOf` the
 * limit; a call beyond that waits until its count is on the disk. So a node that is gone let in at most that much more
 * than others read here.
 */
export function createKeptCounts({ store, clock, node }: Deps) {
  let batch = newBatch()
  let isWriting = false
  let failingSince: number | null = null
  /** When each write under way was sent. */
  const sent = new Set<{ at: number }>()
  /** What calls were let in with that did not wait, by window. */
  const unwritten = new Map<string, number>()
  let markedUntil = Number.NEGATIVE_INFINITY
  let sweptAt = clock.monotonic()

  return {
    add,
    letIn,
    /** Of each node; Redis remembers since `back` milliseconds. Rejects where Postgres is away. */
    read: (subject: string, name: WindowName, back: number): Promise<KeptCount[]> =>
      byNode(store.read, { subject, name, back: Math.ceil(Math.min(back, 2 * WINDOW_MS)) }).catch((error) => {
        failingSince ??= clock.monotonic()
        throw error
      }),
    /** The windows of which somebody let in what Redis does not know. Rejects where Postgres is away. */
    uncertain: () => withApart(store.read, {}),
  }

  /**
   * Counts a call that may still be refused. It waits until its count is on the disk where Redis does not know of it,
   * where much of the limit is not written yet, where others do not know of this node, and where Postgres is away or
   * late. Rejects with 503 `storage_unavailable`.
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
      (unwritten.get(keyOf(subject, name)) ?? 0) + weight > unwrittenOf(limit)
    if (!waits) return add(subject, name, weight, apart)
    put(subject, name, weight, apart, 0)
    const { written } = batch
    batch.isUrgent = true
    if (!sent.size || isLate()) writeSoon()
    return written.promise
  }

  /** Counts what was let in now, and how much of it Redis does not know. */
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
    // Several writes may touch the same rows: in one order, or Postgres would find a circle.
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
      // Where it was written after all, more counts than was let in: that is the safe side.
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

export type KeptCounts = ReturnType<typeof createKeptCounts>
