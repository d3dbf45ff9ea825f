import { POLICY_ID } from './guardrails-columns'
import { applyPolicies } from './policies-apply'
import { defaultVerbs } from './policies-default'
import { exportPolicies } from './policies-export'

/** Commands common to guardrail policies and routing preferences (dx 2.10). */
export const policyCommands = [...defaultVerbs('policies', POLICY_ID), applyPolicies, exportPolicies]
