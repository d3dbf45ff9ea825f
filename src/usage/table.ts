import { sql } from 'drizzle-orm'
import type { AuditEventId } from '../audit/schema'
import type { OwnerScope } from '../kernel/caller'
import type { KeyId, UserId } from '../kernel/ids'
import { defineClusteredTable, defineTable, type Row } from '../kernel/store'

/** The columns needed to count or show calls. */
export const callFields = (t: typeof usageRecords.sqlite) => ({
  id: t.id,
  owner: t.owner,
  at: t.at,
  api_key_id: t.api_key_id,
  mode: t.mode,
  resolved_mode: t.resolved_mode,
  model: t.model,
  status: t.status,
  prompt_tokens: t.prompt_tokens,
  completion_tokens: t.completion_tokens,
  cost_micro: t.cost_micro,
  cached: t.cached,
  latency_ms: t.latency_ms,
})

/** Further columns that benchmarks need. */
export const speedFields = (t: typeof usageRecords.sqlite) => ({
  ttft_ms: t.ttft_ms,
  classified_us: t.classified_us,
  fallback_used: t.fallback_used,
})

/** One row per call (docs/api.md 18.1), with its audit event if there is one. Append-only by triggers in `drizzle/`. */
export const usageRecords = defineTable(
  'usage_records',
  (k) => ({
    id: k.serial('id'),
    owner: k.text('owner').$type<OwnerScope>().notNull(),
    at: k.ms('at').notNull(),
    request_id: k.text('request_id').notNull(),
    user_id: k.text('user_id').$type<UserId>(),
    api_key_id: k.text('api_key_id').$type<KeyId>(),
    endpoint: k.text('endpoint').notNull(),
    mode: k.text('mode'),
    resolved_mode: k.text('resolved_mode'),
    model: k.text('model'),
    status: k.int('status').notNull(),
    prompt_tokens: k.int('prompt_tokens').notNull(),
    completion_tokens: k.int('completion_tokens').notNull(),
    cost_micro: k.int('cost_micro').notNull(),
    cached: k.bool('cached').notNull(),
    latency_ms: k.int('latency_ms').notNull(),
    ttft_ms: k.int('ttft_ms'),
    /** Microseconds to choose the mode. Null when the caller chose it. */
    classified_us: k.int('classified_us'),
    fallback_used: k.bool('fallback_used').notNull(),
    /** The event's position in the owner's chain, and its other columns as in `audit_events`. Null without one. */
    seq: k.int('seq'),
    event_id: k.text('event_id').$type<AuditEventId>(),
    action: k.text('action'),
    entity_type: k.text('entity_type'),
    entity_id: k.text('entity_id'),
    input: k.text('input'),
    output: k.text('output'),
    prev_hash: k.text('prev_hash'),
    hash: k.text('hash'),
    /** Reference in the ledger, if the row is the posting of `cost_micro`: the hold that paid. */
    ledger_ref: k.text('ledger_ref'),
  }),
  (t, k) => [
    k.index('usage_records_by_owner').on(t.owner, t.at),
    k.uniqueIndex('usage_records_by_seq').on(t.owner, t.seq),
    k.index('usage_records_by_entity').on(t.owner, t.entity_id, t.seq).where(sql`${t.entity_type} <> 'completion'`),
  ],
)

/** The spent and held amounts of a subject (an API key), one row per UTC day. Caps and reports read 31 rows at most. */
export const spendDays = defineClusteredTable(
  'spend_days',
  (k) => ({
    subject: k.text('subject').notNull(),
    /** `YYYY-MM-DD`, UTC. */
    day: k.text('day').notNull(),
    spent: k.int('spent').notNull(),
    held: k.int('held').notNull(),
  }),
  (t, k) => [k.primaryKey({ columns: [t.subject, t.day] })],
)

/** The skills used in a call. A call without skills has no rows. */
export const usageSkills = defineTable(
  'usage_skills',
  (k) => ({ record_id: k.int('record_id').notNull(), skill: k.text('skill').notNull() }),
  (t, k) => [k.primaryKey({ columns: [t.record_id, t.skill] })],
)

/**
 * Sums of calls, one row per hour and per day for each mode and model: over all keys and per key, over all skills and
 * per skill. Over all keys, and for busy hours of a key, there are also rows per five-minute slot; for busy hours of all
 * keys, per minute. Monthly reports read these rows instead of the calls.
 */
export const usageRollups = defineClusteredTable(
  'usage_rollups',
  (k) => ({
    owner: k.text('owner').$type<OwnerScope>().notNull(),
    grain: k.text('grain').$type<Grain>().notNull(),
    /** Empty for the sum over all keys and sessions. */
    api_key: k.text('api_key').notNull(),
    /** Start of the day, hour, slot or minute. */
    at: k.ms('at').notNull(),
    /** Empty for the sum over all calls. A call with skills is also counted in the row of each skill. */
    skill: k.text('skill').notNull(),
    /** Empty when the call had no mode. */
    mode: k.text('mode').notNull(),
    resolved_mode: k.text('resolved_mode').notNull(),
    model: k.text('model').notNull(),
    requests: k.int('requests').notNull(),
    prompt_tokens: k.int('prompt_tokens').notNull(),
    completion_tokens: k.int('completion_tokens').notNull(),
    cost_micro: k.int('cost_micro').notNull(),
    cached: k.int('cached').notNull(),
    client_errors: k.int('client_errors').notNull(),
    server_errors: k.int('server_errors').notNull(),
    /** Calls rejected before they began. Included in the client errors, but in none of the other sums. */
    refused: k.int('refused').notNull(),
    /** Histogram of the latencies of answered calls (`buckets.ts`). */
    latency: k.text('latency').notNull(),
  }),
  (t, k) => [k.primaryKey({ columns: [t.owner, t.grain, t.api_key, t.at, t.skill, t.mode, t.resolved_mode, t.model] })],
)
export type Grain = 'day' | 'hour' | 'slot' | 'minute'

/** Calls per skill and hour, summed over all owners, so that the author of a skill sees its use but not who used it. */
export const skillCalls = defineTable(
  'skill_calls',
  (k) => ({ skill: k.text('skill').notNull(), at: k.ms('at').notNull(), calls: k.int('calls').notNull() }),
  (t, k) => [k.primaryKey({ columns: [t.skill, t.at] })],
)

/**
 * Data of `GET /benchmarks` that the rollups do not contain: one row per hour and per day for each mode that has
 * values. Advanced by the same cursor.
 */
export const usageSpeeds = defineTable(
  'usage_speeds',
  (k) => ({
    owner: k.text('owner').$type<OwnerScope>().notNull(),
    grain: k.text('grain').$type<Grain>().notNull(),
    at: k.ms('at').notNull(),
    /** The resolved mode, or the requested one when none was resolved. */
    mode: k.text('mode').notNull(),
    /** Histograms (`buckets.ts`): milliseconds to the first token, microseconds to choose the mode. */
    ttft: k.text('ttft').notNull(),
    classified: k.text('classified').notNull(),
    failovers: k.int('failovers').notNull(),
  }),
  (t, k) => [k.primaryKey({ columns: [t.owner, t.grain, t.at, t.mode] })],
)

/** The progress of the rollups: every record up to this id is included, and none after it. One row. */
export const usageCursors = defineTable('usage_cursors', (k) => ({
  name: k.text('name').primaryKey(),
  position: k.int('position').notNull(),
}))

export type RollupRow = Row<typeof usageRollups>
export type SpeedRow = Row<typeof usageSpeeds>
export type UsageRow = Row<typeof usageRecords>

/** Requests and responses of calls whose owner stores them, until they expire. */
export const requestBodies = defineTable(
  'request_bodies',
  (k) => ({
    request_id: k.text('request_id').primaryKey(),
    owner: k.text('owner').$type<OwnerScope>().notNull(),
    /** The body as JSON, and the text of the response, or null without one. */
    request: k.text('request').notNull(),
    response: k.text('response'),
    /** The tool calls of the response as JSON (`KeptTool`). Null without tool calls. */
    tools: k.text('tools'),
    expires_at: k.ms('expires_at').notNull(),
  }),
  (t, k) => [k.index('request_bodies_by_owner').on(t.owner), k.index('request_bodies_expiring').on(t.expires_at)],
)
export type BodyRow = Row<typeof requestBodies>
