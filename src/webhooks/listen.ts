import { eventRepository } from '../events'
import type { EventId } from '../events/schema'
import type { Call, Caller } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import type { Store, Tx } from '../kernel/store'
import { signatureHeaders } from '../kernel/webhook-signature'
import { notListening } from './errors'
import { outboxRepository as outbox } from './outbox'
import { webhookRepository as rows } from './repository'
import { LISTEN_MS } from './rules'
import type { Taken, Taking, WebhookId } from './schema'
import type { Secrets } from './secrets'
import type { createSettle, Ended } from './settle'
import type { OutboxRow, WebhookRow } from './table'

type Deps = {
  store: Store
  clock: Clock
  secrets: Secrets
  settle: ReturnType<typeof createSettle>
  /** Throws 404, 403. */
  findToChange(tx: Tx, caller: Caller, id: string): Promise<WebhookRow>
}

/** How many deliveries one answer holds: each has 256 KB at most, and mostly 64. */
const MOST = 16
const LOOK_EVERY_MS = 200

/**
 * A webhook without an address: whoever listens takes its deliveries over a connection of their own. It
 * ends some time after the last one asked.
 */
export function createListening({ store, clock, secrets, settle, findToChange }: Deps) {
  return { take }

  /** Stores what became of those before, and waits for more. Throws 404, 409 when the webhook has an address. */
  async function take(call: Call<Caller>, id: string, { done = [], wait_seconds = 0 }: NonNullable<Taking> = {}) {
    const hook = await store.write(async (tx) => {
      const row = await findToChange(tx, call.caller, id)
      if (row.listens_until === null) throw notListening()
      await rows.change(tx, row, { listens_until: clock.now() + LISTEN_MS })
      const ended = await endedOf(tx, row.id, done)
      if (ended.length) await settle(tx, row.id, ended)
      return row
    })
    const until = clock.monotonic() + wait_seconds * 1_000
    for (;;) {
      const due = await outbox.due(store.read, hook.id, clock.now(), MOST)
      const left = until - clock.monotonic()
      if (due.length || left <= 0 || call.signal.aborted) return { deliveries: await signed(hook, due) }
      await clock.sleep(Math.min(LOOK_EVERY_MS, left), call.signal)
    }
  }

  /** What is not waiting any more was told before. */
  async function endedOf(tx: Tx, id: WebhookId, done: NonNullable<NonNullable<Taking>['done']>): Promise<Ended[]> {
    const told = new Map(done.map((one) => [one.event_id as EventId, one]))
    const now = clock.now()
    return (await outbox.some(tx, id, [...told.keys()])).map((row) => {
      const { http_status: httpStatus = null, duration_ms: durationMs = 0 } = told.get(row.event_id)!
      const ok = httpStatus === null || (httpStatus >= 200 && httpStatus < 300)
      const message = ok ? null : `http_${Math.floor(httpStatus / 100)}xx`
      return { row, httpStatus, verdict: { ok, message, next: null, gone: false }, at: now, durationMs, sent: null }
    })
  }

  async function signed(hook: WebhookRow, due: readonly OutboxRow[]): Promise<Taken['deliveries']> {
    const bodies = await eventRepository.envelopes(
      store.read,
      due.map(({ event_id }) => event_id),
    )
    const now = clock.now()
    const secret = secrets.of(hook, now)
    return due.flatMap(({ event_id, event_type }) => {
      const body = bodies.get(event_id)
      if (body === undefined) return []
      const headers = signatureHeaders({ id: event_id, body, timestampS: Math.floor(now / 1_000), ...secret })
      return [{ event_id, event_type, headers, body }]
    })
  }
}
