import { ownerOf, type TenantCaller } from '../../kernel/caller'
import { orgDeleted } from '../../orgs'
import { createGuard, type Guard } from '../guard'
import { createRuleRunner } from '../inspection/runner'
import type { CompiledPolicy } from '../policy/compile-policy'
import { createPolicyLookup } from '../policy/lookup'
import { policyRepository as rows } from '../repository'
import type { EngineOpinion } from '../second-look/engine-opinion'
import { bindPolicy } from './bind'
import { type PolicyDeps, recordChange } from './deps'
import { createManage } from './manage'
import { createScreen } from './screen'
import { createTryOut } from './try-out'

export type GuardrailService = ReturnType<typeof createGuardrails>

type Deps = Omit<PolicyDeps, 'lookup'> & { opinion: EngineOpinion | null }

/** Guardrail policies: kept, tried out, bound to keys, and in force in runs. */
export function createGuardrails({ opinion, ...rooms }: Deps) {
  const runner = createRuleRunner(opinion)
  const deps: PolicyDeps = { ...rooms, lookup: createPolicyLookup(rooms) }
  endWithOrg(deps)
  const { createFor, listOf, ...manage } = createManage(deps)
  const { catalogue, evaluate } = createTryOut({ ...deps, runner })
  const { get, update, remove } = manage
  return {
    ...manage,
    catalogue,
    evaluate,
    /** For operators: anyone's policies (dx 2.10). */
    operator: { createFor, listOf, get, update, remove, catalogue, evaluate },
    bind: bindPolicy(deps),
    screen: createScreen({ lookup: deps.lookup, runner }),

    /** The guard of one run; null for a caller without a policy. Without a promise when the policy is remembered. */
    guardOf(caller: TenantCaller): Guard | null | Promise<Guard | null> {
      const found = deps.lookup.policyOf(caller)
      const guardBy = (policy: CompiledPolicy | null) => policy && createGuard(policy, runner, ownerOf(caller))
      return found instanceof Promise ? found.then(guardBy) : guardBy(found)
    },
  }
}

/** Deletes the policies of an organization with it. */
function endWithOrg(deps: PolicyDeps): void {
  deps.events.inTransaction(orgDeleted, async (tx, { data: { orgId, call } }) => {
    for (const row of await rows.ofOrg(tx, orgId)) {
      await rows.remove(tx, row.id)
      await recordChange(deps, tx, call, row, { action: 'guardrail_policy.deleted' })
    }
  })
}
