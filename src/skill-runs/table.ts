import type { OwnerScope } from '../kernel/caller'
import type { KeyId, UserId } from '../kernel/ids'
import { defineTable, type Row } from '../kernel/store'
import type { SkillId } from '../skills/schema'
import type { RunCause, RunStatus, SkillRunId } from './schema'

/** Hook runs of skills, kept for the limits of contract 8.1 and as a history. */
export const skillRuns = defineTable((k) =>
  k.table(
    'skill_runs',
    {
      id: k.text('id').$type<SkillRunId>().primaryKey(),
      owner: k.text('owner').$type<OwnerScope>().notNull(),
      user_id: k.text('user_id').$type<UserId>().notNull(),
      api_key_id: k.text('api_key_id').$type<KeyId>(),
      skill_id: k.text('skill_id').$type<SkillId>().notNull(),
      slug: k.text('slug').notNull(),
      cause: k.text('cause').$type<RunCause>().notNull(),
      status: k.text('status').$type<RunStatus>().notNull(),
      error: k.text('error'),
      cost_micro: k.int('cost_micro').notNull(),
      conversation_id: k.text('conversation_id'),
      created_at: k.ms('created_at').notNull(),
      completed_at: k.ms('completed_at'),
    },
    (t) => [
      k.index('skill_runs_by_owner').on(t.owner, t.created_at),
      k.index('skill_runs_by_status').on(t.status, t.created_at),
    ],
  ),
)
export type SkillRunRow = Row<typeof skillRuns>
