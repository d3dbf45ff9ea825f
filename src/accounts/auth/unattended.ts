import type { SessionCaller, TenantCaller } from '../../kernel/caller'
import type { KeyId, OrgId, UserId } from '../../kernel/ids'
import type { Store } from '../../kernel/store'
import type { KeyLookup } from '../keys/lookup'
import type { OrgService } from '../orgs/service'

type Deps = { store: Store; keys: Pick<KeyLookup, 'unattended'>; orgs: Pick<OrgService, 'standingOf'> }

/** Who stored work runs for, when no request asks for it: columns of its row. */
export type Behalf = { user_id: UserId; api_key_id: KeyId | null; active_org_id: OrgId | null }

/** Whom the work of this caller runs for, later and without a request. */
export const behalfOf = (caller: TenantCaller): Behalf => ({
  user_id: caller.userId,
  api_key_id: caller.type === 'key' ? caller.keyId : null,
  active_org_id: caller.activeOrgId,
})

export type Unattended = ReturnType<typeof createUnattended>

/**
 * Finds the caller that stored work runs as: schedules, hooks, steps of a workflow. It may do what its maker may do now:
 * null when the key is revoked or expired, the account disabled, the org closed or left (contract 1.2).
 */
export function createUnattended({ store, keys, orgs }: Deps) {
  return async function callerOf({ user_id, api_key_id, active_org_id }: Behalf): Promise<TenantCaller | null> {
    if (api_key_id !== null) return keys.unattended(api_key_id)
    const state = (await orgs.standingOf(store.read, [user_id], active_org_id ? [active_org_id] : [])).get(user_id)
    if (!state || (active_org_id !== null && !state.has(active_org_id))) return null
    return {
      type: 'session',
      userId: user_id,
      sessionId: null,
      orgId: null,
      activeOrgId: active_org_id,
    } satisfies SessionCaller
  }
}
