import type { AuditLog } from '../../audit'
import { defineEvent, type EventBus } from '../../events'
import type { Call, Caller, Scope, TenantCaller, Tier } from '../../kernel/caller'
import type { Clock } from '../../kernel/clock'
import type { Values } from '../../kernel/config'
import { KeyId, type OrgId } from '../../kernel/ids'
import type { Reader, Store, Tx } from '../../kernel/store'
import type { OrgService } from '../orgs/service'
import type { keySettings } from './config'
import { ambiguousKey, boundedKey, keyNotFound } from './errors'
import type { KeyLookup } from './lookup'
import { present, type Spent } from './present'
import { type KeyScope, keyRepository as rows } from './repository'
import { boundOf, ownerOfKey, type TierLimits } from './rules'
import type { ApiKey } from './schema'
import type { KeyRow } from './table'

export type KeyDeps = {
  store: Store
  audit: AuditLog
  events: EventBus
  orgs: OrgService
  lookup: KeyLookup
  clock: Clock
  settings: Values<typeof keySettings>
  /** The limits per minute of a tier. A later module owns the table. */
  limitsOf(tier: Tier): TierLimits
  /** What a key has spent so far. The usage module counts it. */
  spentBy(reader: Reader, keyId: KeyId): Promise<Spent>
}

/** The public data of a key event (docs/api.md 14.2). */
type KeyFacts = {
  key_id: KeyId
  name: string
  prefix: string
  scopes: Scope[]
  scope: 'personal' | 'org'
  org_id: OrgId | null
}

const keyCreated = defineEvent<KeyFacts>('key.created')
const keyRevoked = defineEvent<KeyFacts>('key.revoked')

type KeyChange = {
  action: 'key.created' | 'key.updated' | 'key.rotated' | 'key.revoked'
  /** Names of the updated fields. */
  fields?: string[]
  metadata?: Record<string, unknown>
}

/** Records a change of a key: its audit row, and for creation and revocation the event (docs/api.md 14.2, 19). */
export async function recordChange(
  { audit, events, lookup }: Pick<KeyDeps, 'audit' | 'events' | 'lookup'>,
  tx: Tx,
  call: Call<Caller>,
  row: KeyRow,
  { action, ...input }: KeyChange,
): Promise<void> {
  const scope = ownerOfKey(row)
  await audit.record(tx, call, { action, entityType: 'api_key', entityId: row.id, scope, input })
  const facts: KeyFacts = {
    key_id: row.id,
    name: row.name,
    prefix: row.prefix,
    scopes: row.scopes,
    scope: row.org_id ? 'org' : 'personal',
    org_id: row.org_id,
  }
  if (action === 'key.created') await events.emit(tx, keyCreated, scope, facts)
  if (action === 'key.revoked') await events.emit(tx, keyRevoked, scope, facts)
  const hashes = await rows.hashesOf(tx, row.id)
  tx.afterCommit(() => hashes.forEach(lookup.forget))
}

/**
 * The keys a caller may manage. Operators manage all keys, an org's key those of its org. Users manage their personal
 * keys and those of orgs where they hold `manageApiKeys`. Throws 403 `forbidden` for an org's key whose creator lost
 * that permission.
 */
export async function scopeOf({ orgs }: KeyDeps, reader: Reader, caller: Caller): Promise<KeyScope> {
  if (caller.type === 'operator') return 'everyone'
  if (caller.orgId) {
    await orgs.assertPermission(reader, caller, 'manageApiKeys', caller.orgId)
    return { userId: null, orgIds: [caller.orgId] }
  }
  return { userId: caller.userId, orgIds: await orgs.orgIdsWith(reader, caller.userId, 'manageApiKeys') }
}

/**
 * A key the caller may manage. A foreign, an unknown and a malformed id give the same 404 (docs/promises.md I22).
 * Operators may also name a key by its prefix or exact name. Working keys win over others of the same name. Several
 * matches throw 400.
 */
export async function findKey(deps: KeyDeps, reader: Reader, caller: Caller, ref: string): Promise<KeyRow> {
  const scope = await scopeOf(deps, reader, caller)
  if (KeyId.is(ref) || caller.type !== 'operator') {
    const row = KeyId.is(ref) ? await rows.find(reader, scope, ref) : undefined
    if (!row) throw keyNotFound()
    return row
  }
  const filter = ref.startsWith('svc_sk_') ? { prefix: ref } : { name: ref }
  const live = await rows.search(reader, { ...filter, liveAt: deps.clock.now() }, { limit: 10 })
  const { items } = live.items.length ? live : await rows.search(reader, filter, { limit: 10 })
  const ids = items.map(({ id }) => id)
  if (ids.length > 1) throw ambiguousKey(ref, ids)
  if (!items[0]) throw keyNotFound()
  return items[0]
}

/** Like `findKey`, and locks the key until the transaction commits, so that checks see its current state. */
export const findKeyLocked = async (deps: KeyDeps, tx: Tx, caller: Caller, ref: string): Promise<KeyRow> =>
  rows.lock(tx, (await findKey(deps, tx, caller, ref)).id)

/** The calling key as stored now. Null for a session or an operator. */
export const keyInUse = async (reader: Reader, caller: Caller): Promise<KeyRow | null> =>
  caller.type === 'key' ? ((await rows.find(reader, 'everyone', caller.keyId)) ?? null) : null

/**
 * Bounds of a key mean nothing if the key can create another one without them, and copies would multiply them. So a key
 * with any bound may neither create keys nor obtain another key's secret. Throws 403 `forbidden`.
 */
export async function assertUnbound(
  reader: Reader,
  caller: TenantCaller,
  what: 'create keys' | 'rotate other keys',
): Promise<void> {
  const own = await keyInUse(reader, caller)
  const bound = own && boundOf(own)
  if (bound) throw boundedKey(what, bound)
}

export const presentSpent = async ({ spentBy, clock }: KeyDeps, reader: Reader, row: KeyRow): Promise<ApiKey> =>
  present(row, await spentBy(reader, row.id), clock.now())
