import type { SessionId, UserId } from '../kernel/ids'
import { defineTable, type Row } from '../kernel/store'

export const sessions = defineTable((k) =>
  k.table(
    'sessions',
    {
      id: k.text('id').$type<SessionId>().primaryKey(),
      user_id: k.text('user_id').$type<UserId>().notNull(),
      token_hash: k.text('token_hash').notNull(),
      created_at: k.ms('created_at').notNull(),
      last_seen_at: k.ms('last_seen_at').notNull(),
      expires_at: k.ms('expires_at').notNull(),
    },
    (t) => [
      k.uniqueIndex('sessions_by_token').on(t.token_hash),
      k.index('sessions_by_user').on(t.user_id),
      k.index('sessions_by_expiry').on(t.expires_at),
    ],
  ),
)
export type SessionRow = Row<typeof sessions>
