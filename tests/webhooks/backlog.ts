import type { BusEventRow } from '../../src/events'
import { EventId } from '../../src/events/schema'
import { busEvents } from '../../src/events/table'
import type { Jobs } from '../../src/jobs'
import type { OwnerScope } from '../../src/kernel/caller'
import type { Store } from '../../src/kernel/store'
import type { WebhookId } from '../../src/webhooks/schema'
import { webhookOutbox } from '../../src/webhooks/table'

export type Hook = { id: WebhookId; owner: OwnerScope }

type Order = { store: Store; jobs: Pick<Jobs, 'ensure'>; hooks: readonly Hook[]; each: number; now: number }

const AT_ONCE = 1_000
const TEXT = 'x'.repeat(200)

/** Has this many deliveries wait for each webhook, all due now, as if as many events had been published for it. */
export async function seedBacklog({ store, jobs, hooks, each, now }: Order): Promise<void> {
  for (const { id, owner } of hooks) {
    for (let from = 0; from < each; from += AT_ONCE) {
      const ids = Array.from({ length: Math.min(AT_ONCE, each - from) }, () => EventId.create())
      await store.write(async (tx) => {
        await tx.insert(tx.of(busEvents)).values(ids.map((event) => eventOf(event, owner, now)))
        const due = { webhook_id: id, event_type: 'order.created', attempt: 1, due_at: now }
        await tx.insert(tx.of(webhookOutbox)).values(ids.map((event_id) => ({ ...due, event_id })))
      })
    }
    await store.write((tx) =>
      jobs.ensure(tx, { name: 'webhooks.steady' }, { owner, payload: { id, owner }, uniqueKey: id, runAt: now }),
    )
  }
}

const eventOf = (id: EventId, owner: OwnerScope, now: number): BusEventRow => {
  const data = { order: 4711, note: TEXT }
  const envelope = JSON.stringify({ id, type: 'order.created', created: new Date(now).toISOString(), data })
  return { id, owner, type: 'order.created', envelope, source: null, depth: 0, created_at: now }
}
