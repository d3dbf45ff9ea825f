import { ownerOf, type TenantCaller } from '../../kernel/caller'
import { orgDeleted } from '../../orgs'
import { createGuard, type Guard } from '../guard'
import { createJudge } from '../judges'
import type { Opinion } from '../opinion'
import { policyRepository as rows } from '../repository'
import { createResolve } from '../resolve'
import { bindPolicy } from './bind'
import { type PolicyDeps, recordChange } from './deps'
import { createManage } from './manage'
import { createTryOut } from './try-out'

export type GuardrailService = ReturnType<typeof createGuardrails>

/** Guardrails: policies kept, tried out and bound to keys, and asked at run time. */
export function createGuardrails({ opinion, ...rooms }: Omit<PolicyDeps, 'resolve'> & { opinion: Opinion | null }) {
  const judge = createJudge(opinion)
  const deps: PolicyDeps = { ...rooms, resolve: createResolve(rooms) }
  endWithOrg(deps)
  const { createFor, listOf, ...manage } = createManage(deps)
  const { catalogue, evaluate } = createTryOut({ ...deps, judge })
  const { get, update, remove } = manage
  return {
    ...manage,
    ...{ catalogue, evaluate },
    /** For operators: anyone's policies (dx 2.10). */
    operator: { createFor, listOf, get, update, remove, catalogue, evaluate },
    bind: bindPolicy(deps),

    /** The guard of one run; null for a caller without a policy. At once when the policy is remembered. */
    guardOf(caller: TenantCaller): Guard | null | Promise<Guard | null> {
      const found = deps.resolve.policyOf(caller)
      if (found instanceof Promise) return found.then((policy) => policy && createGuard(policy, judge, ownerOf(caller)))
      return found && createGuard(found, judge, ownerOf(caller))
    },
  }
}

/** An org's policies end with it. */
function endWithOrg(deps: PolicyDeps): void {
  deps.events.inTransaction(orgDeleted, async (tx, { data: { orgId, call } }) => {
    for (const row of await rows.ofOrg(tx, orgId)) {
      await rows.remove(tx, row.id)
      await recordChange(deps, tx, call, row, { action: 'guardrail_policy.deleted' })
    }
  })
}
