import { sql } from 'drizzle-orm'
import type { OperatorRole } from '../kernel/caller'
import { defineTable, type Row } from '../kernel/store'
import type { OperatorKeyId } from './schema'

/** Keys of people and programs that operate the server from other machines (docs/operating.md 2.2). */
export const operatorKeys = defineTable(
  'operator_keys',
  (k) => ({
    id: k.text('id').$type<OperatorKeyId>().primaryKey(),
    name: k.text('name').notNull(),
    role: k.text('role').$type<OperatorRole>().notNull(),
    prefix: k.text('prefix').notNull(),
    hash: k.text('hash').notNull(),
    created_at: k.ms('created_at').notNull(),
    last_used_at: k.ms('last_used_at'),
    expires_at: k.ms('expires_at'),
    revoked_at: k.ms('revoked_at'),
  }),
  (t, k) => [
    k.uniqueIndex('operator_keys_by_hash').on(t.hash),
    k.uniqueIndex('operator_keys_by_name').on(t.name).where(sql`${t.revoked_at} is null`),
  ],
)
export type OperatorKeyRow = Row<typeof operatorKeys>
