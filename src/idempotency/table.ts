import { sql } from 'drizzle-orm'
import type { UserId } from '../kernel/ids'
import { defineTable, type Row } from '../kernel/store'

/** Additional authenticated data that binds a sealed answer to its row. */
export const contextOf = ({ userId, key }: { userId: UserId; key: string }): string => `idempotency ${userId} ${key}`

/** One key of one user (docs/api.md 1.7). `status` is null while the request runs, and set after the answer. */
export const idempotencyKeys = defineTable(
  'idempotency_keys',
  (k) => ({
    user_id: k.text('user_id').$type<UserId>().notNull(),
    key: k.text('key').notNull(),
    /** The request that holds the key, or that was answered. */
    request_id: k.text('request_id').notNull(),
    /** SHA-256 of owner, scopes, method, path and body (`fingerprintOf`). */
    fingerprint: k.text('fingerprint').notNull(),
    status: k.int('status'),
    /** The answer byte for byte, sealed with the master key because it may hold a secret. */
    body: k.text('body'),
    /** End of the lease. Until then no other process may take over the key. */
    lease_until: k.ms('lease_until').notNull(),
    expires_at: k.ms('expires_at').notNull(),
  }),
  (t, k) => [
    k.primaryKey({ columns: [t.user_id, t.key] }),
    k.index('idempotency_keys_by_end').on(t.expires_at),
    k.check('idempotency_keys_answer', sql`(${t.status} IS NULL) = (${t.body} IS NULL)`),
  ],
)

export type IdempotencyRow = Row<typeof idempotencyKeys>
