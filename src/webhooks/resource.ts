import { iso, isoOrNull } from '../kernel/clock'
import { defineResource } from '../resource'
import { webhookSettings } from './config'
import * as words from './schema'
import { type WebhookRow, webhooks } from './table'

/** Addresses that receive events (contract 14.1). */
export const webhook = defineResource({
  name: 'webhook',
  title: { one: 'webhook', many: 'webhooks' },
  path: '/webhooks',
  plural: 'webhooks',
  table: webhooks,
  id: words.WebhookId,
  words: {
    New: words.NewWebhook,
    Patch: words.WebhookPatch,
    View: words.Webhook,
    Query: words.WebhookQuery,
    Page: words.WebhookPage,
    Made: words.WebhookMade,
    Changed: words.WebhookChanged,
  },
  summaries: {
    create: 'Create a webhook; its signing secret is in this answer only',
    list: 'List webhooks, newest first',
    get: 'Read one webhook',
    update: 'Change, disable or enable a webhook',
    remove: 'Delete a webhook, what it waits to deliver and its log',
  },
  owned: 'team',
  permission: 'manageWebhooks',
  guarded: true,
  most: webhookSettings.maxWebhooks,
  empty: {
    name: '',
    description: null,
    secret: '',
    previous_secret: null,
    previous_until: null,
    enabled: true,
    ordered: false,
    lane: 'steady',
    disabled_reason: null,
    last_delivered_at: null,
    failure_count: 0,
    failing_since: null,
    successes: 0,
    failures: 0,
    listens_until: null,
    tests: 0,
    tests_since: 0,
  },
  present: (row: WebhookRow): words.Webhook => ({
    id: row.id,
    object: 'webhook',
    url: row.url,
    event_types: row.event_types,
    enabled: row.enabled,
    ordered: row.ordered,
    description: row.description,
    org_id: row.org_id,
    last_delivered_at: isoOrNull(row.last_delivered_at),
    failure_count: row.failure_count,
    disabled_reason: row.disabled_reason,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  }),
})
