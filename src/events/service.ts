import type { AuditLog } from '../audit'
import { type JobKind, recurring } from '../jobs'
import type { Call, Caller, OwnerScope } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { newRequestId, OrgId, type UserId } from '../kernel/ids'
import { removeOld } from '../kernel/old-rows'
import { pageFields } from '../kernel/page'
import { readRange } from '../kernel/range'
import type { Reader, Store, Tx } from '../kernel/store'
import { eventErrors, payloadTooLarge, reservedType } from './errors'
import { hasNoSubscriber, eventRepository as rows, type Subscriber, subscribersOf } from './repository'
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

/** Maximum body size for a receiver (docs/api.md 14.3). */
const MAX_BYTES = 256 * 1024

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '')

/** Rate limit of events caused by events, per owner. Without it they could double at each depth. */
export const STARTED = { max: 1_000, everyMs: 60_000 }

/**
 * Handles an event for one kind of subscriber, in the event's transaction. It only stores the pending work.
 * `event.owner` is the owner of the targets.
 */
type Receive = (tx: Tx, event: BusEventRow, targets: readonly string[]) => Promise<unknown>

export type FanOut = ReturnType<typeof createFanOut>

type Scope = 'all' | 'nobody' | 'recorded'

/** An owner whose subscribers an event reaches. */
type Part = { owner: OwnerScope; reached: ReadonlyMap<Subscriber, string[]> }

/** An event deeper than this is stored but reaches nobody, so that event loops end. */
const MAX_DEPTH = 8

const MAX_KB = 64

const OF_SERVER: ReadonlySet<string> = new Set(Object.keys(SAMPLES))

/** Names that callers may not publish, because receivers trust that these events come from the server. */
export const isReserved = (type: string): boolean => OF_SERVER.has(type) || type === 'svc' || type.startsWith('svc.')

type Deps = {
  store: Store
  clock: Clock
  audit: Pick<AuditLog, 'record'>
  fanOut: FanOut
  storeAnswer<T>(tx: Tx, call: Pick<Call, 'once'>, answer: T): Promise<T>
  /** Functions of modules that depend on this one. */
  orgs: {
    roleOf(reader: Reader, orgId: OrgId, userId: UserId): Promise<string | null>
    findOwner(reader: Reader, word: string | undefined): Promise<{ scope: OwnerScope }>
  }
  settings: { eventsRetentionDays: number }
}

export type EventService = ReturnType<typeof createEvents>

const TIDY_EVERY_MS = 600_000
const DAY_MS = 86_400_000

/** `/events`: publishes and lists events (docs/api.md 11.2). */
export function createEvents({ store, clock, audit, fanOut, storeAnswer, orgs, settings }: Deps) {
  return { publish, list, tidying }

  /** Throws 403 if the caller is not a member of the organization, 400 for a reserved name, 413 for a large payload. */
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
      // Unless an organization's key publishes, its event also reaches the publisher's own hooks and audit log.
      const self: OwnerScope | null =
        call.caller.type !== 'operator' && !call.caller.orgId && scope !== `user:${call.caller.userId}`
          ? `user:${call.caller.userId}`
          : null
      const matched = await fanOut.publish(tx, event, sourceConnector, self)
      const metadata = { event_type: eventType, ...(sourceConnector ? { source_connector: sourceConnector } : {}) }
      const entry = { action: 'event.published', entityType: 'event', entityId: id, input: { metadata } } as const
      await audit.record(tx, call, { ...entry, scope })
      // The event also appears in the publisher's own audit log (docs/api.md 11.2).
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

  /** Newest first: events of one organization, by default the active one. Operators see all. */
  async function list(
    { caller }: Call<Caller>,
    { orgId, eventType, from, to, ...paging }: BusEventQuery,
    ownerFilter?: string,
  ) {
    const range = readRange({ ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) })
    const owner =
      caller.type === 'operator' && orgId === undefined
        ? ownerFilter === undefined
          ? null
          : (await orgs.findOwner(store.read, ownerFilter)).scope
        : await scopeOf(caller, orgId, 'read')
    const page = await rows.list(store.read, owner, { ...paging, type: eventType, range })
    return { events: page.items.map(present), ...pageFields(page) }
  }

  /** A person counts as an organization of one (docs/api.md 1.2). An organization's key acts for no other one. */
  async function scopeOf(caller: Caller, id: string | undefined, act: 'publish' | 'read'): Promise<OwnerScope> {
    if (caller.type === 'operator') return (await orgs.findOwner(store.read, id)).scope
    const { activeOrgId, orgId, userId } = caller
    if (id === userId && !orgId) return `user:${userId}`
    const wanted = id ?? activeOrgId
    if (wanted === null) return `user:${userId}`
    const role = OrgId.is(wanted) && (!orgId || orgId === wanted) ? await orgs.roleOf(store.read, wanted, userId) : null
    if (role === null) throw eventErrors.foreignOrg()
    if (role === 'viewer' && act === 'publish') throw eventErrors.viewersPublishNothing()
    return `org:${wanted}`
  }

  /** Deletes events older than the retention time. */
  function tidying(): JobKind<null> {
    return recurring('events.tidy', TIDY_EVERY_MS, async () => {
      const before = clock.now() - settings.eventsRetentionDays * DAY_MS
      await removeOld(store, { table: busEvents, key: 'id', at: 'created_at' }, before)
    })
  }
}

/** The `orgId` of an owner. For a person it is the user id. */
const ownerIdOf = (scope: OwnerScope): string => scope.slice(scope.indexOf(':') + 1)

const present = ({ id, owner, type, envelope, source, created_at }: BusEventRow): BusEvent => ({
  id,
  orgId: ownerIdOf(owner),
  eventType: type,
  payload: (JSON.parse(envelope) as { data: unknown }).data,
  sourceConnector: source,
  timestamp: iso(created_at),
})

/** Throws 400 when the payload exceeds the limit (docs/api.md 11.2). */
export function assertPayload(payload: unknown, member = 'payload'): void {
  if (Buffer.byteLength(JSON.stringify(payload)) > MAX_KB * 1024) throw payloadTooLarge(MAX_KB, member)
}

/**
 * Delivers an event to its subscribers in the transaction of its cause, so that both commit or neither
 * (docs/promises.md I17). Stores server events only if they have a subscriber.
 */
export function createFanOut({ audit }: { audit: Pick<AuditLog, 'recordUnattended'> }) {
  const receivers = new Map<Subscriber, Receive>()
  return {
    /** Registers the receiver for a kind of subscriber. */
    receive: (subscriber: Subscriber, receive: Receive): void => void receivers.set(subscriber, receive),
    ofServer,
    /** True if it is known that an owner's event of this type has no subscriber. */
    reachesNobody: hasNoSubscriber,
    publish,
  }

  /** Delivers an event that a module emits on the bus. */
  async function ofServer(tx: Tx, event: DomainEvent): Promise<void> {
    const reached = await subscribersOf(tx, event.scope, event.type)
    if (!reached.size) return
    await store(tx, event, [{ owner: event.scope, reached }], { source: null, reach: await scopeOf(tx, event) })
  }

  /**
   * Publishes an event of a caller. For an organization's event, `self` is the publisher. The publisher's own hooks,
   * workflows and skills also receive it, their webhooks do not. Returns the number of targets of each kind.
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

  /** Stops loops and cascades: limits the depth and the rate of events caused by events. */
  async function scopeOf(
    tx: Tx,
    { scope, depth, created }: Pick<DomainEvent, 'scope' | 'depth' | 'created'>,
  ): Promise<Scope> {
    if (depth > MAX_DEPTH) return 'recorded'
    if (depth === 0) return 'all'
    const started = await rows.countStarted(tx, scope, created - STARTED.everyMs, STARTED.max + 1)
    if (started < STARTED.max) return 'all'
    // Only the first event over the limit is recorded, because a row for each would itself be a flood.
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
 * The data of an event as receivers get it. Members too large for one delivery are null and listed in `_omitted`,
 * largest first. Ids in the data show where to read them, such as `GET /jobs/{job_id}`.
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
  /** Logs a listener that failed after the commit. The change it reacted to remains. */
  onError(type: string, error: unknown): void
}

/** The cause of an event: the depth of the event that caused it. */
type Cause = { depth?: number | undefined }
type TransactionListener = (tx: Tx, event: DomainEvent<never>) => void | Promise<void>
type AfterCommitListener = (event: DomainEvent<never>) => void
/** Whether a listener is known to do nothing with an event whose data has these members. */
type Ignores = (tx: Tx, scope: OwnerScope, type: string, data: object) => boolean
type Subscription<React> = { kind: EventKind | '*'; react: React; ignores?: Ignores }
type Listeners = {
  inTransaction: Subscription<TransactionListener>[]
  afterCommit: Subscription<AfterCommitListener>[]
}

export type EventBus = ReturnType<typeof createEventBus>

/** The in-process event bus. Modules subscribe when they are created, and emit inside the transaction of the change. */
export function createEventBus({ clock, onError }: BusDeps) {
  const transactionListeners: Subscription<TransactionListener>[] = []
  const afterCommitListeners: Subscription<AfterCommitListener>[] = []
  /** Cached listeners by kind. Cleared when a listener subscribes. */
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
     * Notifies all listeners. `inTransaction` listeners run now, in order of subscription. `afterCommit` listeners run
     * after the commit, and never after a rollback. Returns a promise only if a listener is asynchronous.
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
          const working = listeners.inTransaction[at]!.react(tx, event as DomainEvent<never>)
          if (working) return working.then(() => from(at + 1))
        }
        for (const { react } of listeners.afterCommit)
          tx.afterCommit(() => contain(() => react(event as DomainEvent<never>), kind.type))
        return event
      }
      return from(0)
    },

    /**
     * True if an event would change nothing: all its listeners ignore it. `data` has at least the members by which they
     * decide. A paid call asks this first, because most owners have no subscriber.
     */
    isIgnored<Data extends object>(tx: Tx, kind: EventKind<Data>, scope: OwnerScope, data: Partial<Data>): boolean {
      const { inTransaction, afterCommit } = listenersOf(kind)
      if (afterCommit.length) return false
      for (const { ignores } of inTransaction) if (!ignores?.(tx, scope, kind.type, data)) return false
      return true
    },

    /**
     * `react` runs in the emitting transaction: its writes commit with the change, and its failure rolls both back.
     * With `ignores`, only for events that it does not ignore.
     */
    inTransaction<Data extends object>(
      kind: EventKind<Data> | '*',
      react: (tx: Tx, event: DomainEvent<Data>) => void | Promise<void>,
      ignores?: (tx: Tx, scope: OwnerScope, type: string, data: Partial<NoInfer<Data>>) => boolean,
    ): void {
      const reactUnless: typeof react = (tx, event) =>
        ignores!(tx, event.scope, event.type, event.data) ? undefined : react(tx, event)
      const subscription = { kind, react: (ignores ? reactUnless : react) as TransactionListener }
      subscribe(transactionListeners, ignores ? { ...subscription, ignores } : subscription)
    },

    /** `react` runs after the commit and before the response. It must not await anything. */
    afterCommit<Data extends object>(kind: EventKind<Data> | '*', react: (event: DomainEvent<Data>) => void): void {
      subscribe(afterCommitListeners, { kind, react: react as AfterCommitListener })
    },
  }

  /** Catches exceptions after the commit, because they would make a stored change look failed. */
  function contain(effect: () => void, type: string): void {
    try {
      effect()
    } catch (error) {
      onError(type, error)
    }
  }
}

const listeningTo = <React>(
  subscriptions: Subscription<React>[],
  { type, internal }: EventKind,
): Subscription<React>[] => subscriptions.filter(({ kind }) => (kind === '*' ? !internal : kind.type === type))
