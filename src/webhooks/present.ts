import { iso, isoOrNull } from '../kernel/clock'
import type { Delivery, DeliveryRead, WebhookStats } from './schema'
import type { DeliveryRow, WebhookRow } from './table'

export const presentDelivery = (row: DeliveryRow): Delivery => ({
  id: row.id,
  webhook_id: row.webhook_id,
  event_id: row.event_id,
  event_type: row.event_type,
  http_status: row.http_status,
  error_message: row.error_message,
  status: row.status,
  attempt: row.attempt,
  failed_at: row.status === 'failed' ? iso(row.created_at) : null,
  next_retry_at: isoOrNull(row.next_retry_at),
  duration_ms: row.duration_ms,
  created_at: iso(row.created_at),
})

/** An attempt with the request that was sent. */
export const presentRead = (hook: WebhookRow, row: DeliveryRow, body: string | null): DeliveryRead => ({
  ...presentDelivery(row),
  url: hook.url,
  headers: {
    'content-type': 'application/json',
    'user-agent': 'svc-webhooks/1',
    'svc-webhook-id': row.event_id,
    'webhook-id': row.event_id,
  },
  body,
  ended: endOf(row),
})

function endOf({ status, error_message, attempt, next_retry_at }: DeliveryRow): string | null {
  if (status === 'success') return 'It was delivered.'
  if (next_retry_at !== null) return null
  if (error_message === 'http_4xx') return 'The receiver refused it, so it is not sent again automatically.'
  return `Attempt ${attempt} was the last automatic one (${error_message}).`
}

export function presentStats(row: WebhookRow, pending: number): WebhookStats {
  const { successes, failures } = row
  const total = successes + failures
  return {
    webhook_id: row.id,
    enabled: row.enabled,
    consecutive_failures: row.failure_count,
    last_delivered_at: isoOrNull(row.last_delivered_at),
    deliveries: {
      total,
      successes,
      failures,
      success_rate_percent: total ? Math.round((successes / total) * 10_000) / 100 : null,
      pending,
    },
  }
}
