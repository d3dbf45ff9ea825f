import { sql } from 'drizzle-orm'
import type { OwnerScope, Tier } from '../kernel/caller'
import type { KeyId, UserId } from '../kernel/ids'
import { defineTable, type Row } from '../kernel/store'
import type { IncreaseId, IncreaseStatus } from './schema'
import type { WindowName } from './window'

/** Requests for a higher tier and their outcome. */
export const limitIncreases = defineTable(
  'limit_increases',
  (k) => ({
    id: k.text('id').$type<IncreaseId>().primaryKey(),
    /** What the request is about: `key:ID`, or `user:ID` for all personal keys of a user. */
    subject: k.text('subject').notNull(),
    scope: k.text('scope').$type<OwnerScope>().notNull(),
    user_id: k.text('user_id').$type<UserId>().notNull(),
    key_id: k.text('key_id').$type<KeyId>(),
    current_tier: k.text('current_tier').$type<Tier>().notNull(),
    requested_tier: k.text('requested_tier').$type<Tier>().notNull(),
    use_case: k.text('use_case').notNull(),
    expected_volume: k.text('expected_volume').notNull(),
    status: k.text('status').$type<IncreaseStatus>().notNull(),
    /** The granted tier, which may differ from the requested one. */
    granted_tier: k.text('granted_tier').$type<Tier>(),
    reason: k.text('reason'),
    created_at: k.ms('created_at').notNull(),
    decided_at: k.ms('decided_at'),
  }),
  (t, k) => [
    k.uniqueIndex('limit_increases_one_pending').on(t.subject).where(sql`${t.status} = 'pending'`),
    k.index('limit_increases_by_age').on(t.created_at, t.id),
    k.index('limit_increases_by_status').on(t.status, t.created_at, t.id),
  ],
)
export type IncreaseRow = Row<typeof limitIncreases>

/** What each node admitted per window and second. Empty if a single process counts alone. */
export const rateCounts = defineTable(
  'rate_counts',
  (k) => ({
    subject: k.text('subject').notNull(),
    name: k.text('name').$type<WindowName>().notNull(),
    node: k.text('node').notNull(),
    /** Start of the second by the database's clock. */
    second: k.ms('second').notNull(),
    weight: k.int('weight').notNull(),
    /** The part of `weight` that Redis does not know. */
    apart: k.int('apart').notNull(),
  }),
  (t, k) => [
    k.primaryKey({ columns: [t.subject, t.name, t.node, t.second] }),
    k.index('rate_counts_by_second').on(t.second),
  ],
)
