import type { AuditLog } from '../audit'
import type { OwnerScope } from '../kernel/caller'
import { iso } from '../kernel/clock'
import { newRequestId } from '../kernel/ids'
import type { Tx } from '../kernel/store'
import { deliverable, STARTED } from './bounds'
import { eventRepository as rows } from './repository'
import type { DomainEvent } from './schema'
import { type Subscriber, subscribersOf } from './subscriptions'
import type { BusEventRow } from './table'

/**
 * What a kind of subscriber does with an event, in its transaction: it stores what is to be done, and returns. The owner
 * is the one of the targets.
 */
type Receive = (tx: Tx, event: BusEventRow, targets: readonly string[]) => Promise<unknown>

export type FanOut = ReturnType<typeof createFanOut>

type Reach = 'all' | 'nobody' | 'recorded'

/** Whose subscribers an event reaches. */
type Part = { owner: OwnerScope; reached: ReadonlyMap<Subscriber, string[]> }

/** An event this deep is stored and reaches nobody, so that what events start cannot go round for ever (I37, R4). */
const MOST_DEPTH = 8

/**
 * Takes an event to whoever is subscribed, in the transaction of its cause: either all of it is there or nothing
 * (I17). Events of the server are stored only where something is subscribed.
 */
export function createFanOut({ audit }: { audit: Pick<AuditLog, 'recordUnattended'> }) {
  const receivers = new Map<Subscriber, Receive>()
  return {
    /** Declares who takes the events of a kind of subscriber. */
    receive: (subscriber: Subscriber, receive: Receive): void => void receivers.set(subscriber, receive),
    ofServer,
    publish,
  }

  /** For the bus: an event that a room emits. */
  async function ofServer(tx: Tx, event: DomainEvent): Promise<void> {
    const found = subscribersOf(tx, event.scope, event.type)
    const reached = found instanceof Promise ? await found : found
    if (!reached.size) return
    await store(tx, event, [{ owner: event.scope, reached }], { source: null, reach: await reachOf(tx, event) })
  }

  /**
   * An event that a caller publishes. `self` is the publisher, where the event is an organization's: their own hooks,
   * workflows and skills hear it too, and nobody else's. Returns how many of each kind it reaches.
   */
  async function publish(
    tx: Tx,
    event: DomainEvent<{ value: unknown }>,
    source: string | null,
    self: OwnerScope | null = null,
  ): Promise<Record<Subscriber, number>> {
    const parts: Part[] = [{ owner: event.scope, reached: await subscribersOf(tx, event.scope, event.type) }]
    if (self !== null) {
      const own = new Map(await subscribersOf(tx, self, event.type))
      own.delete('webhook')
      parts.push({ owner: self, reached: own })
    }
    const reach = await reachOf(tx, event)
    await store(tx, { ...event, data: event.data.value }, parts, { source, reach })
    const countOf = (subscriber: Subscriber) =>
      reach !== 'all' ? 0 : parts.reduce((sum, { reached }) => sum + (reached.get(subscriber)?.length ?? 0), 0)
    return {
      webhook: countOf('webhook'),
      hook: countOf('hook'),
      workflow: countOf('workflow'),
      skill: countOf('skill'),
    }
  }

  /** Of a loop and of a cascade nothing more starts: neither goes round for ever, nor doubles for ever (R4, R5). */
  async function reachOf(
    tx: Tx,
    { scope, depth, created }: Pick<DomainEvent, 'scope' | 'depth' | 'created'>,
  ): Promise<Reach> {
    if (depth > MOST_DEPTH) return 'recorded'
    if (depth === 0) return 'all'
    const started = await rows.countStarted(tx, scope, created - STARTED.everyMs, STARTED.most + 1)
    if (started < STARTED.most) return 'all'
    // The first of many: a row of the record for each of them would be a flood of its own.
    return started === STARTED.most ? 'recorded' : 'nobody'
  }

  async function store(
    tx: Tx,
    { id, type, scope: owner, created, data, depth }: Omit<DomainEvent, 'data'> & { data: unknown },
    parts: readonly Part[],
    { source, reach }: { source: string | null; reach: Reach },
  ): Promise<void> {
    const envelope = JSON.stringify({ id, type, created: iso(created), data: deliverable(data) })
    const row: BusEventRow = { id, owner, type, envelope, source, depth, created_at: created }
    await rows.insert(tx, row)
    if (reach === 'nobody') return
    if (reach === 'recorded') {
      const about = { scope: owner, requestId: newRequestId() }
      const input = { metadata: { event_type: type, depth } }
      await audit.recordUnattended(tx, about, {
        action: 'event.loop_stopped',
        entityType: 'event',
        entityId: id,
        input,
      })
      return
    }
    for (const { owner: whose, reached } of parts) {
      for (const [subscriber, targets] of reached)
        await receivers.get(subscriber)?.(tx, { ...row, owner: whose }, targets)
    }
  }
}
