import type { Call } from '../../kernel/caller'
import type { Tx } from '../../kernel/store'
import type { ApiKey } from '../../keys/schema'
import { foreignToKey } from '../errors'
import type { GuardrailBinding } from '../schema'
import type { PolicyRow } from '../table'
import { findLocked, type PolicyDeps } from './deps'

/**
 * `PUT /keys/{id}/guardrails`: in force for the next request. Throws 404 for a key or a policy that is not the
 * caller's, 400 `validation_error` where the two belong to different owners.
 */
export const bindPolicy =
  ({ store, keys }: Pick<PolicyDeps, 'store' | 'keys'>) =>
  (call: Call, keyId: string, { guardrail_policy_id: id }: GuardrailBinding): Promise<ApiKey> =>
    store.write((tx: Tx) =>
      keys.bindings.set(tx, call, keyId, async ({ userId, orgId }) => {
        if (id === null) return { guardrail_policy_id: null }
        const policy = await findLocked(tx, call.caller, id)
        assertSameOwner(policy, userId, orgId)
        return { guardrail_policy_id: policy.id }
      }),
    )

function assertSameOwner({ owner, org_id }: PolicyRow, userId: string, orgId: string | null): void {
  if (owner === (orgId ? `org:${orgId}` : `user:${userId}`)) return
  throw foreignToKey(
    org_id
      ? '"guardrail_policy_id" is a team policy, but the key does not belong to its organization. Bind a personal policy, or use a key of the organization.'
      : '"guardrail_policy_id" is a personal policy, but the key belongs to an organization. Create the policy with "scope":"team".',
  )
}
