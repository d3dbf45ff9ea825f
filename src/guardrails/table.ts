import type { OwnerScope } from '../kernel/caller'
import type { OrgId, UserId } from '../kernel/ids'
import { defineTable, type Row } from '../kernel/store'
import type { GuardrailPolicyId, GuardrailRule } from './schema'

export const guardrailPolicies = defineTable((k) =>
  k.table(
    'guardrail_policies',
    {
      id: k.text('id').$type<GuardrailPolicyId>().primaryKey(),
      owner: k.text('owner').$type<OwnerScope>().notNull(),
      /** Who made it. */
      user_id: k.text('user_id').$type<UserId>().notNull(),
      /** Null for a personal policy. */
      org_id: k.text('org_id').$type<OrgId>(),
      name: k.text('name').notNull(),
      description: k.text('description'),
      rules: k.json<GuardrailRule[]>('rules').notNull(),
      /** The owner whose default it is; null when it is none. One an owner, by the index. */
      default_of: k.text('default_of').$type<OwnerScope>(),
      created_at: k.ms('created_at').notNull(),
      updated_at: k.ms('updated_at').notNull(),
    },
    (t) => [
      k.index('guardrail_policies_by_owner').on(t.owner, t.created_at, t.id),
      k.index('guardrail_policies_by_age').on(t.created_at, t.id),
      k.uniqueIndex('guardrail_policies_one_default').on(t.default_of),
    ],
  ),
)
export type PolicyRow = Row<typeof guardrailPolicies>
