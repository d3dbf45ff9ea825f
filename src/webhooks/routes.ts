import type { Guard } from '../http/guard'
import { resourceVerbs } from '../http/resource-verbs'
import { tenantRoutes, verb } from '../http/verbs'
import * as words from './schema'
import type { WebhookService } from './service'

/** `/webhooks` (docs/api.md 14.1), for tenants and operators. */
export const webhookVerbs = ({ webhooks, ...service }: WebhookService) =>
  [
    ...resourceVerbs(webhooks),
    verb.post(
      '/webhooks/:id/test',
      {
        body: words.TestInput,
        reply: words.TestSent,
        idempotent: true,
        errors: [404, 409],
        summary: 'Send a test event, whatever the webhook is subscribed to',
      },
      (call, { id, body }) => service.test(call, id, body),
    ),
    verb.put(
      '/webhooks/:id/listener',
      {
        body: words.Taking,
        reply: words.Taken,
        errors: [404, 409],
        summary: 'Receive the pending deliveries of a webhook with the url `listen:`, signed as usual',
      },
      (call, { id, body }) => service.take(call, id, body),
    ),
    verb.get(
      '/webhooks/:id/deliveries',
      {
        holds: 'facts',
        query: words.DeliveryQuery,
        reply: words.Deliveries,
        errors: [404],
        summary: 'List delivery attempts, newest first',
      },
      (call, { id, query }) => service.listDeliveries(call, id, query),
    ),
    verb.get(
      '/webhooks/:id/deliveries/:deliveryId',
      {
        holds: 'content',
        reply: words.DeliveryRead,
        errors: [404],
        summary: 'Read one delivery attempt with the body that was sent',
        description: 'Recorded, as `webhook.delivery_read`.',
      },
      (call, { id, ids }) => service.readDelivery(call, id, ids.deliveryId ?? ''),
    ),
    verb.post(
      '/webhooks/:id/deliveries/:deliveryId/retry',
      {
        reply: words.Retried,
        idempotent: true,
        errors: [404, 409],
        summary: 'Send an event again: the same bytes, to the current address',
      },
      (call, { id, ids }) => service.retry(call, id, ids.deliveryId ?? ''),
    ),
    verb.post(
      '/webhooks/:id/retry-failed',
      {
        body: words.RetryFailed,
        reply: words.Queued,
        accepts: true,
        errors: [404, 409],
        summary: 'Send again all events of a time that were given up, at most 10,000',
      },
      (call, { id, body }) => service.retryFailed(call, id, body),
    ),
    verb.post(
      '/webhooks/:id/rotate-secret',
      {
        body: words.Rotation,
        reply: words.Rotated,
        idempotent: true,
        errors: [404],
        summary: 'Create a new signing secret; the old one stops working at once',
      },
      (call, { id, body }) => service.rotate(call, id, body),
    ),
    verb.get(
      '/webhooks/:id/stats',
      {
        holds: 'facts',
        reply: words.WebhookStats,
        errors: [404],
        summary: 'Read the delivery statistics of a webhook',
      },
      (call, { id }) => service.stats(call, id),
    ),
  ] as const

export const webhookRoutes = (service: WebhookService, guard: Guard) =>
  tenantRoutes(webhookVerbs(service), guard, { scope: 'completions', tag: 'Webhooks' })
