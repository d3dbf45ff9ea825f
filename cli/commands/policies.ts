import { POLICY_ID } from './guardrails-columns'
import { applyPolicies } from './policies-apply'
import { defaultVerbs } from './policies-default'
import { exportPolicies } from './policies-export'

/** What guardrail policies and routing preferences have in common (dx 2.10). */
export const policyCommands = [...defaultVerbs('policies', POLICY_ID), applyPolicies, exportPolicies]
