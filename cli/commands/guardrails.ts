import { POLICY_ID, policyColumns } from './guardrails-columns'
import { diffPolicy, evaluateText, listBuiltins } from './guardrails-look'
import { testPolicy } from './guardrails-test'
import { defaultVerbs } from './policies-default'
import { KEYS_STAY, resourceCommands } from './resource-commands'

/** Guardrail policies (dx 2.10); also as `policies guardrails`. */
export const guardrailCommands = [
  ...resourceCommands({
    path: 'guardrail-policies',
    noun: 'guardrails',
    what: 'guardrail policy',
    many: 'guardrail policies',
    columns: policyColumns,
    id: POLICY_ID,
    file: 'policy.yaml',
    arg: 'policy',
    stays: KEYS_STAY,
    bound: { flag: '--guardrails', holds: (key, id) => key.guardrail_policy_id === id },
  }),
  ...defaultVerbs('guardrails', POLICY_ID),
  listBuiltins,
  evaluateText,
  testPolicy,
  diffPolicy,
]
