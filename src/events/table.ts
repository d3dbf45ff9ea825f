import { sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import { defineTable, type Row } from '../kernel/store'
import type { Subscriber } from './repository'
import type { EventId } from './schema'

/** Published events, and server events that have a subscriber. */
export const busEvents = defineTable(
  'bus_events',
  (k) => ({
    id: k.text('id').$type<EventId>().primaryKey(),
    owner: k.text('owner').$type<OwnerScope>().notNull(),
    type: k.text('type').notNull(),
    /** `{id,type,created,data}` as the exact text that every receiver gets (docs/promises.md I17). */
    envelope: k.text('envelope').notNull(),
    source: k.text('source'),
    depth: k.int('depth').notNull(),
    created_at: k.ms('created_at').notNull(),
  }),
  (t, k) => [
    k.index('bus_events_by_owner').on(t.owner, t.created_at, t.id),
    k.index('bus_events_by_type').on(t.owner, t.type, t.created_at, t.id),
    k.index('bus_events_by_age').on(t.created_at, t.id),
    k.index('bus_events_started').on(t.owner, t.created_at).where(sql`${t.depth} > 0`),
  ],
)

/** Event subscriptions. The subscriber's module maintains its rows in the transactions that change it. */
export const eventSubscriptions = defineTable(
  'event_subscriptions',
  (k) => ({
    owner: k.text('owner').$type<OwnerScope>().notNull(),
    /** The words of the pattern before its first `*`, used for the lookup. */
    stem: k.text('stem').notNull(),
    subscriber: k.text('subscriber').$type<Subscriber>().notNull(),
    target: k.text('target').notNull(),
    pattern: k.text('pattern').notNull(),
  }),
  (t, k) => [
    k.primaryKey({ columns: [t.owner, t.stem, t.subscriber, t.target, t.pattern] }),
    k.index('event_subscriptions_by_target').on(t.subscriber, t.target),
  ],
)

export type BusEventRow = Row<typeof busEvents>
