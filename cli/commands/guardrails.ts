import { guardrailsOver } from '../rule-sets-plane'
import { POLICY_ID, policyColumns } from './guardrails-columns'
import { diffPolicy, evaluateText, listBuiltins } from './guardrails-look'
import { testPolicy } from './guardrails-test'
import { defaultVerbs } from './policies-default'
import { ruleSetVerbs } from './rule-set-verbs'

/** Guardrail policies (dx 2.10); also as `policies guardrails`. */
export const guardrailCommands = [
  ...ruleSetVerbs({
    noun: 'guardrails',
    what: 'guardrail policy',
    many: 'guardrail policies',
    columns: policyColumns,
    id: POLICY_ID,
    file: 'policy.yaml',
    flag: '--guardrails',
    plane: guardrailsOver,
    holds: (key, id) => key.guardrail_policy_id === id,
  }),
  ...defaultVerbs('guardrails', POLICY_ID),
  listBuiltins,
  evaluateText,
  testPolicy,
  diffPolicy,
]
