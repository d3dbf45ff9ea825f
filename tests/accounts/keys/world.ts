import { createKeyLookup, createKeys, createKeyUses, createOrgs } from '../../../src/accounts'
import { createAuditLog } from '../../../src/audit'
import { createMail } from '../../../src/cluster'
import { createEventBus, type DomainEvent } from '../../../src/events'
import { type Call, SCOPES, type TenantCaller } from '../../../src/kernel/caller'
import type { UserId } from '../../../src/kernel/ids'
import type { Reader, Store } from '../../../src/kernel/store'
import { callOf, operatorCaller, sessionCaller } from '../../support/callers'
import { fakeClock } from '../../support/clock'

let made = 0
const BOUNDS = { maxOrgsPerPerson: 50, maxKeysPerPerson: 100, maxKeysPerOrg: 500 }

/** The modules up to keys over a real store, with a clock that moves when told and everything heard on the bus. */
export function createWorld(store: Store) {
  const clock = fakeClock()
  const audit = createAuditLog({ clock })
  const failures: unknown[] = []
  const events = createEventBus({ clock, onError: (_type, error) => failures.push(error) })
  const heard: DomainEvent[] = []
  events.afterCommit('*', (event) => heard.push(event))
  const orgs = createOrgs({
    ...{ store, audit, events, clock, settings: BOUNDS, origin: () => 'http://localhost' },
    mail: createMail({ settings: { smtpUrl: '', mailFrom: '' } }),
    jobs: { register: () => undefined, enqueue: () => Promise.reject(new Error('Nothing here runs jobs.')) },
  })
  const lastUsed = createKeyUses({ store, clock })
  const lookup = createKeyLookup({ store, orgs, clock, lastUsed })
  const spent = new Map<string, { today: { spent: number }; month: { spent: number } }>()
  const keys = createKeys({
    store,
    audit,
    events,
    orgs,
    lookup,
    clock,
    settings: BOUNDS,
    limitsOf: (tier) => (tier === 'free' ? { rpm: 60, tpm: 100_000 } : { rpm: 5_000, tpm: 10_000_000 }),
    spentBy: async (_reader, id) => spent.get(id) ?? { today: { spent: 0 }, month: { spent: 0 } },
  })

  const addUser = (name = 'ada') =>
    store.write((tx) => orgs.createUser(tx, { email: `${name}.${++made}@example.com`, name }))
  const addOrg = (ownerId: UserId, name = 'Acme') =>
    store.write((tx) => orgs.createOrg(tx, callOf(operatorCaller()), ownerId, { name }))
  const session = async (userId: UserId): Promise<Call> => {
    const activeOrgId = (await orgs.accessOf(store.read, userId))?.activeOrgId ?? null
    return callOf<TenantCaller>(sessionCaller({ userId, activeOrgId }))
  }
  /** A key for a user, made by an operator, and the call it makes. */
  const withKey = async (userId: UserId, input: Partial<Parameters<typeof keys.createIn>[2]> = {}) => {
    const call = callOf(operatorCaller())
    const key = await store.write((tx) => keys.createIn(tx, call, { userId, orgId: null, ...input }))
    const caller = await lookup.find(key.key)
    if (!caller) throw new Error('a fresh key is not recognised')
    return { key, call: callOf<TenantCaller>(caller) }
  }
  const actions = async (userId: UserId) =>
    (await audit.list(store.read, `user:${userId}`, { limit: 100 })).items.map((event) => event.action).reverse()

  return {
    store,
    clock,
    audit,
    events,
    heard,
    failures,
    orgs,
    lookup,
    lastUsed,
    keys,
    spent,
    addUser,
    addOrg,
    session,
    withKey,
    actions,
  }
}
export const ALL_SCOPES = [...SCOPES]

/** The same store, and how often its reader was used through this member, which every statement goes through. */
export function counting(store: Store, member: 'prepared' | 'select') {
  let reads = 0
  const get = () => {
    reads++
    const value: unknown = store.read[member]
    return typeof value === 'function' ? value.bind(store.read) : value
  }
  const read: Reader = Object.create(store.read, {
    of: { value: (table: never) => store.read.of(table) },
    [member]: { get },
  })
  return { store: { ...store, read }, reads: () => reads }
}
