import { storeAnswer } from '../../../idempotency'
import { type Call, SCOPES, type TenantCaller, type Tier } from '../../../kernel/caller'
import { atField, invalidInput, notFound } from '../../../kernel/errors'
import { KeyId, OrgId, type UserId } from '../../../kernel/ids'
import type { Tx } from '../../../kernel/store'
import { orgRequired, personalFromOrgKey, tooManyKeys } from '../errors'
import { NOTHING_SPENT, present } from '../present'
import { keyRepository as rows } from '../repository'
import { assertGrantable, assertWithinTier, readBrandSoul, readExpiry, readOrigins, unique } from '../rules'
import type { ApiKeyWithSecret, NewKey } from '../schema'
import type { KeyRow } from '../table'
import { KEY_LABELS, mintSecret } from '../token'
import { assertUnbound } from './bounds'
import { type KeyDeps, recordChange } from './deps'

const DEFAULT_NAME = 'API Key'

/** Every key starts on the free tier; only an operator or an approved increase raises it (contract 20). */
const FIRST_TIER: Tier = 'free'

/**
 * `POST /keys`: the only answer that contains the secret. Throws 403 `missing_scope` for scopes the caller lacks,
 * 403 `forbidden` without `manageApiKeys` and for a key that has bounds, 400 `org_required`, 404 for a foreign org, 409
 * `conflict` when the owner has as many keys as allowed.
 */
export const createKey =
  (deps: KeyDeps) =>
  async (call: Call, input: NewKey): Promise<ApiKeyWithSecret> => {
    const scopes = unique(input.scopes ?? SCOPES)
    assertGrantable(call.caller, scopes)
    const secret = mintSecret(input.test ? KEY_LABELS.test : KEY_LABELS.live)
    return deps.store.write(async (tx) => {
      await assertUnbound(tx, call.caller, 'create keys')
      const orgId = await orgOfNewKey(deps, tx, call.caller, input)
      const { userId } = call.caller
      // Limits are per key, so the number of keys is bounded too. The owner is locked: concurrent requests count each other.
      const owner = { userId, orgId }
      await deps.orgs.lockOwner(tx, owner)
      const max = owner.orgId ? deps.settings.maxKeysPerOrg : deps.settings.maxKeysPerPerson
      if ((await rows.unrevoked(tx, owner)) >= max) throw tooManyKeys(owner.orgId ? 'organization' : 'person', max)
      const row = newRow(deps, secret.prefix, { ...input, scopes, userId, orgId, tier: FIRST_TIER })
      await rows.insert(tx, row, secret.hash)
      await recordChange(deps, tx, call, row, { action: 'key.created' })
      return storeAnswer(tx, call, { ...present(row, NOTHING_SPENT, row.created_at), key: secret.token })
    })
  }

export type KeyInput = Omit<NewKey, 'scope' | 'org_id' | 'test'> & {
  scopes: KeyRow['scopes']
  userId: UserId
  orgId: OrgId | null
  tier: Tier
}

/** The row of a new key, after permissions were checked. Throws 400 for invalid limits, origins and times. */
export function newRow({ clock, limitsOf }: KeyDeps, prefix: string, input: KeyInput): KeyRow {
  assertWithinTier(input, input.tier, limitsOf(input.tier))
  const now = clock.now()
  return {
    id: KeyId.create(),
    user_id: input.userId,
    org_id: input.orgId,
    name: input.name ?? DEFAULT_NAME,
    prefix,
    scopes: input.scopes,
    tier: input.tier,
    rpm_limit: input.rpm_limit ?? null,
    tpm_limit: input.tpm_limit ?? null,
    daily_cap_cents: input.daily_cap_cents ?? null,
    monthly_cap_cents: input.monthly_cap_cents ?? null,
    allowed_origins: readOrigins(input.allowed_origins ?? []),
    brand_soul: input.brand_soul ? readBrandSoul(input.brand_soul) : null,
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
async function orgOfNewKey({ orgs }: KeyDeps, tx: Tx, caller: TenantCaller, input: NewKey) {
  const named = input.org_id ?? null
  const isPersonal = input.scope === undefined ? named === null && !caller.orgId : input.scope === 'personal'
  if (isPersonal) {
    if (named !== null)
      throw invalidInput('org_id', '"org_id" was sent for a personal key. Leave it out, or send "scope":"org".')
    if (caller.orgId) throw personalFromOrgKey()
    return null
  }
  const wanted = named ?? caller.activeOrgId
  if (wanted === null) throw atField(orgRequired(), 'scope')
  const isTheirs = OrgId.is(wanted) && (await orgs.roleOf(tx, wanted, caller.userId)) !== null
  if (!isTheirs || (caller.orgId && caller.orgId !== wanted)) throw notFound('organization')
  // Whoever leaves the org loses their keys of it: locked, so that none is made beside that.
  await orgs.lock(tx, wanted)
  await orgs.assertPermission(tx, caller, 'manageApiKeys', wanted)
  return wanted
}
