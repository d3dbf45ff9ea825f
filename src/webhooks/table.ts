import type { EventId } from '../events/schema'
import type { OwnerScope } from '../kernel/caller'
import { defineTable, type Row } from '../kernel/store'
import { ownedColumns, ownedIndexes } from '../resource'
import type { DeliveryId, WebhookId } from './schema'

/** Receivers that keep failing have their own lane (docs/promises.md I18). */
export type Lane = 'steady' | 'slow'

export const webhooks = defineTable(
  'webhooks',
  (k) => ({
    ...ownedColumns<WebhookId>(k),
    url: k.text('url').notNull(),
    event_types: k.json<string[]>('event_types').notNull(),
    description: k.text('description'),
    /** Encrypted, like the previous secret, which also signs until `previous_until`. */
    secret: k.text('secret').notNull(),
    previous_secret: k.text('previous_secret'),
    previous_until: k.ms('previous_until'),
    /** Starts at 1. Each rotation adds one. */
    secret_version: k.int('secret_version').notNull(),
    enabled: k.bool('enabled').notNull(),
    ordered: k.bool('ordered').notNull(),
    /** Lane of its job. Only that job changes it, while no delivery runs, so that both lanes never send at once. */
    lane: k.text('lane').$type<Lane>().notNull(),
    disabled_reason: k.text('disabled_reason').$type<'auto' | 'gone'>(),
    last_delivered_at: k.ms('last_delivered_at'),
    failure_count: k.int('failure_count').notNull(),
    /** Time of the first failure of the current streak. */
    failing_since: k.ms('failing_since'),
    successes: k.int('successes').notNull(),
    failures: k.int('failures').notNull(),
    /** When a webhook without an address ends unless a listener extends it. Null for others. */
    listens_until: k.ms('listens_until'),
    /** Number of tests since `tests_since`. Limits a user's calls to an address (docs/attacks.md J35). */
    tests: k.int('tests').notNull(),
    tests_since: k.ms('tests_since').notNull(),
  }),
  (t, k) => ownedIndexes(k, 'webhooks', t),
)

/** Deliveries that wait for their first or next attempt. Each webhook has one job for its rows. */
export const webhookOutbox = defineTable(
  'webhook_outbox',
  (k) => ({
    /** In the order of the events. */
    seq: k.serial('seq'),
    webhook_id: k.text('webhook_id').$type<WebhookId>().notNull(),
    event_id: k.text('event_id').$type<EventId>().notNull(),
    event_type: k.text('event_type').notNull(),
    /** Number of the next attempt, from 1. */
    attempt: k.int('attempt').notNull(),
    due_at: k.ms('due_at').notNull(),
  }),
  (t, k) => [
    k.index('webhook_outbox_due').on(t.webhook_id, t.due_at, t.seq),
    k.index('webhook_outbox_order').on(t.webhook_id, t.seq),
    k.uniqueIndex('webhook_outbox_once').on(t.webhook_id, t.event_id),
  ],
)

/** The log: one row for each attempt, written when it ends. */
export const webhookDeliveries = defineTable(
  'webhook_deliveries',
  (k) => ({
    id: k.text('id').$type<DeliveryId>().primaryKey(),
    webhook_id: k.text('webhook_id').$type<WebhookId>().notNull(),
    owner: k.text('owner').$type<OwnerScope>().notNull(),
    event_id: k.text('event_id').$type<EventId>().notNull(),
    event_type: k.text('event_type').notNull(),
    http_status: k.int('http_status'),
    error_message: k.text('error_message'),
    status: k.text('status').$type<'success' | 'failed'>().notNull(),
    attempt: k.int('attempt').notNull(),
    next_retry_at: k.ms('next_retry_at'),
    duration_ms: k.int('duration_ms').notNull(),
    /** Size of the body. Null if nothing was sent, like the next two columns. */
    bytes: k.int('bytes'),
    /** Both ends of the signature. Operators compare them with those a receiver saw. */
    signature: k.text('signature'),
    secret_version: k.int('secret_version'),
    created_at: k.ms('created_at').notNull(),
  }),
  (t, k) => [
    k.index('webhook_deliveries_of').on(t.webhook_id, t.created_at, t.id),
    k.index('webhook_deliveries_by_status').on(t.webhook_id, t.status, t.created_at, t.id),
    k.index('webhook_deliveries_by_type').on(t.webhook_id, t.event_type, t.created_at, t.id),
    k.index('webhook_deliveries_by_event').on(t.webhook_id, t.event_id, t.attempt),
    k.index('webhook_deliveries_by_age').on(t.created_at, t.id),
  ],
)

export type WebhookRow = Row<typeof webhooks>
export type OutboxRow = Row<typeof webhookOutbox>
export type DeliveryRow = Row<typeof webhookDeliveries>
