import type { Call, Caller } from '../../../kernel/caller'
import type { KeyId } from '../../../kernel/ids'
import type { Tx } from '../../../kernel/store'
import { keyRepository as rows } from '../repository'
import {
  assertGrantable,
  assertNotWidened,
  assertWithinTier,
  readBrandSoul,
  readExpiry,
  readOrigins,
  unique,
} from '../rules'
import type { ApiKey, KeyPatch } from '../schema'
import type { KeyRow } from '../table'
import { keyInUse } from './bounds'
import { type KeyDeps, recordChange } from './deps'
import { findOwn, findOwnLocked, presentSpent } from './read'

/**
 * `PUT /keys/{id}`: changes what the body names, null clears. Throws 404, 403 `missing_scope` for scopes the caller
 * lacks, 403 `forbidden` for a key that widens its own bounds, or another key's while it has bounds, 400 for limits
 * above the tier and for invalid origins and times.
 */
export const updateKey =
  (deps: KeyDeps) =>
  (call: Call, id: string, patch: KeyPatch): Promise<ApiKey> =>
    deps.store.write(async (tx) => {
      const before = await findOwnLocked(deps, tx, call.caller, id)
      assertGrantable(call.caller, added(patch.scopes ?? [], before.scopes))
      return presentSpent(deps, tx, await changeIn(deps, tx, call, before, patch))
    })

/** The same for a key the caller is already known to manage. A body without members changes nothing. */
export async function changeIn(
  deps: KeyDeps,
  tx: Tx,
  call: Call<Caller>,
  before: KeyRow,
  patch: KeyPatch,
): Promise<KeyRow> {
  const change = readPatch(patch, deps.clock.now())
  const { caller } = call
  if (caller.type === 'key') assertNotWidened(caller, before, change, await keyInUse(tx, caller))
  assertWithinTier(change, before.tier, deps.limitsOf(before.tier))
  const fields = Object.keys(change)
  if (!fields.length) return before
  const row = await rows.update(tx, before.id, change)
  await recordChange(deps, tx, call, row, { action: 'key.updated', fields })
  return row
}

/** `DELETE /keys/{id}`: the key stops working before this returns. Revoking it again has no further effect. Throws 404. */
export const revokeKey =
  (deps: KeyDeps) =>
  (call: Call, id: string): Promise<{ revoked: true; id: KeyId }> =>
    deps.store.write(async (tx) => {
      const before = await findOwn(deps, tx, call.caller, id)
      const row = await rows.revoke(tx, before.id, deps.clock.now())
      if (row) await recordChange(deps, tx, call, row, { action: 'key.revoked' })
      return { revoked: true, id: before.id }
    })

/** Picks the fields a tenant may change, so that nothing else in a body reaches the row (E). */
function readPatch(patch: KeyPatch, now: number): Partial<KeyRow> {
  const { name, scopes, rpm_limit, tpm_limit, daily_cap_cents, monthly_cap_cents } = patch
  const change: Partial<KeyRow> = {
    name,
    scopes: scopes && unique(scopes),
    rpm_limit,
    tpm_limit,
    daily_cap_cents,
    monthly_cap_cents,
    allowed_origins: patch.allowed_origins && readOrigins(patch.allowed_origins),
    brand_soul: patch.brand_soul ? readBrandSoul(patch.brand_soul) : patch.brand_soul,
    expires_at: patch.expires_at === undefined ? undefined : readExpiry(patch.expires_at, now),
  }
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
}

const added = <T>(after: readonly T[], before: readonly T[]): T[] => after.filter((item) => !before.includes(item))
