import { defineTable, type Row } from '../kernel/store'
import { ownedColumns, ownedIndexes } from '../resource'
import type { GuardrailPolicyId, GuardrailRule } from './schema'

export const guardrailPolicies = defineTable(
  'guardrail_policies',
  (k) => ({
    ...ownedColumns<GuardrailPolicyId>(k),
    description: k.text('description'),
    rules: k.json<GuardrailRule[]>('rules').notNull(),
    is_default: k.bool('is_default').notNull(),
  }),
  (t, k) => ownedIndexes(k, 'guardrail_policies', t),
)
export type PolicyRow = Row<typeof guardrailPolicies>
