import { and, eq, gt, gte, inArray, lt, type SQL, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import { pagesBy, type Wanted } from '../kernel/keyset'
import type { Page } from '../kernel/page'
import type { Range } from '../kernel/range'
import { command, query, type Reader, type Tx } from '../kernel/store'
import type { stemsOf } from './patterns'
import type { EventId } from './schema'
import type { Subscriber } from './subscriptions'
import { type BusEventRow, busEvents, eventSubscriptions, type SubscriptionRow } from './table'

const newestFirst = pagesBy(busEvents, 'created_at')

const insertEvent = command<BusEventRow>()((tx, p) =>
  tx.insert(tx.of(busEvents)).values({
    id: p.id,
    owner: p.owner,
    type: p.type,
    envelope: p.envelope,
    source: p.source,
    depth: p.depth,
    created_at: p.created_at,
  }),
)

/** One row for each pattern, with all that have it: rows are what such a question costs. No target has a space. */
const interested = query<{ owner: OwnerScope } & ReturnType<typeof stemsOf>>()((db, p) => {
  const t = db.of(eventSubscriptions)
  const ofOwner = and(eq(t.owner, p.owner), inArray(t.stem, [p.s0, p.s1, p.s2, p.s3, p.s4]))
  const targets = sql<string>`string_agg(${t.target}, ' ')`
  const found = db.select({ subscriber: t.subscriber, pattern: t.pattern, targets }).from(t).where(ofOwner)
  return found.groupBy(t.subscriber, t.pattern)
})

export type Listed = Wanted & { type?: string | undefined; range: Range }

/** One name, or with `.*` at its end a family: `order.*` holds `order.created` and `order.line.added`. */
function ofType(column: { type: unknown }['type'] & object, type: string | undefined): SQL | undefined {
  if (type === undefined) return undefined
  if (!type.endsWith('.*')) return sql`${column} = ${type}`
  const begin = type.slice(0, -1)
  return sql`substr(${column}, 1, ${begin.length}) = ${begin}`
}

/** Stored events; whose they are is an argument of each read, null for all. */
export const eventRepository = {
  insert: async (tx: Tx, row: BusEventRow): Promise<void> => void (await insertEvent(tx, row)),

  /** Newest first. */
  list(db: Reader, owner: OwnerScope | null, { type, range, ...wanted }: Listed): Promise<Page<BusEventRow>> {
    const t = db.of(busEvents)
    const ownerFilter = owner === null ? undefined : eq(t.owner, owner)
    const since = range.from === null ? undefined : gte(t.created_at, range.from)
    const until = range.to === null ? undefined : lt(t.created_at, range.to)
    return newestFirst(db, wanted, ownerFilter, ofType(t.type, type), since, until)
  },

  /** How many events since a moment were started by others, counted up to `most`. */
  async countStarted(tx: Tx, owner: OwnerScope, since: number, max: number): Promise<number> {
    const t = tx.of(busEvents)
    const started = and(eq(t.owner, owner), gte(t.created_at, since), gt(t.depth, 0))
    return (await tx.select({ id: t.id }).from(t).where(started).limit(max)).length
  },

  /** The texts of these events, by id. */
  async envelopes(db: Reader, ids: readonly EventId[]): Promise<Map<EventId, string>> {
    if (!ids.length) return new Map()
    const t = db.of(busEvents)
    const found = db
      .select({ id: t.id, envelope: t.envelope })
      .from(t)
      .where(inArray(t.id, [...ids]))
    return new Map((await found).map(({ id, envelope }) => [id, envelope]))
  },

  /** Deletes events that are older than a moment. Returns how many. */
  async removeOld(tx: Tx, before: number, limit: number): Promise<number> {
    const t = tx.of(busEvents)
    const old = tx.select({ id: t.id }).from(t).where(lt(t.created_at, before)).limit(limit)
    return (await tx.delete(t).where(inArray(t.id, old)).returning({ id: t.id })).length
  },
}

export const subscriptionRepository = {
  interested,

  async insert(tx: Tx, row: SubscriptionRow): Promise<void> {
    await tx.insert(tx.of(eventSubscriptions)).values(row)
  },

  async remove(tx: Tx, subscriber: Subscriber, target: string): Promise<void> {
    const t = tx.of(eventSubscriptions)
    await tx.delete(t).where(and(eq(t.subscriber, subscriber), eq(t.target, target)))
  },
}
