import { iso } from '../kernel/clock'
import { defineResource, type Facts, scopeOf } from '../resource'
import { guardrailSettings } from './config'
import * as words from './schema'
import { guardrailPolicies, type PolicyRow } from './table'

/** Guardrail policies (docs/api.md 12). */
export const guardrailPolicy = defineResource({
  name: 'guardrail_policy',
  title: { one: 'guardrail policy', many: 'guardrail policies' },
  path: '/guardrail-policies',
  plural: 'guardrail_policies',
  table: guardrailPolicies,
  id: words.GuardrailPolicyId,
  words: {
    New: words.NewPolicy,
    Patch: words.PolicyPatch,
    View: words.GuardrailPolicy,
    Query: words.PolicyQuery,
    Page: words.PolicyPage,
  },
  summaries: {
    create: 'Create a guardrail policy, not yet bound to a key',
    list: "List your guardrail policies and your active organization's, newest first",
    get: 'Read one guardrail policy',
    update: 'Change a guardrail policy with immediate effect; "rules" replaces all rules',
    remove: 'Delete a guardrail policy and unbind it from its keys',
  },
  owned: 'either',
  reach: 'active org',
  permission: 'manageWebhooks',
  holds: ['description', 'config'],
  max: guardrailSettings.maxPolicies,
  boundTo: { column: 'guardrail_policy_id', contains: true },
  empty: { description: null, rules: [], is_default: false },
  present: (row: PolicyRow, { boundKeys }: Facts): words.GuardrailPolicy => ({
    id: row.id,
    object: 'guardrail_policy',
    name: row.name,
    description: row.description,
    rules: row.rules,
    scope: scopeOf(row),
    org_id: row.org_id,
    is_default: row.is_default,
    bound_key_count: boundKeys,
    created: iso(row.created_at),
    updated: iso(row.updated_at),
  }),
})
