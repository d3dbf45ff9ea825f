import { sql } from 'drizzle-orm'
import { defineClusteredTable, defineTable, defineView, type Kit, type Row } from '../kernel/store'
import type { AuditEventId, ChainScope } from './schema'

const columns = (k: Kit) => ({
  scope: k.text('scope').$type<ChainScope>().notNull(),
  seq: k.int('seq').notNull(),
  id: k.text('id').$type<AuditEventId>().notNull(),
  at: k.ms('at').notNull(),
  action: k.text('action').notNull(),
  entity_type: k.text('entity_type').notNull(),
  entity_id: k.text('entity_id'),
  user_id: k.text('user_id'),
  org_id: k.text('org_id'),
  api_key_id: k.text('api_key_id'),
  request_id: k.text('request_id').notNull(),
  /** Canonical JSON, exactly the bytes that were hashed. */
  input: k.text('input').notNull(),
  output: k.text('output').notNull(),
  /** Copies of a member of each summary, for filtering. `verify` compares them with the summaries. */
  mode: k.text('mode'),
  status: k.int('status'),
  prev_hash: k.text('prev_hash').notNull(),
  hash: k.text('hash').notNull(),
})

/**
 * Append-only: triggers in `drizzle/` refuse UPDATE and DELETE. `at` never decreases along a chain, so dates are found
 * by binary search over `seq`, without an index. Not clustered, because rows are long and many owners write: in chain
 * order each row would go to a different page. Rows go to the end, and the index is short.
 */
export const auditEvents = defineTable('audit_events', columns, (t, k) => [
  k.primaryKey({ columns: [t.scope, t.seq] }),
  // Omits completions, because their ids are random, and indexing them would cost more than the rest of the row.
  k.index('audit_events_by_entity').on(t.scope, t.entity_id, t.seq).where(sql`${t.entity_type} <> 'completion'`),
])

/** All events: those of `audit_events`, and those that rows of `usage_records` contain. */
export const auditLog = defineView('audit_log', columns)

/** The head of each chain. Locking it serialises writers. Comparing with it reveals a truncated chain. */
export const auditHeads = defineClusteredTable('audit_heads', (k) => ({
  scope: k.text('scope').$type<ChainScope>().primaryKey(),
  seq: k.int('seq').notNull(),
  hash: k.text('hash').notNull(),
  at: k.ms('at').notNull(),
}))

/**
 * The event up to which a chain was trimmed. Calls up to `seq` may be deleted, and the chain is verified from there.
 * `event_seq` is the position of the event in the server's chain that records the trimming.
 */
export const auditBases = defineTable('audit_bases', (k) => ({
  scope: k.text('scope').$type<ChainScope>().primaryKey(),
  seq: k.int('seq').notNull(),
  hash: k.text('hash').notNull(),
  at: k.ms('at').notNull(),
  event_seq: k.int('event_seq').notNull(),
}))

export type AuditEventRow = Row<typeof auditEvents>
export type AuditHeadRow = Row<typeof auditHeads>
