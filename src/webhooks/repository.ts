import {
  aliasedTable,
  and,
  asc,
  desc,
  eq,
  gt,
  gte,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  notExists,
  sql,
} from 'drizzle-orm'
import type { EventId } from '../events/schema'
import type { OwnerScope } from '../kernel/caller'
import { isoOrNull } from '../kernel/clock'
import { type PageRequest, pagesBy } from '../kernel/keyset'
import { removeOldest } from '../kernel/old-rows'
import type { Page } from '../kernel/page'
import type { Range } from '../kernel/range'
import { rowsOf } from '../kernel/rows'
import { allOf, command, query, type Reader, someOf, type Tx } from '../kernel/store'
import { presentDelivery } from './present'
import type { DeliveryId, WebhookId } from './schema'
import { type DeliveryRow, type OutboxRow, type WebhookRow, webhookDeliveries, webhookOutbox, webhooks } from './table'

const webhookOutboxRows = rowsOf(webhookOutbox)
const webhookRows = rowsOf(webhooks)
const webhookDeliveryRows = rowsOf(webhookDeliveries)

const insert = command<Omit<OutboxRow, 'seq'>>()((tx, p) =>
  tx
    .insert(tx.of(webhookOutbox))
    .values(allOf(tx.of(webhookOutbox), p))
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

/** Maximum number of rows per statement. */
const MANY = 1_000

/** Waiting deliveries (docs/promises.md I17). Only the job that holds a webhook sends and removes its rows. */
export const outboxRepository = {
  insert: async (tx: Tx, row: Omit<OutboxRow, 'seq'>): Promise<void> => void (await insert(tx, row)),

  /** Adds deliveries whose events do not wait yet. Returns how many. */
  async insertMany(tx: Tx, rows: readonly Omit<OutboxRow, 'seq'>[]): Promise<number> {
    const t = tx.of(webhookOutbox)
    let added = 0
    for (let at = 0; at < rows.length; at += MANY) {
      const some = tx
        .insert(t)
        .values(rows.slice(at, at + MANY))
        .onConflictDoNothing()
      added += (await some.returning({ seq: t.seq })).length
    }
    return added
  },

  /** Makes a waiting delivery of this event due now. Returns false when none waits. */
  hasten: async (tx: Tx, id: WebhookId, eventId: EventId, now: number): Promise<boolean> =>
    (await webhookOutboxRows.update(tx, { webhook_id: id, event_id: eventId }, { due_at: now })) === 1,

  /** The due deliveries, longest overdue first. */
  due: async (db: Reader, id: WebhookId, now: number, limit: number): Promise<OutboxRow[]> =>
    (await due(db, { id, now, limit })) as OutboxRow[],

  /** The oldest delivery, due or not. An ordered webhook may send no other. */
  first: async (db: Reader, id: WebhookId): Promise<OutboxRow | undefined> =>
    ((await first(db, { id })) as OutboxRow[])[0],

  /** The waiting deliveries of these events. */
  async some(db: Reader, id: WebhookId, eventIds: readonly EventId[]): Promise<OutboxRow[]> {
    const t = db.of(webhookOutbox)
    const wanted = and(eq(t.webhook_id, id), inArray(t.event_id, [...eventIds]))
    return eventIds.length ? ((await db.select().from(t).where(wanted).orderBy(asc(t.seq))) as OutboxRow[]) : []
  },

  /** When the next delivery is due. Null when none waits. */
  soonest: async (db: Reader, id: WebhookId): Promise<number | null> => (await soonest(db, { id }))[0]?.at ?? null,

  putOff: (tx: Tx, seq: number, attempt: number, dueAt: number) =>
    webhookOutboxRows.update(tx, { seq }, { attempt, due_at: dueAt }),

  async remove(tx: Tx, seqs: readonly number[]): Promise<void> {
    if (tx.dialect === 'sqlite') {
      for (const seq of seqs) await removed(tx, { seq })
      return
    }
    if (!seqs.length) return
    const t = tx.of(webhookOutbox)
    await tx.delete(t).where(inArray(t.seq, [...seqs]))
  },

  /** Drops up to `limit` waiting deliveries of a webhook. Returns how many. */
  async clear(tx: Tx, id: WebhookId, limit: number): Promise<number | number[]> {
    const t = tx.of(webhookOutbox)
    const some = tx.select({ seq: t.seq }).from(t).where(eq(t.webhook_id, id)).limit(limit)
    return (await tx.delete(t).where(inArray(t.seq, some)).returning({ seq: t.seq })).length
  },

  count: (db: Reader, id: WebhookId): Promise<number> => webhookOutboxRows.count(db, { webhook_id: id }),
}

const byId = query<{ id: WebhookId }>()((db, p) => {
  const t = db.of(webhooks)
  return db.select().from(t).where(eq(t.id, p.id)).limit(1)
})

/** Columns of a webhook that change with every delivery. */
const COUNTED = ['failure_count', 'failing_since', 'successes', 'failures', 'last_delivered_at'] as const
export type Counts = Pick<WebhookRow, (typeof COUNTED)[number]>

const counted = command<Counts & { id: WebhookId }>()((tx, p) => {
  const t = tx.of(webhooks)
  return tx.update(t).set(someOf(p, COUNTED)).where(eq(t.id, p.id))
})

const logged = command<DeliveryRow>()((tx, p) =>
  tx.insert(tx.of(webhookDeliveries)).values(allOf(tx.of(webhookDeliveries), p)),
)

const newestFirst = pagesBy(webhookDeliveries, 'created_at')

/** Webhooks for the delivery code. Callers read and write them through the resource. */
export const webhookRepository = {
  byId: async (db: Reader, id: WebhookId): Promise<WebhookRow | undefined> =>
    ((await byId(db, { id })) as WebhookRow[])[0],

  /** The enabled webhooks among these ids. */
  enabled: (db: Reader, owner: OwnerScope, ids: readonly WebhookId[]): Promise<WebhookRow[]> =>
    webhookRows.all(db, { owner, id: ids, enabled: true }),

  countEnabled: (db: Reader, owner: OwnerScope): Promise<number> => webhookRows.count(db, { owner, enabled: true }),

  /** Webhooks without an address that no one has listened to since `before`. */
  async forsaken(db: Reader, before: number, limit: number): Promise<WebhookRow[]> {
    const t = db.of(webhooks)
    return (await db.select().from(t).where(lt(t.listens_until, before)).limit(limit)) as WebhookRow[]
  },

  remove: (tx: Tx, { id, owner }: Pick<WebhookRow, 'id' | 'owner'>) => webhookRows.remove(tx, { id, owner }),

  change: (tx: Tx, { id, owner }: Pick<WebhookRow, 'id' | 'owner'>, change: Partial<WebhookRow>) =>
    webhookRows.update(tx, { id, owner }, change),

  count: async (
    tx: Tx,
    id: WebhookId,
    { failure_count, failing_since, successes, failures, last_delivered_at }: Counts,
  ) => void (await counted(tx, { id, failure_count, failing_since, successes, failures, last_delivered_at })),

  /** The row, locked until the transaction commits. Undefined if it was deleted. */
  async lock(tx: Tx, id: WebhookId): Promise<WebhookRow | undefined> {
    // SQLite runs its transactions one after another, so it needs no lock.
    if (tx.dialect === 'sqlite') return webhookRepository.byId(tx, id)
    return webhookRows.lock(tx, { id })
  },
}

type DeliveryFilters = Partial<Range> & {
  status?: DeliveryRow['status'] | undefined
  event_type?: string | undefined
  event_id?: string | undefined
}
const between = (t: typeof webhookDeliveries.sqlite, { from, to }: Partial<Range>) => [
  from == null ? undefined : gte(t.created_at, from),
  to == null ? undefined : lt(t.created_at, to),
]

/** The log of attempts. Rows are added and never changed. */
export const deliveryRepository = {
  async insert(tx: Tx, rows: readonly DeliveryRow[]): Promise<void> {
    // On SQLite, several prepared statements cost less than one built for all rows, because there are no round trips.
    if (tx.dialect === 'sqlite') for (const row of rows) await logged(tx, row)
    else if (rows.length) await tx.insert(tx.of(webhookDeliveries)).values([...rows])
  },

  /** Newest first. */
  list(
    db: Reader,
    webhookId: WebhookId,
    { status, event_type, event_id, from, to, ...wanted }: PageRequest & DeliveryFilters,
  ): Promise<Page<DeliveryRow>> {
    const t = db.of(webhookDeliveries)
    const filters = [
      status && eq(t.status, status),
      event_type === undefined ? undefined : eq(t.event_type, event_type),
      event_id === undefined ? undefined : eq(t.event_id, event_id as EventId),
      ...between(t, { from, to }),
    ]
    return newestFirst(db, wanted, eq(t.webhook_id, webhookId), ...filters)
  },

  /** The last attempts of abandoned events, oldest first. */
  async givenUp(db: Reader, webhookId: WebhookId, range: Range, limit: number) {
    const t = db.of(webhookDeliveries)
    const later = aliasedTable(t, 'later')
    const another = and(eq(later.webhook_id, webhookId), eq(later.event_id, t.event_id), gt(later.attempt, t.attempt))
    const isLast = notExists(db.select({ one: sql`1` }).from(later).where(another))
    return db
      .select({ event_id: t.event_id, event_type: t.event_type, attempt: t.attempt })
      .from(t)
      .where(
        and(eq(t.webhook_id, webhookId), eq(t.status, 'failed'), isNull(t.next_retry_at), ...between(t, range), isLast),
      )
      .orderBy(asc(t.created_at), asc(t.id))
      .limit(limit)
  },

  find: (db: Reader, webhookId: WebhookId, id: DeliveryId): Promise<DeliveryRow | undefined> =>
    webhookDeliveryRows.first(db, { webhook_id: webhookId, id }),

  /** Deletes up to `limit` log rows of a webhook, from a given time on. Returns their times. */
  clear: (tx: Tx, id: WebhookId, limit: number, from: number): Promise<number[]> => {
    const where = (t: typeof webhookDeliveries.sqlite) => eq(t.webhook_id, id)
    const log = { table: webhookDeliveries, key: 'id', at: 'created_at', where } as const
    return removeOldest(tx, log, { from, before: Number.MAX_SAFE_INTEGER, limit })
  },
}

/** The newest delivery attempts of all owners, newest first, each with its webhook. For operators. */
export async function newestDeliveries(reader: Reader, limit: number) {
  const [attempt, hook] = [reader.of(webhookDeliveries), reader.of(webhooks)]
  const found = await reader
    .select({ attempt, hook })
    .from(attempt)
    .innerJoin(hook, eq(hook.id, attempt.webhook_id))
    .orderBy(desc(attempt.created_at), desc(attempt.id))
    .limit(limit)
  return found.map(({ attempt, hook }) => ({
    ...presentDelivery(attempt),
    bytes: attempt.bytes,
    signature: attempt.signature,
    secret_version: attempt.secret_version,
    webhook: {
      url: hook.url,
      description: hook.description,
      owner: hook.owner,
      enabled: hook.enabled,
      disabled_reason: hook.disabled_reason,
      failure_count: hook.failure_count,
      failing_since: isoOrNull(hook.failing_since),
    },
  }))
}

/** Results of all owners' deliveries since a given time, and the webhooks disabled since then. */
export async function deliverySums(reader: Reader, since: number) {
  const [attempt, line, hook] = [reader.of(webhookDeliveries), reader.of(webhookOutbox), reader.of(webhooks)]
  const number = sql<number>`count(*)`.mapWith(Number)
  const sums = await reader
    .select({
      status: attempt.status,
      total: number,
      slowest: sql<number>`max(${attempt.duration_ms})`.mapWith(Number),
    })
    .from(attempt)
    .where(gte(attempt.created_at, since))
    .groupBy(attempt.status)
  const [retrying] = await reader.select({ total: number }).from(line).where(gt(line.attempt, 1))
  const off = await reader
    .select({ id: hook.id, url: hook.url, failures: hook.failure_count, at: hook.updated_at })
    .from(hook)
    .where(and(eq(hook.enabled, false), isNotNull(hook.disabled_reason)))
    .orderBy(hook.updated_at)
    .limit(100)
  // Includes cleared logs, because it counts all deliveries ever.
  const [every] = await reader
    .select({ total: sql<number>`coalesce(sum(${hook.successes} + ${hook.failures}), 0)`.mapWith(Number) })
    .from(hook)
  const of = (status: string) => sums.find((one) => one.status === status)?.total ?? 0
  return {
    ok: of('success'),
    failed: of('failed'),
    retrying: retrying!.total,
    total: every!.total,
    slowest_ms: Math.max(0, ...sums.map(({ slowest }) => slowest)),
    off: off.map(({ at, ...one }) => ({ ...one, at: isoOrNull(at) })),
  }
}
