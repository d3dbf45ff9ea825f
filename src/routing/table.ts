import type { OwnerScope } from '../kernel/caller'
import type { UserId } from '../kernel/ids'
import { defineTable, type Row } from '../kernel/store'
import { ownedColumns, ownedIndexes } from '../resource'
import type { CorrectionId, Floors, PreferenceId, RoutingExample, RoutingRule } from './schema'

export const routingPreferences = defineTable(
  'routing_preferences',
  (k) => ({
    ...ownedColumns<PreferenceId>(k),
    description: k.text('description'),
    rules: k.json<RoutingRule[]>('rules').notNull(),
    examples: k.json<RoutingExample[]>('examples').notNull(),
    floors: k.json<Floors>('floors').notNull(),
    is_default: k.bool('is_default').notNull(),
  }),
  (t, k) => ownedIndexes(k, 'routing_preferences', t),
)
export type PreferenceRow = Row<typeof routingPreferences>

/** Corrections by callers: the mode that a prompt should have got. */
export const routingCorrections = defineTable(
  'routing_corrections',
  (k) => ({
    id: k.text('id').$type<CorrectionId>().primaryKey(),
    owner: k.text('owner').$type<OwnerScope>().notNull(),
    user_id: k.text('user_id').$type<UserId>().notNull(),
    completion_id: k.text('completion_id'),
    /** Null when only the completion was named and its prompt is not stored. */
    prompt: k.text('prompt'),
    resolved_mode: k.text('resolved_mode'),
    expected_mode: k.text('expected_mode').notNull(),
    /** Time of the completion, if `auto` chose a mode other than the expected one. Else null. */
    wrong_at: k.ms('wrong_at'),
    expected_engine: k.text('expected_engine'),
    note: k.text('note'),
    created_at: k.ms('created_at').notNull(),
  }),
  (t, k) => [
    k.index('routing_corrections_by_owner').on(t.owner, t.created_at, t.id),
    k.index('routing_corrections_by_mode').on(t.owner, t.expected_mode, t.created_at, t.id),
  ],
)
export type CorrectionRow = Row<typeof routingCorrections>
