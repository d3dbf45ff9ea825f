import { defineTable, type Row } from '../kernel/store'
import { ownedColumns, ownedIndexes } from '../resource'
import type { GuardrailPolicyId, GuardrailRule } from './schema'

export const guardrailPolicies = defineTable((k) =>
  k.table(
    'guardrail_policies',
    {
      ...ownedColumns<GuardrailPolicyId>(k),
      description: k.text('description'),
      rules: k.json<GuardrailRule[]>('rules').notNull(),
      is_default: k.bool('is_default').notNull(),
    },
    (t) => ownedIndexes(k, 'guardrail_policies', t),
  ),
)
export type PolicyRow = Row<typeof guardrailPolicies>
