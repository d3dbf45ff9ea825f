import type { KeyBindings } from '../accounts'
import { ownerOf, type TenantCaller } from '../kernel/caller'
import type { Values } from '../kernel/config'
import { createResource, type Resource, type ResourceDeps } from '../resource'
import type { guardrailSettings } from './config'
import { createGuard, type Guard } from './guard'
import { createRuleRunner } from './inspection-runner'
import type { CompiledPolicy } from './policy-compile-policy'
import { createPolicyLookup } from './policy-lookup'
import { validateContent } from './policy-validate'
import { guardrailPolicy } from './resource'
import type { EngineOpinion } from './second-look-engine-opinion'
import { bindPolicy } from './service-bind'
import { createScreen } from './service-screen'
import { createTryOut } from './service-try-out'

export type GuardrailService = ReturnType<typeof createGuardrails>
export type Policies = Resource<typeof guardrailPolicy>

type Deps = {
  resources: ResourceDeps
  bindings: KeyBindings
  settings: Pick<Values<typeof guardrailSettings>, 'maxPolicies'>
  opinion: EngineOpinion | null
}

/** Guardrail policies: kept, tried out, bound to keys, and in force in runs. */
export function createGuardrails({ resources, bindings, settings, opinion }: Deps) {
  const { store } = resources
  const runner = createRuleRunner(opinion)
  const lookup = createPolicyLookup(resources)
  const policies = createResource(resources, guardrailPolicy, {
    max: settings.maxPolicies,
    read: async ({ name, description, rules, is_default }) => ({
      name,
      description,
      rules: await validateContent({ name, description, rules }),
      is_default,
    }),
    changed: (tx, { row }) => tx.afterCommit(() => lookup.forget(row)),
  })
  return {
    policies,
    ...createTryOut({ store, policies, runner }),
    bind: bindPolicy({ store, bindings, policies }),
    screen: createScreen({ lookup, runner }),

    /** The guard of one run; null for a caller without a policy. Without a promise when the policy is remembered. */
    guardOf(caller: TenantCaller): Guard | null | Promise<Guard | null> {
      const found = lookup.policyOf(caller)
      const guardBy = (policy: CompiledPolicy | null) => policy && createGuard(policy, runner, ownerOf(caller))
      return found instanceof Promise ? found.then(guardBy) : guardBy(found)
    },
  }
}
