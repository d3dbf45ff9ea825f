import type { AuditLog } from '../audit'
import { type JobKind, recurring } from '../jobs'
import type { Call, Caller, OwnerScope } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { iso } from '../kernel/clock'
import { OrgId, type UserId } from '../kernel/ids'
import { pageFields } from '../kernel/page'
import { readRange } from '../kernel/range'
import type { Reader, Store, Tx } from '../kernel/store'
import { isReserved } from './catalogue'
import { foreignOrg, reservedType, viewersPublishNothing } from './errors'
import type { FanOut } from './fan-out'
import { assertPayload } from './payload'
import { eventRepository as rows } from './repository'
import { type BusEvent, type BusEventQuery, EventId, type NewEvent, type PublishedEvent } from './schema'
import type { BusEventRow } from './table'

type Deps = {
  store: Store
  clock: Clock
  audit: Pick<AuditLog, 'record'>
  fanOut: FanOut
  storeAnswer<T>(tx: Tx, call: Pick<Call, 'once'>, answer: T): Promise<T>
  /** Of the rooms after this one. */
  orgs: {
    roleOf(reader: Reader, orgId: OrgId, userId: UserId): Promise<string | null>
    findOwner(reader: Reader, word: string | undefined): Promise<{ scope: OwnerScope }>
  }
  settings: { eventsRetentionDays: number }
}

export type EventService = ReturnType<typeof createEvents>

const TIDY_EVERY_MS = 600_000
const TIDY_BATCH = 500
const DAY_MS = 86_400_000

/** `/events`: what callers put on the bus, and what was on it (contract 11.2). */
export function createEvents({ store, clock, audit, fanOut, storeAnswer, orgs, settings }: Deps) {
  return { publish, list, tidying }

  /** Throws 403 for an organization that is not the caller's, 400 for a reserved name, 413 for a large payload. */
  async function publish(call: Call<Caller>, order: NewEvent): Promise<PublishedEvent> {
    const { eventType, payload = null, sourceConnector = null } = order
    if (isReserved(eventType)) throw reservedType(eventType)
    assertPayload(payload)
    const scope = await scopeOf(call.caller, order.orgId, 'publish')
    return store.write(async (tx) => {
      const id = EventId.create()
      const event = { id, type: eventType, scope, created: clock.now(), data: { value: payload }, depth: depthOf(call) }
      const self = selfOf(call.caller, scope)
      const matched = await fanOut.publish(tx, event, sourceConnector, self)
      const metadata = { event_type: eventType, ...(sourceConnector ? { source_connector: sourceConnector } : {}) }
      const entry = { action: 'event.published', entityType: 'event', entityId: id, input: { metadata } } as const
      await audit.record(tx, call, { ...entry, scope })
      // Its publisher also sees it in their own record (contract 11.2).
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
    whose?: string,
  ) {
    const range = readRange({ ...(from ? { from } : {}), ...(to ? { to } : {}) })
    const owner =
      caller.type === 'operator' && orgId === undefined
        ? whose === undefined
          ? null
          : (await orgs.findOwner(store.read, whose)).scope
        : await scopeOf(caller, orgId, 'read')
    const page = await rows.list(store.read, owner, { ...paging, type: eventType, range })
    return { events: page.items.map(present), ...pageFields(page) }
  }

  /** A person is an organization of one member (contract 1.2). An organization's key acts for no other one. */
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
      while ((await store.write((tx) => rows.removeOld(tx, before, TIDY_BATCH))) === TIDY_BATCH);
    })
  }
}

const depthOf = ({ depth = 0 }: Pick<Call<Caller>, 'depth'>): number => depth

/** Whose own hooks and record an event of an organization reaches: its publisher's, unless the key is the organization's. */
const selfOf = (caller: Caller, scope: OwnerScope): OwnerScope | null =>
  caller.type !== 'operator' && !caller.orgId && scope !== `user:${caller.userId}` ? `user:${caller.userId}` : null

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
