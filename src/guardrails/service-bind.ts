import type { KeyBindings } from '../accounts'
import type { ApiKey } from '../accounts/keys/schema'
import { type Call, ownerOf } from '../kernel/caller'
import type { Store } from '../kernel/store'
import { foreignToKey } from './errors'
import type { GuardrailBinding } from './schema'
import type { Policies } from './service'

type Deps = { store: Store; bindings: KeyBindings; policies: Policies }

/**
 * `PUT /keys/{id}/guardrails`: in force for the next request. Throws 404 for a key or a policy that is not the
 * caller's, 400 `validation_error` where the two belong to different owners.
 */
export const bindPolicy =
  ({ store, bindings, policies }: Deps) =>
  (call: Call, keyId: string, { guardrail_policy_id: id }: GuardrailBinding): Promise<ApiKey> =>
    store.write((tx) =>
      bindings.set(tx, call, keyId, async (key) => {
        if (id === null) return { guardrail_policy_id: null }
        const policy = await policies.findLocked(tx, call.caller, id)
        if (policy.owner !== ownerOf(key)) throw foreignToKey(policy.org_id ? TEAMS : PERSONAL)
        return { guardrail_policy_id: policy.id }
      }),
    )

const TEAMS =
  '"guardrail_policy_id" is a team policy, but the key does not belong to its organization. Bind a personal policy, or use a key of the organization.'
const PERSONAL =
  '"guardrail_policy_id" is a personal policy, but the key belongs to an organization. Create the policy with "scope":"team".'
