import { storeAnswer } from '../../idempotency'
import { bind } from '../../kernel/bind'
import {
  type Call,
  type Caller,
  type KeyCaller,
  keyIdOf,
  type OperatorCaller,
  type OwnerScope,
  SCOPES,
  type SessionCaller,
  type TenantCaller,
  TIERS,
  type Tier,
} from '../../kernel/caller'
import { iso } from '../../kernel/clock'
import { randomHex } from '../../kernel/crypto'
import { atField, invalidInput, notFound } from '../../kernel/errors'
import { KeyId, OrgId, type UserId } from '../../kernel/ids'
import type { Page } from '../../kernel/page'
import type { Reader, Tx } from '../../kernel/store'
import { accessChanged, memberLeft, orgDeleted } from '../orgs/events'
import { actingUserOf, findOwner } from '../orgs/owner'
import { mayDo } from '../orgs/rules'
import {
  assertUnbound,
  findKey,
  findKeyLocked,
  type KeyDeps,
  keyInUse,
  NOTHING_SPENT,
  present,
  presentSpent,
  recordChange,
  scopeOf,
} from './access'
import { keyBindings } from './bindings'
import { keyErrors } from './errors'
import { KEY_LABELS, mintSecret, recogniseSecret, toCaller } from './lookup'
import { isLive, type KeyFilter, keyRepository as rows } from './repository'
import {
  assertGrantable,
  assertNotWidened,
  assertRotatable,
  assertWithinTier,
  ownerOfKey,
  readBrandSoul,
  readExpiry,
  readOrigins,
  unique,
} from './rules'
import type {
  ApiKey,
  ApiKeyWithSecret,
  KeyPatch,
  KeyRotation,
  NewKey,
  NewOperatorKey,
  OperatorKeyQuery,
  RotatedKey,
} from './schema'
import type { KeyRow } from './table'

const DEFAULT_NAME = 'API Key'

/** Every key starts on the free tier. Only an operator or an approved increase raises it (docs/api.md 20). */
const FIRST_TIER: Tier = 'free'
const DEFAULT_GRACE_S = 86_400
const AT_ONCE = 100

export type KeyService = ReturnType<typeof createKeys>

/** API keys: owners create, list, change and revoke their own, operators those of any owner. */
export function createKeys(deps: KeyDeps) {
  const { events, lookup } = deps
  events.afterCommit(accessChanged, () => lookup.forgetAll())
  // People who left lose access and cannot spend the org's money (docs/attacks.md D19).
  events.inTransaction(orgDeleted, (tx, { data }) => revokeAll(deps, tx, data))
  events.inTransaction(memberLeft, (tx, { data }) => revokeAll(deps, tx, data))
  return {
    ...bind(deps, {
      create: createKey,
      createIn,
      get: getKey,
      list: listKeys,
      count: countKeys,
      update: updateKey,
      updateIn,
      rotate: rotateKey,
      revoke: revokeKey,
      check: checkKey,
      callerOf,
      actingAs,
      newest: newestKeys,
    }),
    tiers: bind(deps, { inForce: tieredKeys, set: setTier }),
    bindings: bind(deps, keyBindings),
    brandSoulOf: rows.brandSoul,
  }
}

/**
 * `POST /keys`: the only answer that contains the secret. Throws 403 `missing_scope` for scopes the caller lacks, 403
 * `forbidden` without `manageApiKeys` and for a key that has bounds, 400 `org_required`, 404 for a foreign org, 409
 * `conflict` when the owner already has the maximum number of keys.
 *
 * These rules do not apply to operators, who name the owner. Without an org or a user, the key belongs to the owner
 * that the first run created. On a server without accounts, the same transaction creates that owner and an org first.
 * Throws 404 for an unknown owner, 409 for a deleted org.
 */
async function createKey(deps: KeyDeps, call: Call<Caller>, input: NewKey & NewOperatorKey): Promise<ApiKeyWithSecret> {
  const { store, orgs, settings } = deps
  const { caller } = call
  const { org, user, personal, tier, scope: _, org_id: __, ...fields } = input
  if (caller.type === 'operator') {
    const named = org ?? user
    const isFirst = named === undefined && !(await orgs.oldestUser(store.read))
    const owner = isFirst ? null : await findOwner(store.read, named)
    return store.write(async (tx) => {
      const userId = owner && actingUserOf(owner)
      const made = userId ? { userId, orgId: owner.orgId } : await firstOwner(deps, tx, call)
      return createIn(deps, tx, call, { ...fields, ...made, ...(personal ? { orgId: null } : {}), tier })
    })
  }
  assertGrantable(caller, fields.scopes ?? SCOPES)
  return store.write(async (tx) => {
    await assertUnbound(tx, caller, 'create keys')
    const owner = { userId: caller.userId, orgId: await orgOfNewKey(deps, tx, caller, input) }
    // Limits apply per key, so the number of keys is bounded too. The lock makes concurrent requests count each other.
    await orgs.lockOwner(tx, owner)
    const max = owner.orgId ? settings.maxKeysPerOrg : settings.maxKeysPerPerson
    if ((await rows.unrevoked(tx, owner)) >= max)
      throw keyErrors.tooManyKeys(owner.orgId ? 'organization' : 'person', max)
    return storeAnswer(tx, call, await createIn(deps, tx, call, { ...fields, ...owner }))
  })
}

type KeyInput = Omit<NewKey, 'scope' | 'org_id'> & { userId: UserId; orgId: OrgId | null; tier?: Tier | undefined }

/** Creates a key for a known owner, without checking permissions. Throws 400 for bad limits, origins, times. */
async function createIn(deps: KeyDeps, tx: Tx, call: Call<Caller>, input: KeyInput): Promise<ApiKeyWithSecret> {
  const secret = mintSecret(input.test ? KEY_LABELS.test : KEY_LABELS.live)
  const row = newRow(deps, secret.prefix, input)
  await rows.insert(tx, row, secret.hash)
  await recordChange(deps, tx, call, row, { action: 'key.created' })
  return { ...present(row, NOTHING_SPENT, row.created_at), key: secret.token }
}

function newRow({ clock, limitsOf }: KeyDeps, prefix: string, { tier = FIRST_TIER, ...input }: KeyInput): KeyRow {
  assertWithinTier(input, tier, limitsOf(tier))
  const now = clock.now()
  return {
    id: KeyId.create(),
    user_id: input.userId,
    org_id: input.orgId,
    name: input.name ?? DEFAULT_NAME,
    prefix,
    scopes: unique(input.scopes ?? SCOPES),
    tier,
    rpm_limit: input.rpm_limit ?? null,
    tpm_limit: input.tpm_limit ?? null,
    daily_cap_cents: input.daily_cap_cents ?? null,
    monthly_cap_cents: input.monthly_cap_cents ?? null,
    allowed_origins: readOrigins(input.allowed_origins ?? []),
    brand_soul: input.brand_soul ? readBrandSoul(input.brand_soul) : null,
    chat_parameters: input.chat_parameters ?? 'by_base',
    routing_preference_id: null,
    routing_rules: null,
    routing_floors: null,
    guardrail_policy_id: null,
    created_at: now,
    last_used_at: null,
    expires_at: readExpiry(input.expires_at, now),
    revoked_at: null,
    rotating_until: null,
  }
}

/** The org of the new key, or null for a personal one. An org's key creates org keys unless the body says otherwise. */
async function orgOfNewKey({ orgs }: KeyDeps, tx: Tx, caller: TenantCaller, input: NewKey): Promise<OrgId | null> {
  const named = input.org_id ?? null
  const isPersonal = input.scope === undefined ? named === null && !caller.orgId : input.scope === 'personal'
  if (isPersonal) {
    if (named !== null)
      throw invalidInput('org_id', '"org_id" was sent for a personal key. Leave it out, or send "scope":"org".')
    if (caller.orgId) throw keyErrors.personalFromOrgKey()
    return null
  }
  const wanted = named ?? caller.activeOrgId
  if (wanted === null) throw atField(keyErrors.orgRequired(), 'scope')
  const isTheirs = OrgId.is(wanted) && (await orgs.roleOf(tx, wanted, caller.userId)) !== null
  if (!isTheirs || (caller.orgId && caller.orgId !== wanted)) throw atField(notFound('organization'), 'org_id')
  // A member who leaves the org loses their keys. The lock prevents creating one at the same time.
  await orgs.lock(tx, wanted)
  await orgs.assertPermission(tx, caller, 'manageApiKeys', wanted)
  return wanted
}

async function firstOwner({ orgs }: KeyDeps, tx: Tx, call: Call<Caller>): Promise<{ userId: UserId; orgId: OrgId }> {
  const user = await orgs.createUser(tx, { email: `owner-${randomHex(4)}@svc.invalid`, name: 'Owner' })
  const org = await orgs.createOrg(tx, call, user.id, { name: 'Main' })
  await orgs.makeActive(tx, user.id, org.id)
  return { userId: user.id, orgId: org.id }
}

/** `GET /keys/{id}`. Throws like `findKey`. */
const getKey = async (deps: KeyDeps, { caller }: Call<Caller>, ref: string): Promise<ApiKey> =>
  presentSpent(deps, deps.store.read, await findKey(deps, deps.store.read, caller, ref))

/** `GET /keys`: newest first, with revoked ones. Operators may choose an owner. Throws 404 for an unknown owner. */
async function listKeys(
  deps: KeyDeps,
  { caller }: Call<Caller>,
  { org, user, live, ...wanted }: OperatorKeyQuery,
): Promise<Page<ApiKey>> {
  const { store, clock } = deps
  const filter: KeyFilter = {}
  if (caller.type === 'operator') {
    const orgId = org && (await findOwner(store.read, org)).orgId
    if (orgId) filter.orgId = orgId
    if (user) filter.userId = actingUserOf(await findOwner(store.read, user))
    if (live) filter.liveAt = clock.now()
  }
  const page = await rows.list(store.read, await scopeOf(deps, store.read, caller), wanted, filter)
  return { ...page, items: await Promise.all(page.items.map((row) => presentSpent(deps, store.read, row))) }
}

/** Number of all keys, of every owner and state, or of the working keys of one org. */
const countKeys = ({ store, clock }: KeyDeps, _call: Call<OperatorCaller>, orgId?: OrgId): Promise<number> =>
  rows.count(store.read, orgId ? { orgId, liveAt: clock.now() } : {})

/** The newest keys of everyone, each with the caller its requests would have. Used to inspect limits. */
async function newestKeys(deps: KeyDeps, _call: Call<OperatorCaller>, limit: number) {
  const { items } = await rows.search(deps.store.read, {}, { limit })
  return Promise.all(
    items.map(async (row) => ({
      key: await presentSpent(deps, deps.store.read, row),
      caller: toCaller(row, row.org_id, null),
    })),
  )
}

/** The caller that requests with this key would have. Used to inspect limits. */
async function callerOf(deps: KeyDeps, { caller }: Call<OperatorCaller>, ref: string): Promise<KeyCaller> {
  const row = await findKey(deps, deps.store.read, caller, ref)
  return toCaller(row, row.org_id, null)
}

/** The key of a complete secret, working or not. Null when the secret is unknown or expired. Never repeats it. */
async function checkKey(deps: KeyDeps, _call: Call<OperatorCaller>, secret: string) {
  const { store, clock } = deps
  const hash = recogniseSecret(secret, Object.values(KEY_LABELS))
  const found = hash === null ? undefined : await rows.byHash(store.read, hash)
  const isOver = !found || (found.ends_at !== null && found.ends_at <= clock.now())
  const key = isOver ? null : await presentSpent(deps, store.read, found.key)
  return { object: 'key_check' as const, known: key !== null, key }
}

/**
 * `PUT /keys/{id}`: changes the members in the body, null clears. Throws 404, 403 `missing_scope` for scopes the caller
 * lacks, 400 for limits above the tier and for invalid origins and times. Throws 403 `forbidden` when a key widens its
 * own bounds, or changes another key's while it has bounds itself.
 */
const updateKey = (deps: KeyDeps, call: Call<Caller>, ref: string, patch: KeyPatch): Promise<ApiKey> =>
  deps.store.write((tx) => updateIn(deps, tx, call, ref, patch))

/** Like `updateKey`, inside the caller's transaction. A body without members changes nothing. */
async function updateIn(deps: KeyDeps, tx: Tx, call: Call<Caller>, ref: string, patch: KeyPatch): Promise<ApiKey> {
  const { caller } = call
  const before = await findKeyLocked(deps, tx, caller, ref)
  const { scopes = [] } = patch
  if (caller.type !== 'operator')
    assertGrantable(
      caller,
      scopes.filter((scope) => !before.scopes.includes(scope)),
    )
  const change = readPatch(patch, deps.clock.now())
  if (caller.type === 'key') assertNotWidened(caller, before, change, await keyInUse(tx, caller))
  assertWithinTier(change, before.tier, deps.limitsOf(before.tier))
  const fields = Object.keys(change)
  if (!fields.length) return presentSpent(deps, tx, before)
  const row = await rows.update(tx, before.id, change)
  await recordChange(deps, tx, call, row, { action: 'key.updated', fields })
  return presentSpent(deps, tx, row)
}

/** Picks the fields a tenant may change, so that nothing else in a body reaches the row. */
function readPatch(patch: KeyPatch, now: number): Partial<KeyRow> {
  const { name, scopes, rpm_limit, tpm_limit, daily_cap_cents, monthly_cap_cents, chat_parameters } = patch
  const change: Partial<KeyRow> = {
    name,
    scopes: scopes && unique(scopes),
    rpm_limit,
    tpm_limit,
    daily_cap_cents,
    monthly_cap_cents,
    chat_parameters,
    allowed_origins: patch.allowed_origins && readOrigins(patch.allowed_origins),
    brand_soul: patch.brand_soul ? readBrandSoul(patch.brand_soul) : patch.brand_soul,
    expires_at: patch.expires_at === undefined ? undefined : readExpiry(patch.expires_at, now),
  }
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
}

/**
 * `POST /keys/{id}/rotate`: only this answer contains the new secret. The old one works until the grace period ends;
 * with 0 it stops at once. Secrets of earlier rotations expire with the last one. Throws 404, 403 `missing_scope` when
 * the key has scopes the caller's key lacks, 403 `forbidden` for a colleague's key and when a key with bounds rotates
 * another key, 409 `conflict` for a key that is revoked or expired.
 */
const rotateKey = (
  deps: KeyDeps,
  call: Call<Caller>,
  ref: string,
  { grace_period_seconds = DEFAULT_GRACE_S }: KeyRotation = {},
): Promise<RotatedKey> =>
  deps.store.write(async (tx) => {
    const { caller } = call
    const before = await findKeyLocked(deps, tx, caller, ref)
    if (caller.type !== 'operator') {
      assertRotatable(caller, before)
      if (keyIdOf(caller) !== before.id) await assertUnbound(tx, caller, 'rotate other keys')
    }
    const now = deps.clock.now()
    if (!isLive(before, now))
      throw before.revoked_at === null
        ? keyErrors.keyHasEnded('expired', iso(before.expires_at!))
        : keyErrors.keyHasEnded('was revoked', iso(before.revoked_at))
    const secret = mintSecret(before.prefix.startsWith(KEY_LABELS.test) ? KEY_LABELS.test : KEY_LABELS.live)
    const until = Math.min(now + grace_period_seconds * 1000, before.expires_at ?? Infinity)
    await rows.replaceSecret(tx, before.id, secret.hash, { now, until })
    const row = await rows.update(tx, before.id, { prefix: secret.prefix, rotating_until: until > now ? until : null })
    await recordChange(deps, tx, call, row, { action: 'key.rotated', metadata: { grace_period_seconds } })
    const shown = await presentSpent(deps, tx, row)
    return storeAnswer(tx, call, { ...shown, key: secret.token, previous_key_expires_at: iso(until) })
  })

/** `DELETE /keys/{id}`: the key stops working before this returns. A second call changes nothing. Throws 404. */
const revokeKey = (deps: KeyDeps, call: Call<Caller>, ref: string): Promise<ApiKey> =>
  deps.store.write(async (tx) => {
    const before = await findKey(deps, tx, call.caller, ref)
    return presentSpent(deps, tx, (await revoke(deps, tx, call, before.id)) ?? before)
  })

async function revoke(deps: KeyDeps, tx: Tx, call: Call<Caller>, id: KeyId): Promise<KeyRow | undefined> {
  const row = await rows.revoke(tx, id, deps.clock.now())
  if (row) await recordChange(deps, tx, call, row, { action: 'key.revoked' })
  return row
}

/** Revokes the keys of a deleted org, or the org keys of a member who leaves it. */
async function revokeAll(
  deps: KeyDeps,
  tx: Tx,
  { call, ...owner }: { orgId: OrgId; userId?: UserId; call: Call<Caller> },
): Promise<void> {
  const unrevoked = () => rows.search(tx, { ...owner, unrevoked: true }, { limit: AT_ONCE })
  for (let { items } = await unrevoked(); items.length; { items } = await unrevoked())
    for (const { id } of items) await revoke(deps, tx, call, id)
}

/** The keys whose tier changes: one key, or every personal key of a user. */
export type TierSubject = { keyId: KeyId } | { userId: UserId }

/** A key as the limits module sees it. That module owns tiers and records their changes. */
export type TieredKey = { id: KeyId; tier: Tier; scope: OwnerScope }

/** The working keys of a subject, lowest tier first. */
async function tieredKeys({ clock }: KeyDeps, reader: Reader, subject: TierSubject): Promise<TieredKey[]> {
  const found = await rows.inForce(reader, subject, clock.now())
  return found
    .map((row) => ({ id: row.id, tier: row.tier, scope: ownerOfKey(row) }))
    .sort((a, b) => TIERS.indexOf(a.tier) - TIERS.indexOf(b.tier))
}

/** Sets a tier. It applies from the key's next request on. */
async function setTier({ lookup }: KeyDeps, tx: Tx, id: KeyId, tier: Tier): Promise<void> {
  await rows.update(tx, id, { tier })
  const hashes = await rows.hashesOf(tx, id)
  tx.afterCommit(() => hashes.forEach(lookup.forget))
}

/**
 * The caller of a session that acts with a key (`X-Svc-As-Key`). The user must have created the key or hold
 * `manageApiKeys` in its organization. Throws 404 for every other key, and for one that does not work.
 */
async function actingAs(
  { store: { read }, orgs, lookup }: KeyDeps,
  { userId, sessionId }: SessionCaller,
  id: string,
): Promise<KeyCaller> {
  const row = KeyId.is(id) ? await rows.find(read, 'everyone', id) : undefined
  const role = row?.org_id && row.user_id !== userId ? await orgs.roleOf(read, row.org_id, userId) : null
  const isTheirs = row?.user_id === userId || mayDo(role, 'manageApiKeys')
  const found = row && isTheirs ? await lookup.unattended(row.id) : null
  if (!found) throw keyErrors.keyNotFound()
  const [secretHash = null] = await rows.hashesOf(read, found.keyId)
  return { ...found, userId, sessionId, secretHash, allowedOrigins: [] }
}
