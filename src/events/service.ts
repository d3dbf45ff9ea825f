import type { AuditLog } from '../audit'
import { type JobKind, recurring } from '../jobs'
import type { Call, Caller, OwnerScope } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { newRequestId, OrgId, type UserId } from '../kernel/ids'
import { removeOld } from '../kernel/old-rows'
import { pageFields } from '../kernel/page'
import { readRange } from '../kernel/range'
import type { Reader, Store, Tx } from '../kernel/store'
import { foreignOrg, payloadTooLarge, reservedType, viewersPublishNothing } from './errors'
import { eventRepository as rows, type Subscriber, subscribersOf } from './repository'
import { SAMPLES } from './samples'
import {
  type BusEvent,
  type BusEventQuery,
  type DomainEvent,
  EventId,
  type EventKind,
  type NewEvent,
  type PublishedEvent,
} from './schema'
import { type BusEventRow, busEvents } from './table'

/** The largest body that a receiver gets (docs/api.md 14.3). */
const MAX_BYTES = 256 * 1024

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '')

/** Events that what started from events may publish in a minute, for one owner: they could double at each depth. */
export const STARTED = { max: 1_000, everyMs: 60_000 }

/**
 * What a kind of subscriber does with an event, in its transaction: it stores what is to be done, and returns. The
 * owner is the one of the targets.
 */
type Receive = (tx: Tx, event: BusEventRow, targets: readonly string[]) => Promise<unknown>

export type FanOut = ReturnType<typeof createFanOut>

type Scope = 'all' | 'nobody' | 'recorded'

/** Whose subscribers an event reaches. */
type Part = { owner: OwnerScope; reached: ReadonlyMap<Subscriber, string[]> }

/** An event this deep is stored and reaches nobody, so that what events start cannot go round for ever. */
const MAX_DEPTH = 8

const MAX_KB = 64

const OF_SERVER: ReadonlySet<string> = new Set(Object.keys(SAMPLES))

/** Names that callers may not publish: receivers trust that the server itself says these. */
export const isReserved = (type: string): boolean => OF_SERVER.has(type) || type === 'svc' || type.startsWith('svc.')

type Deps = {
  store: Store
  clock: Clock
  audit: Pick<AuditLog, 'record'>
  fanOut: FanOut
  storeAnswer<T>(tx: Tx, call: Pick<Call, 'once'>, answer: T): Promise<T>
  /** Of the modules after this one. */
  orgs: {
    roleOf(reader: Reader, orgId: OrgId, userId: UserId): Promise<string | null>
    findOwner(reader: Reader, word: string | undefined): Promise<{ scope: OwnerScope }>
  }
  settings: { eventsRetentionDays: number }
}

export type EventService = ReturnType<typeof createEvents>

const TIDY_EVERY_MS = 600_000
const DAY_MS = 86_400_000

/** `/events`: what callers put on the bus, and what was on it (docs/api.md 11.2). */
export function createEvents({ store, clock, audit, fanOut, storeAnswer, orgs, settings }: Deps) {
  return { publish, list, tidying }

  /** Throws 403 for an organization that is not the caller's, 400 for a reserved name, 413 for a large payload. */
  async function publish(call: Call<Caller>, input: NewEvent): Promise<PublishedEvent> {
    const { eventType, payload = null, sourceConnector = null } = input
    if (isReserved(eventType)) throw reservedType(eventType)
    assertPayload(payload)
    const scope = await scopeOf(call.caller, input.orgId, 'publish')
    return store.write(async (tx) => {
      const id = EventId.create()
      const event = {
        id,
        type: eventType,
        scope,
        created: clock.now(),
        data: { value: payload },
        depth: call.depth ?? 0,
      }
      // Whose own hooks and record an event of an organization reaches: its publisher's, unless the key is the
      // organization's.
      const self: OwnerScope | null =
        call.caller.type !== 'operator' && !call.caller.orgId && scope !== `user:${call.caller.userId}`
          ? `user:${call.caller.userId}`
          : null
      const matched = await fanOut.publish(tx, event, sourceConnector, self)
      const metadata = { event_type: eventType, ...(sourceConnector ? { source_connector: sourceConnector } : {}) }
      const entry = { action: 'event.published', entityType: 'event', entityId: id, input: { metadata } } as const
      await audit.record(tx, call, { ...entry, scope })
      // Its publisher also sees it in their own record (docs/api.md 11.2).
      if (self) await audit.record(tx, call, { ...entry, scope: self })
      return storeAnswer(tx, call, {
        id,
        orgId: ownerIdOf(scope),
        eventType,
        payload,
        sourceConnector,
        timestamp: iso(event.created),
        accepted: true as const,
        matchedHooks: matched.hook,
        matchedWebhooks: matched.webhook,
        matchedWorkflows: matched.workflow,
      })
    })
  }

  /** Newest first: those of one organization, by default the active one; operators see all. */
  async function list(
    { caller }: Call<Caller>,
    { orgId, eventType, from, to, ...paging }: BusEventQuery,
    ownerFilter?: string,
  ) {
    const range = readRange({ ...(from ? { from } : {}), ...(to ? { to } : {}) })
    const owner =
      caller.type === 'operator' && orgId === undefined
        ? ownerFilter === undefined
          ? null
          : (await orgs.findOwner(store.read, ownerFilter)).scope
        : await scopeOf(caller, orgId, 'read')
    const page = await rows.list(store.read, owner, { ...paging, type: eventType, range })
    return { events: page.items.map(present), ...pageFields(page) }
  }

  /** A person is an organization of one member (docs/api.md 1.2). An organization's key acts for no other one. */
  async function scopeOf(caller: Caller, id: string | undefined, act: 'publish' | 'read'): Promise<OwnerScope> {
    if (caller.type === 'operator') return (await orgs.findOwner(store.read, id)).scope
    const { activeOrgId, orgId, userId } = caller
    if (id === userId && !orgId) return `user:${userId}`
    const wanted = id ?? activeOrgId
    if (wanted === null) return `user:${userId}`
    const role = OrgId.is(wanted) && (!orgId || orgId === wanted) ? await orgs.roleOf(store.read, wanted, userId) : null
    if (role === null) throw foreignOrg()
    if (role === 'viewer' && act === 'publish') throw viewersPublishNothing()
    return `org:${wanted}`
  }

  /** Deletes what is older than it is kept. */
  function tidying(): JobKind<null> {
    return recurring('events.tidy', TIDY_EVERY_MS, async () => {
      const before = clock.now() - settings.eventsRetentionDays * DAY_MS
      await removeOld(store, { table: busEvents, key: 'id', at: 'created_at' }, before)
    })
  }
}

/** What `orgId` says of an owner: a person's own id stands for the organization they have none of. */
const ownerIdOf = (scope: OwnerScope): string => scope.slice(scope.indexOf(':') + 1)

const present = ({ id, owner, type, envelope, source, created_at }: BusEventRow): BusEvent => ({
  id,
  orgId: ownerIdOf(owner),
  eventType: type,
  payload: (JSON.parse(envelope) as { data: unknown }).data,
  sourceConnector: source,
  timestamp: iso(created_at),
})

/** Throws 413 for more than an event may carry (docs/api.md 11.2). */
export function assertPayload(payload: unknown, member = 'payload'): void {
  if (Buffer.byteLength(JSON.stringify(payload)) > MAX_KB * 1024) throw payloadTooLarge(MAX_KB, member)
}

/**
 * Takes an event to its subscribers, in the transaction of its cause: either all of it is there or nothing
 * (docs/promises.md I17). Events of the server are stored only where something is subscribed.
 */
export function createFanOut({ audit }: { audit: Pick<AuditLog, 'recordUnattended'> }) {
  const receivers = new Map<Subscriber, Receive>()
  return {
    /** Declares who takes the events of a kind of subscriber. */
    receive: (subscriber: Subscriber, receive: Receive): void => void receivers.set(subscriber, receive),
    ofServer,
    publish,
  }

  /** For the bus: an event that a module emits. At once where it is known that nobody hears it. */
  function ofServer(tx: Tx, event: DomainEvent): void | Promise<void> {
    const found = subscribersOf(tx, event.scope, event.type)
    if (!(found instanceof Promise) && !found.size) return
    return (async () => {
      const reached = await found
      if (!reached.size) return
      await store(tx, event, [{ owner: event.scope, reached }], { source: null, reach: await scopeOf(tx, event) })
    })()
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
    const scope = await scopeOf(tx, event)
    await store(tx, { ...event, data: event.data.value }, parts, { source, reach: scope })
    const countOf = (subscriber: Subscriber) =>
      scope !== 'all' ? 0 : parts.reduce((sum, { reached }) => sum + (reached.get(subscriber)?.length ?? 0), 0)
    return {
      webhook: countOf('webhook'),
      hook: countOf('hook'),
      workflow: countOf('workflow'),
      skill: countOf('skill'),
    }
  }

  /** Of a loop and of a cascade nothing more starts: neither goes round for ever, nor doubles for ever. */
  async function scopeOf(
    tx: Tx,
    { scope, depth, created }: Pick<DomainEvent, 'scope' | 'depth' | 'created'>,
  ): Promise<Scope> {
    if (depth > MAX_DEPTH) return 'recorded'
    if (depth === 0) return 'all'
    const started = await rows.countStarted(tx, scope, created - STARTED.everyMs, STARTED.max + 1)
    if (started < STARTED.max) return 'all'
    // The first of many: a row of the record for each of them would be a flood of its own.
    return started === STARTED.max ? 'recorded' : 'nobody'
  }

  async function store(
    tx: Tx,
    { id, type, scope: owner, created, data, depth }: Omit<DomainEvent, 'data'> & { data: unknown },
    parts: readonly Part[],
    { source, reach: scope }: { source: string | null; reach: Scope },
  ): Promise<void> {
    const envelope = JSON.stringify({ id, type, created: iso(created), data: deliverable(data) })
    const row: BusEventRow = { id, owner, type, envelope, source, depth, created_at: created }
    await rows.insert(tx, row)
    if (scope === 'nobody') return
    if (scope === 'recorded') {
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
    for (const { owner: ownerFilter, reached } of parts) {
      for (const [subscriber, targets] of reached)
        await receivers.get(subscriber)?.(tx, { ...row, owner: ownerFilter }, targets)
    }
  }
}

/**
 * The data of an event as receivers get it: what is too large for one delivery is null and named in `_omitted`, largest
 * first. The ids beside it say where all of it is, such as `GET /jobs/{job_id}`.
 */
export function deliverable(data: unknown): unknown {
  if (sizeOf(data) <= MAX_BYTES || typeof data !== 'object' || data === null || Array.isArray(data)) return data
  const sizes = Object.entries(data).map(([name, value]) => ({ name, bytes: sizeOf(value) }))
  const omitted: string[] = []
  let left = sizes.reduce((sum, { bytes }) => sum + bytes, 0)
  for (const { name, bytes } of sizes.sort((a, b) => b.bytes - a.bytes)) {
    if (left <= MAX_BYTES / 2) break
    omitted.push(name)
    left -= bytes
  }
  const stored = Object.entries(data).map(([name, value]) => [name, omitted.includes(name) ? null : value])
  return { ...Object.fromEntries(stored), _omitted: omitted }
}

type BusDeps = {
  clock: Clock
  /** Logs a listener that failed after the commit; the change it reacted to stays. */
  onError(type: string, error: unknown): void
}

/** What led to an event: how deep the one was that started it. */
type Cause = { depth?: number | undefined }
type TransactionListener = (tx: Tx, event: DomainEvent<never>) => void | Promise<void>
type AfterCommitListener = (event: DomainEvent<never>) => void
type Subscription<React> = { kind: EventKind | '*'; react: React }
type Listeners = { inTransaction: TransactionListener[]; afterCommit: AfterCommitListener[] }

export type EventBus = ReturnType<typeof createEventBus>

/** The in-process event bus. Modules subscribe when they are built, and emit inside the transaction of the change. */
export function createEventBus({ clock, onError }: BusDeps) {
  const transactionListeners: Subscription<TransactionListener>[] = []
  const afterCommitListeners: Subscription<AfterCommitListener>[] = []
  /** Who listens to each kind that was emitted; forgotten when somebody subscribes. */
  let known = new WeakMap<EventKind, Listeners>()
  const subscribe = <React>(subscriptions: Subscription<React>[], subscription: Subscription<React>): void => {
    subscriptions.push(subscription)
    known = new WeakMap()
  }
  const listenersOf = (kind: EventKind): Listeners => {
    const found = known.get(kind) ?? {
      inTransaction: listeningTo(transactionListeners, kind),
      afterCommit: listeningTo(afterCommitListeners, kind),
    }
    known.set(kind, found)
    return found
  }

  return {
    /**
     * Notifies all listeners. `inTransaction` listeners run now, in order of subscription; `afterCommit` listeners run
     * once the transaction has committed, and not at all when it is rolled back. A promise only where one has to wait.
     */
    emit<Data extends object>(
      tx: Tx,
      kind: EventKind<Data>,
      scope: OwnerScope,
      data: Data,
      { depth = 0 }: Cause = {},
    ): DomainEvent<Data> | Promise<DomainEvent<Data>> {
      const event = { id: EventId.create(), type: kind.type, scope, created: clock.now(), data, depth }
      const listeners = listenersOf(kind)
      const from = (first: number): DomainEvent<Data> | Promise<DomainEvent<Data>> => {
        for (let at = first; at < listeners.inTransaction.length; at++) {
          const working = listeners.inTransaction[at]!(tx, event as DomainEvent<never>)
          if (working) return working.then(() => from(at + 1))
        }
        for (const react of listeners.afterCommit)
          tx.afterCommit(() => contain(() => react(event as DomainEvent<never>), kind.type))
        return event
      }
      return from(0)
    },

    /**
     * `react` runs in the emitting transaction: its writes commit with the change, and its failure rolls both back.
     * `having`: only for events whose data has this member.
     */
    inTransaction<Data extends object>(
      kind: EventKind<Data> | '*',
      react: (tx: Tx, event: DomainEvent<Data>) => void | Promise<void>,
      having?: keyof NoInfer<Data>,
    ): void {
      const reactWith: typeof react = (tx, event) => (event.data[having!] == null ? undefined : react(tx, event))
      subscribe(transactionListeners, { kind, react: (having ? reactWith : react) as TransactionListener })
    },

    /** `react` runs after the commit and before the caller is answered; it must not await anything. */
    afterCommit<Data extends object>(kind: EventKind<Data> | '*', react: (event: DomainEvent<Data>) => void): void {
      subscribe(afterCommitListeners, { kind, react: react as AfterCommitListener })
    },
  }

  /** An exception after the commit would make a stored change look failed. */
  function contain(effect: () => void, type: string): void {
    try {
      effect()
    } catch (error) {
      onError(type, error)
    }
  }
}

const listeningTo = <React>(subscriptions: Subscription<React>[], { type, internal }: EventKind): React[] =>
  subscriptions.filter(({ kind }) => (kind === '*' ? !internal : kind.type === type)).map(({ react }) => react)
