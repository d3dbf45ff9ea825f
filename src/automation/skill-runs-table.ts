import type { EventId } from '../events/schema'
import type { OwnerScope } from '../kernel/caller'
import type { KeyId, UserId } from '../kernel/ids'
import { defineTable, type Row } from '../kernel/store'
import type { SkillId } from '../skills/schema'
import type { RunCause, RunStatus, SkillRunId } from './skill-runs-schema'

/** Runs that nobody asked for, kept for the limits of contract 8.1 and as a history. */
export const skillRuns = defineTable((k) =>
  k.table(
    'skill_runs',
    {
      id: k.text('id').$type<SkillRunId>().primaryKey(),
      /** Who pays. */
      owner: k.text('owner').$type<OwnerScope>().notNull(),
      user_id: k.text('user_id').$type<UserId>().notNull(),
      api_key_id: k.text('api_key_id').$type<KeyId>(),
      skill_id: k.text('skill_id').$type<SkillId>().notNull(),
      slug: k.text('slug').notNull(),
      cause: k.text('cause').$type<RunCause>().notNull(),
      /** The hook or the installation that it belongs to. */
      source: k.text('source'),
      event_id: k.text('event_id').$type<EventId>(),
      status: k.text('status').$type<RunStatus>().notNull(),
      error: k.text('error'),
      /** The beginning of what the skill answered. */
      output: k.text('output'),
      cost_micro: k.int('cost_micro').notNull(),
      conversation_id: k.text('conversation_id'),
      created_at: k.ms('created_at').notNull(),
      completed_at: k.ms('completed_at'),
    },
    (t) => [
      k.index('skill_runs_by_owner').on(t.owner, t.created_at),
      k.index('skill_runs_by_status').on(t.status, t.created_at),
      k.index('skill_runs_by_source').on(t.source, t.created_at, t.id),
      k.index('skill_runs_by_age').on(t.created_at, t.id),
    ],
  ),
)
export type SkillRunRow = Row<typeof skillRuns>
