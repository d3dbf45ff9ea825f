import { EventId } from '../events/schema'
import { form } from '../kernel/form'
import { defineId, type Id, OrgId } from '../kernel/ids'
import { PageQuery } from '../kernel/page'
import { RangeQuery } from '../kernel/range'
import { namedObject, nullable, oneOf, pageOf, type Static, Timestamp, t } from '../kernel/schema'

export const WebhookId = defineId('webhook')
export type WebhookId = Id<'webhook'>
export const DeliveryId = defineId('delivery')
export type DeliveryId = Id<'delivery'>

/** `*`, `prefix.*`, or a dotted name (docs/api.md 14.1). */
const SUBSCRIBED = form(
  '^(\\*|[a-z0-9_]+(\\.[a-z0-9_]+)*\\.\\*|[a-z0-9_]+(\\.[a-z0-9_]+)+)$',
  'an event type such as job.completed, a family such as job.*, or *',
)
const EventTypes = t.Array(t.String({ pattern: SUBSCRIBED, maxLength: 128 }), {
  minItems: 1,
  maxItems: 100,
  uniqueItems: true,
  description: 'Names such as `job.completed`, families such as `job.*`, or `*` for everything',
})
const Description = t.Optional(nullable(t.String({ maxLength: 256 })))
const Ordered = t.Optional(t.Boolean({ description: 'One delivery at a time, in order' }))
const Url = t.String({
  minLength: 1,
  maxLength: 2_048,
  pattern: form('[:/]', 'an address such as https://example.com/hook'),
  description:
    'Public https address that receives the events; `listen:` if you receive them with the listener route instead',
})

export const NewWebhook = namedObject('NewWebhook', {
  url: Url,
  event_types: EventTypes,
  secret: t.Optional(
    t.String({
      minLength: 16,
      maxLength: 256,
      pattern: form('^[^\\x00-\\x1f\\x7f-\\x9f]*$', 'one line without control characters'),
      description: 'Signs deliveries: `whsec_` and base64 as in Standard Webhooks, or any text; random if left out',
    }),
  ),
  description: Description,
  ordered: Ordered,
})
export const WebhookPatch = namedObject('WebhookPatch', {
  url: t.Optional(Url),
  event_types: t.Optional(EventTypes),
  enabled: t.Optional(t.Boolean({ description: 'Enabling resets the count of failures' })),
  description: Description,
  ordered: Ordered,
})

const members = {
  id: WebhookId.schema,
  object: t.Literal('webhook'),
  url: t.String(),
  event_types: t.Array(t.String()),
  enabled: t.Boolean(),
  ordered: t.Boolean(),
  description: nullable(t.String()),
  org_id: nullable(OrgId.schema),
  last_delivered_at: nullable(Timestamp),
  failure_count: t.Integer({ description: 'Failed attempts since the last successful one' }),
  disabled_reason: nullable(t.String({ description: '`auto` after days of failures, `gone` after a 410' })),
  created_at: Timestamp,
  updated_at: Timestamp,
}
export const Webhook = t.Object(members, { $id: 'Webhook' })
export type Webhook = Static<typeof Webhook>

const secretMembers = {
  signing_secret: t.String({ description: 'Shown once' }),
  _note: t.String(),
}
/** Answer of `POST /webhooks`. */
export const WebhookMade = t.Object({ ...members, ...secretMembers })
/** Answer of `PATCH /webhooks/{id}`. */
export const WebhookChanged = t.Object({ ...members, updated: t.Literal(true) })
export const WebhookPage = pageOf('webhooks', Webhook)
export const WebhookQuery = PageQuery

export const Rotation = t.Optional(
  t.Object({
    grace_seconds: t.Optional(
      t.Integer({
        minimum: 0,
        maximum: 86_400,
        description: 'How long `webhook-signature` also has a signature with the old secret; default 0',
      }),
    ),
  }),
)
export type Rotation = Static<typeof Rotation>
export const Rotated = t.Object({ id: WebhookId.schema, ...secretMembers })
export type Rotated = Static<typeof Rotated>
/** Content of a test. Default: `completion.created` (docs/api.md 14.1). */
export const TestInput = t.Optional(
  t.Object({
    event_type: t.Optional(
      t.String({
        pattern: form('^[a-z0-9_]+(\\.[a-z0-9_]+)+$', 'an event type such as job.completed'),
        maxLength: 128,
      }),
    ),
    data: t.Optional(t.Record(t.String(), t.Unknown(), { description: 'Its data; `_test` is added to it' })),
  }),
)
export type TestInput = Static<typeof TestInput>

/** Requests the deliveries of a webhook that has no address. */
export const Taking = t.Optional(
  t.Object({
    done: t.Optional(
      t.Array(
        t.Object({
          event_id: EventId.schema,
          http_status: t.Optional(nullable(t.Integer({ minimum: 100, maximum: 999 }))),
          duration_ms: t.Optional(t.Integer({ minimum: 0, maximum: 3_600_000 })),
        }),
        {
          maxItems: 100,
          description: 'Deliveries received earlier and their results; they are not sent again',
        },
      ),
    ),
    wait_seconds: t.Optional(
      t.Integer({ minimum: 0, maximum: 20, description: 'How long to wait for a delivery; default 0' }),
    ),
  }),
)
export type Taking = Static<typeof Taking>
export const Taken = t.Object({
  deliveries: t.Array(
    t.Object({
      event_id: EventId.schema,
      event_type: t.String(),
      headers: t.Record(t.String(), t.String(), { description: 'The headers, signed now' }),
      body: t.String({ description: 'The signed body' }),
    }),
  ),
})
export type Taken = Static<typeof Taken>

export const TestSent = t.Object({ sent: t.Literal(true), event_id: EventId.schema })
export type TestSent = Static<typeof TestSent>

/** One attempt (docs/api.md 14.1). */
export const Delivery = namedObject('Delivery', {
  id: DeliveryId.schema,
  webhook_id: WebhookId.schema,
  event_id: EventId.schema,
  event_type: t.String(),
  http_status: nullable(t.Integer()),
  error_message: nullable(t.String()),
  status: oneOf(['success', 'failed']),
  attempt: t.Integer(),
  failed_at: nullable(Timestamp),
  next_retry_at: nullable(Timestamp),
  duration_ms: t.Integer(),
  created_at: Timestamp,
})
export type Delivery = Static<typeof Delivery>
export const Deliveries = pageOf('deliveries', Delivery)
export type Deliveries = Static<typeof Deliveries>
export const DeliveryQuery = t.Object({
  cursor: PageQuery.properties.cursor,
  limit: t.Optional(t.Integer({ minimum: 1, maximum: 100, description: 'Attempts a page; default 50' })),
  status: t.Optional(oneOf(['success', 'failed'] as const)),
  event_type: t.Optional(t.String({ minLength: 1, maxLength: 128 })),
  event_id: t.Optional(t.String({ minLength: 1, maxLength: 64 })),
  ...RangeQuery.properties,
})
export type DeliveryQuery = Static<typeof DeliveryQuery>

/** One attempt with the request that was sent. */
export const DeliveryRead = namedObject('DeliveryRead', {
  ...Delivery.properties,
  url: t.String({ description: 'The current address of the webhook' }),
  headers: t.Record(t.String(), t.String(), {
    description: 'The headers that were sent; signatures are new for each attempt and not stored',
  }),
  body: nullable(t.String({ description: 'The body of every attempt; null once the event is no longer stored' })),
  ended: nullable(t.String({ description: 'Why no attempt follows; null if one does or did' })),
})
export type DeliveryRead = Static<typeof DeliveryRead>

/** Body of `POST /webhooks/{id}/retry-failed`. */
export const RetryFailed = namedObject(
  'RetryFailed',
  { from: t.String({ maxLength: 40, examples: ['2026-01-01'] }), to: t.Optional(t.String({ maxLength: 40 })) },
  { description: 'Dates or times as ISO 8601; `to` is now by default' },
)
export type RetryFailed = Static<typeof RetryFailed>
export const Queued = t.Object({
  queued: t.Integer({ description: 'Events that are sent again, ten a second; at most 10,000' }),
})

export const Retried = t.Object({ retried: t.Literal(true), delivery_id: DeliveryId.schema })
export type Retried = Static<typeof Retried>

export const WebhookStats = t.Object({
  webhook_id: WebhookId.schema,
  enabled: t.Boolean(),
  consecutive_failures: t.Integer(),
  last_delivered_at: nullable(Timestamp),
  deliveries: t.Object({
    total: t.Integer(),
    successes: t.Integer(),
    failures: t.Integer(),
    success_rate_percent: nullable(t.Number()),
    pending: t.Integer({ description: 'Waiting for their first or next attempt' }),
  }),
})
export type WebhookStats = Static<typeof WebhookStats>
