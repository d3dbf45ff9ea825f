import { and, eq, gt, sql } from 'drizzle-orm'
import type { Clock } from '../kernel/clock'
import { command, insertListed, postgresNow, query, type Store } from '../kernel/store'
import { rateCounts } from './table'
import { WINDOW_MS, type WindowName } from './window'

/** What one node let in of a window in the last minute, and how much of that Redis does not know. */
export type KeptCount = { node: string; used: number; apart: number }

type Deps = { store: Store; clock: Clock; node: string }

const SECOND_MS = 1_000
/** Between two writes; what was let in since the last is lost with the node. */
const WRITE_EVERY_MS = 20
const RETRY_MS = 100
/** A write that takes longer is late: then each call waits for its own. */
const LATE_MS = 200
/** At once: what a Postgres that stands still was sent, it writes also for a node that is gone by then. */
const MAX_WRITES = 100
const SWEEP_EVERY_MS = 10_000
const MAX_SWEPT = 5_000

const secondNow = sql<number>`${postgresNow} / ${SECOND_MS}::bigint * ${SECOND_MS}::bigint`
/** The second that began then still has a part in the last minute. */
const oldest = sql<number>`${postgresNow} - ${WINDOW_MS + SECOND_MS}::bigint`

/** On the disk before the next ones: a node may be killed, and Redis forget, soon after Postgres crashed. */
const addUp = command<{ list: string; node: string }>()((tx, p) => {
  const t = tx.of(rateCounts)
  return insertListed(tx, t, p.list, { node: sql`${p.node}`, second: secondNow }).onConflictDoUpdate({
    target: [t.subject, t.name, t.node, t.second],
    set: { weight: sql`${t.weight} + excluded.weight`, apart: sql`${t.apart} + excluded.apart` },
  })
})

/** `back`: since how many milliseconds Redis remembers. A second that had begun by then counts whole as forgotten. */
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
    .where(and(eq(t.subject, p.subject), eq(t.name, p.name), gt(t.second, oldest as never)))
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

/**
 * What this node lets in, by the second in Postgres: a node that is killed takes its own count with it, and where Redis
 * forgot, too, nobody else would know of it. Written behind the calls, many in one statement.
 */
export function createKeptCounts({ store, clock, node }: Deps) {
  let waiting = new Map<string, { subject: string; name: WindowName; weight: number; apart: number }>()
  let isWriting = false
  let failingSince: number | null = null
  /** When each write under way was sent. */
  const sent = new Set<{ at: number }>()
  let sweptAt = clock.monotonic()

  return {
    add,
    letIn,
    /** Of each node; Redis remembers since `back` milliseconds. Null where Postgres does not tell. */
    read: (subject: string, name: WindowName, back: number): Promise<KeptCount[] | null> =>
      byNode(store.read, { subject, name, back: Math.ceil(Math.min(back, 2 * WINDOW_MS)) }).catch(() => {
        failingSince ??= clock.monotonic()
        return null
      }),
    /** The windows of which somebody let in what Redis does not know. Rejects where Postgres is away. */
    uncertain: () => withApart(store.read, {}),
  }

  /**
   * The same for a call that may still be refused: where Postgres is away or late, it waits until its count is on the
   * disk. Rejects with 503 `storage_unavailable`.
   */
  function letIn(subject: string, name: WindowName, weight: number, apart: number): void | Promise<void> {
    const [oldest] = sent
    const isLate = oldest !== undefined && clock.monotonic() - oldest.at > LATE_MS
    if (failingSince === null && !isLate) return add(subject, name, weight, apart)
    const list = JSON.stringify([{ subject, name, weight, apart }])
    return store
      .writeOne((tx) => addUp(tx, { list, node }))
      .then(() => {
        failingSince = null
      })
  }

  /** Counts what was let in now, and how much of it Redis does not know. */
  function add(subject: string, name: WindowName, weight: number, apart: number): void {
    const key = `${name} ${subject}`
    const found = waiting.get(key)
    if (found) {
      found.weight += weight
      found.apart += apart
    } else {
      waiting.set(key, { subject, name, weight, apart })
    }
    if (!isWriting) void writeAll()
  }

  async function writeAll(): Promise<void> {
    isWriting = true
    while (waiting.size) {
      if (sent.size < MAX_WRITES) void writeWaiting()
      await clock.sleep(failingSince === null ? WRITE_EVERY_MS : RETRY_MS)
    }
    isWriting = false
  }

  async function writeWaiting(): Promise<void> {
    // Several writes may touch the same rows: in one order, or Postgres would find a circle.
    const taken = [...waiting].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
    waiting = new Map()
    const list = JSON.stringify(taken)
    const write = { at: clock.monotonic() }
    sent.add(write)
    try {
      await store.writeOne((tx) => addUp(tx, { list, node }))
      failingSince = null
      if (clock.monotonic() > sweptAt + SWEEP_EVERY_MS) {
        sweptAt = clock.monotonic()
        await store.writeOne((tx) => sweep(tx, { limit: MAX_SWEPT })).catch(() => undefined)
      }
    } catch {
      failingSince ??= clock.monotonic()
      // Where it was written after all, more counts than was let in: that is the safe side.
      if (clock.monotonic() < failingSince + WINDOW_MS)
        for (const { subject, name, weight, apart } of taken) add(subject, name, weight, apart)
    } finally {
      sent.delete(write)
    }
  }
}

export type KeptCounts = ReturnType<typeof createKeptCounts>
