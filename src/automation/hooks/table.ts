import type { KeyId } from '../../kernel/ids'
import { defineTable, type Row } from '../../kernel/store'
import { ownedColumns, ownedIndexes } from '../../resource'
import type { SkillId } from '../../skills/schema'
import type { HookId } from './schema'

/** Its place among the patterns of all hooks is a row of `event_subscriptions`, while it is enabled. */
export const hooks = defineTable((k) =>
  k.table(
    'hooks',
    {
      ...ownedColumns<HookId>(k),
      /** Whom its runs act for, with the maker in `user_id`. */
      api_key_id: k.text('api_key_id').$type<KeyId>(),
      preset: k.text('preset'),
      pattern: k.text('pattern').notNull(),
      /** The skill itself: its name may later be another one's. */
      skill_id: k.text('skill_id').$type<SkillId>().notNull(),
      slug: k.text('slug').notNull(),
      enabled: k.bool('enabled').notNull(),
      disabled_reason: k.text('disabled_reason').$type<'failures'>(),
      cooldown_minutes: k.int('cooldown_minutes').notNull(),
      consecutive_failures: k.int('consecutive_failures').notNull(),
      last_fired_at: k.ms('last_fired_at'),
      config: k.json<Record<string, unknown>>('config').notNull(),
    },
    (t) => ownedIndexes(k, 'hooks', t),
  ),
)
export type HookRow = Row<typeof hooks>
