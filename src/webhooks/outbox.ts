import { and, asc, eq, inArray, lte, sql } from 'drizzle-orm'
import type { EventId } from '../events/schema'
import { command, query, type Reader, type Tx } from '../kernel/store'
import type { WebhookId } from './schema'
import { type OutboxRow, webhookOutbox } from './table'

const insert = command<Omit<OutboxRow, 'seq'>>()((tx, p) =>
  tx
    .insert(tx.of(webhookOutbox))
    .values({
      webhook_id: p.webhook_id,
      event_id: p.event_id,
      event_type: p.event_type,
      attempt: p.attempt,
      due_at: p.due_at,
    })
    .onConflictDoNothing(),
)

const removed = command<{ seq: number }>()((tx, p) => {
  const t = tx.of(webhookOutbox)
  return tx.delete(t).where(eq(t.seq, p.seq))
})

const due = query<{ id: WebhookId; now: number; limit: number }>()((db, p) => {
  const t = db.of(webhookOutbox)
  const isDue = and(eq(t.webhook_id, p.id), lte(t.due_at, p.now))
  return db.select().from(t).where(isDue).orderBy(asc(t.due_at), asc(t.seq)).limit(p.limit)
})

const first = query<{ id: WebhookId }>()((db, p) => {
  const t = db.of(webhookOutbox)
  return db.select().from(t).where(eq(t.webhook_id, p.id)).orderBy(asc(t.seq)).limit(1)
})

const soonest = query<{ id: WebhookId }>()((db, p) => {
  const t = db.of(webhookOutbox)
  return db.select({ at: t.due_at }).from(t).where(eq(t.webhook_id, p.id)).orderBy(asc(t.due_at), asc(t.seq)).limit(1)
})

/** Deliveries that wait (I17). Only the job that holds a webhook sends and removes its rows. */
export const outboxRepository = {
  insert: async (tx: Tx, row: Omit<OutboxRow, 'seq'>): Promise<void> => void (await insert(tx, row)),

  /** Has a waiting delivery of this event made now. False when none waits. */
  async hasten(tx: Tx, id: WebhookId, eventId: EventId, now: number): Promise<boolean> {
    const t = tx.of(webhookOutbox)
    const one = and(eq(t.webhook_id, id), eq(t.event_id, eventId))
    return (await tx.update(t).set({ due_at: now }).where(one).returning({ seq: t.seq })).length === 1
  },

  /** Those that are due, the longest first. */
  due: async (db: Reader, id: WebhookId, now: number, limit: number): Promise<OutboxRow[]> =>
    (await due(db, { id, now, limit })) as OutboxRow[],

  /** The oldest, due or not: of an ordered webhook nothing else may go. */
  first: async (db: Reader, id: WebhookId): Promise<OutboxRow | undefined> =>
    ((await first(db, { id })) as OutboxRow[])[0],

  /** Those of these events that wait. */
  async some(db: Reader, id: WebhookId, eventIds: readonly EventId[]): Promise<OutboxRow[]> {
    const t = db.of(webhookOutbox)
    const wanted = and(eq(t.webhook_id, id), inArray(t.event_id, [...eventIds]))
    return eventIds.length ? ((await db.select().from(t).where(wanted).orderBy(asc(t.seq))) as OutboxRow[]) : []
  },

  /** When the next one is due; null when none waits. */
  soonest: async (db: Reader, id: WebhookId): Promise<number | null> => (await soonest(db, { id }))[0]?.at ?? null,

  async putOff(tx: Tx, seq: number, attempt: number, dueAt: number): Promise<void> {
    const t = tx.of(webhookOutbox)
    await tx.update(t).set({ attempt, due_at: dueAt }).where(eq(t.seq, seq))
  },

  async remove(tx: Tx, seqs: readonly number[]): Promise<void> {
    if (tx.dialect === 'sqlite') {
      for (const seq of seqs) await removed(tx, { seq })
      return
    }
    if (!seqs.length) return
    const t = tx.of(webhookOutbox)
    await tx.delete(t).where(inArray(t.seq, [...seqs]))
  },

  /** Drops some of what waits for a webhook. Returns how many. */
  async clear(tx: Tx, id: WebhookId, limit: number): Promise<number> {
    const t = tx.of(webhookOutbox)
    const some = tx.select({ seq: t.seq }).from(t).where(eq(t.webhook_id, id)).limit(limit)
    return (await tx.delete(t).where(inArray(t.seq, some)).returning({ seq: t.seq })).length
  },

  async count(db: Reader, id: WebhookId): Promise<number> {
    const t = db.of(webhookOutbox)
    const counted = db.select({ total: sql<number>`count(*)`.mapWith(Number) }).from(t)
    return (await counted.where(eq(t.webhook_id, id)))[0]!.total
  },
}
