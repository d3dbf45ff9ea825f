import { sql } from 'drizzle-orm'
import type { UserId } from '../kernel/ids'
import { defineTable, type Row } from '../kernel/store'

/** One key of one user (contract 1.7): begun while `status` is null, answered from then on. */
export const idempotencyKeys = defineTable((k) =>
  k.table(
    'idempotency_keys',
    {
      user_id: k.text('user_id').$type<UserId>().notNull(),
      key: k.text('key').notNull(),
      /** The request that holds the key, or whose answer this is. */
      request_id: k.text('request_id').notNull(),
      /** SHA-256 of method, path and body. */
      fingerprint: k.text('fingerprint').notNull(),
      status: k.int('status'),
      /** The answer byte for byte, sealed under the master key: it may hold a secret. */
      body: k.text('body'),
      /** Until when the process that runs the request has it to itself. */
      lease_until: k.ms('lease_until').notNull(),
      expires_at: k.ms('expires_at').notNull(),
    },
    (t) => [
      k.primaryKey({ columns: [t.user_id, t.key] }),
      k.index('idempotency_keys_by_end').on(t.expires_at),
      k.check('idempotency_keys_answer', sql`(${t.status} IS NULL) = (${t.body} IS NULL)`),
    ],
  ),
)

export type IdempotencyRow = Row<typeof idempotencyKeys>
