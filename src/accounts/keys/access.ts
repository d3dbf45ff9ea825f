import type { AuditLog } from '../../audit'
import { defineEvent, type EventBus } from '../../events'
import type { Call, Caller, Scope, TenantCaller, Tier } from '../../kernel/caller'
import { type Clock, iso, isoOrNull } from '../../kernel/clock'
import type { Values } from '../../kernel/config'
import { KeyId, type OrgId } from '../../kernel/ids'
import { microToCents } from '../../kernel/money'
import type { Reader, Store, Tx } from '../../kernel/store'
import type { OrgService } from '../orgs/service'
import type { keySettings } from './config'
import { keyErrors } from './errors'
import type { KeyLookup } from './lookup'
import { type KeyScope, keyRepository as rows } from './repository'
import { boundOf, ownerOfKey, statusOf, type TierLimits } from './rules'
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
    if (!row) throw keyErrors.keyNotFound()
    return row
  }
  const filter = ref.startsWith('svc_sk_') ? { prefix: ref } : { name: ref }
  const live = await rows.search(reader, { ...filter, liveAt: deps.clock.now() }, { limit: 10 })
  const { items } = live.items.length ? live : await rows.search(reader, filter, { limit: 10 })
  const ids = items.map(({ id }) => id)
  if (ids.length > 1) throw keyErrors.ambiguousKey(ref, ids)
  if (!items[0]) throw keyErrors.keyNotFound()
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
  if (bound) throw keyErrors.boundedKey(what, bound)
}

/** The public object of a key, with what it has spent and a use that is not written yet. */
export async function presentSpent({ spentBy, clock, lookup }: KeyDeps, reader: Reader, row: KeyRow): Promise<ApiKey> {
  const last_used_at = Math.max(lookup.usedAt(row.id) ?? 0, row.last_used_at ?? 0) || null
  return present({ ...row, last_used_at }, await spentBy(reader, row.id), clock.now())
}

/** Cost of a key since 00:00 UTC and since the first of the month, in micro-cents. */
export type Spent = { today: { spent: number }; month: { spent: number } }

export const NOTHING_SPENT: Spent = { today: { spent: 0 }, month: { spent: 0 } }

/** The only place that turns a stored key into a public object. Omits the id of its creator. */
export function present(row: KeyRow, spent: Spent, now: number): ApiKey {
  return {
    id: row.id,
    object: 'api_key',
    name: row.name,
    prefix: row.prefix,
    scopes: row.scopes,
    scope: row.org_id ? 'org' : 'personal',
    org_id: row.org_id,
    tier: row.tier,
    status: statusOf(row, now),
    rpm_limit: row.rpm_limit,
    tpm_limit: row.tpm_limit,
    daily_cap_cents: row.daily_cap_cents,
    monthly_cap_cents: row.monthly_cap_cents,
    spent_today_cents: microToCents(spent.today.spent),
    spent_month_cents: microToCents(spent.month.spent),
    allowed_origins: row.allowed_origins,
    brand_soul: row.brand_soul,
    chat_parameters: row.chat_parameters,
    routing_preference_id: row.routing_preference_id,
    routing_rules: row.routing_rules ?? [],
    confidence_floor_overrides: row.routing_floors ?? {},
    guardrail_policy_id: row.guardrail_policy_id,
    created: iso(row.created_at),
    last_used_at: isoOrNull(row.last_used_at),
    expires_at: isoOrNull(row.expires_at),
    revoked_at: isoOrNull(row.revoked_at),
  }
}
