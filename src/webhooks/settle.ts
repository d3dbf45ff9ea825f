import type { AuditLog } from '../audit'
import { type EventBus, subscribe } from '../events'
import { isoOrNull } from '../kernel/clock'
import { newRequestId } from '../kernel/ids'
import type { Tx } from '../kernel/store'
import { webhookDisabled } from './events'
import { outboxRepository as outbox } from './outbox'
import { type Counts, deliveryRepository as log, webhookRepository as rows } from './repository'
import { hasFailedTooLong, streakAfter, type Verdict } from './rules'
import { DeliveryId, type WebhookId } from './schema'
import type { DeliveryRow, OutboxRow, WebhookRow } from './table'

export type Ended = {
  row: OutboxRow
  httpStatus: number | null
  verdict: Verdict
  /** When the attempt ended, and how long it took. */
  at: number
  durationMs: number
  /** Null where nothing was sent. */
  sent: Pick<DeliveryRow, 'bytes' | 'signature' | 'secret_version'> | null
}

type Deps = { audit: Pick<AuditLog, 'recordUnattended'>; events: Pick<EventBus, 'emit'> }

/**
 * Writes what attempts came to: the log, what waits for another attempt, and the state of the webhook, which ends after
 * a 410 or days of failures. Returns the webhook as it is now; null when it was deleted meanwhile.
 */
export function createSettle({ audit, events }: Deps) {
  return async function settle(tx: Tx, id: WebhookId, ended: readonly Ended[]): Promise<WebhookRow | null> {
    const hook = await rows.lock(tx, id)
    if (!hook) return null
    await log.insert(
      tx,
      ended.map((one) => logRowOf(hook, one)),
    )
    const done = ended.filter(({ verdict }) => verdict.next === null)
    await outbox.remove(
      tx,
      done.map(({ row }) => row.seq),
    )
    for (const { row, verdict } of ended) {
      if (verdict.next !== null) await outbox.putOff(tx, row.seq, row.attempt + 1, verdict.next)
    }
    const after = { ...hook, ...countsAfter(hook, ended) }
    const reason = hook.enabled ? reasonToEnd(after, ended) : null
    const now: WebhookRow = reason ? { ...after, enabled: false, disabled_reason: reason } : after
    await rows.count(tx, id, now)
    if (reason) {
      await rows.change(tx, hook, { enabled: false, disabled_reason: reason })
      await tellDisabled(tx, now, reason)
    }
    return now
  }

  /** On the record, and to the owner by the other webhooks. */
  async function tellDisabled(tx: Tx, hook: WebhookRow, reason: 'auto' | 'gone'): Promise<void> {
    const { id, owner, url, failure_count, last_delivered_at } = hook
    await subscribe(tx, { owner, subscriber: 'webhook', target: id }, [])
    const about = { scope: owner, requestId: newRequestId() }
    const input = { metadata: { reason, failure_count } }
    await audit.recordUnattended(tx, about, {
      action: 'webhook.auto_disabled',
      entityType: 'webhook',
      entityId: id,
      input,
    })
    const data = { webhook_id: id, url, reason, failure_count, last_delivered_at: isoOrNull(last_delivered_at) }
    await events.emit(tx, webhookDisabled, owner, data)
  }
}

function countsAfter(hook: WebhookRow, ended: readonly Ended[]): Counts {
  const results = ended.map(({ verdict, at }) => ({ ok: verdict.ok, at }))
  const delivered = results.filter(({ ok }) => ok)
  return {
    ...streakAfter(hook, results),
    successes: hook.successes + delivered.length,
    failures: hook.failures + results.length - delivered.length,
    last_delivered_at: delivered.at(-1)?.at ?? hook.last_delivered_at,
  }
}

function reasonToEnd(hook: WebhookRow, ended: readonly Ended[]): 'gone' | 'auto' | null {
  if (ended.some(({ verdict }) => verdict.gone)) return 'gone'
  return hasFailedTooLong(hook, ended.at(-1)!.at) ? 'auto' : null
}

const logRowOf = (hook: WebhookRow, { row, httpStatus, verdict, at, durationMs, sent }: Ended) => ({
  ...(sent ?? { bytes: null, signature: null, secret_version: null }),
  id: DeliveryId.create(),
  webhook_id: hook.id,
  owner: hook.owner,
  event_id: row.event_id,
  event_type: row.event_type,
  http_status: httpStatus,
  error_message: verdict.message,
  status: verdict.ok ? ('success' as const) : ('failed' as const),
  attempt: row.attempt,
  next_retry_at: verdict.next,
  duration_ms: durationMs,
  created_at: at,
})
