import { sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import type { OrgId, UserId } from '../kernel/ids'
import { defineTable, type Row } from '../kernel/store'
import type { Floors, PreferenceId, PreferenceScope, RoutingExample, RoutingRule } from './schema'
import type { CorrectionId } from './schema-corrections'

export const routingPreferences = defineTable((k) =>
  k.table(
    'routing_preferences',
    {
      id: k.text('id').$type<PreferenceId>().primaryKey(),
      /** The person or, for a team preference, the org. */
      owner: k.text('owner').$type<OwnerScope>().notNull(),
      /** The user who made it. */
      user_id: k.text('user_id').$type<UserId>().notNull(),
      org_id: k.text('org_id').$type<OrgId>(),
      scope: k.text('scope').$type<PreferenceScope>().notNull(),
      name: k.text('name').notNull(),
      description: k.text('description'),
      rules: k.json<RoutingRule[]>('rules').notNull(),
      examples: k.json<RoutingExample[]>('examples').notNull(),
      floors: k.json<Floors>('floors').notNull(),
      is_default: k.bool('is_default').notNull(),
      created_at: k.ms('created_at').notNull(),
      updated_at: k.ms('updated_at').notNull(),
    },
    (t) => [
      k.index('routing_preferences_by_owner').on(t.owner, t.created_at, t.id),
      k.index('routing_preferences_by_age').on(t.created_at, t.id),
      // At most one default per owner, also with concurrent requests (contract 13).
      k.uniqueIndex('routing_preferences_default').on(t.owner).where(sql`${t.is_default}`),
    ],
  ),
)
export type PreferenceRow = Row<typeof routingPreferences>

/** Corrections by callers: the mode that a prompt should have got. */
export const routingCorrections = defineTable((k) =>
  k.table(
    'routing_corrections',
    {
      id: k.text('id').$type<CorrectionId>().primaryKey(),
      owner: k.text('owner').$type<OwnerScope>().notNull(),
      user_id: k.text('user_id').$type<UserId>().notNull(),
      completion_id: k.text('completion_id'),
      /** Null when only the completion was named and its prompt is not kept. */
      prompt: k.text('prompt'),
      resolved_mode: k.text('resolved_mode'),
      expected_mode: k.text('expected_mode').notNull(),
      /** Time of the completion, if `auto` chose another mode than the expected one; else null. */
      wrong_at: k.ms('wrong_at'),
      expected_engine: k.text('expected_engine'),
      note: k.text('note'),
      created_at: k.ms('created_at').notNull(),
    },
    (t) => [
      k.index('routing_corrections_by_owner').on(t.owner, t.created_at, t.id),
      k.index('routing_corrections_by_mode').on(t.owner, t.expected_mode, t.created_at, t.id),
    ],
  ),
)
export type CorrectionRow = Row<typeof routingCorrections>
