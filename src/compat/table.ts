import { sql } from 'drizzle-orm'
import type { UploadId } from '../files/schema'
import type { JobId } from '../jobs/schema'
import type { OwnerScope } from '../kernel/caller'
import type { KeyId, OrgId, UserId } from '../kernel/ids'
import { defineTable, type Row } from '../kernel/store'
import type { ConversationId } from '../skills/conversations/schema'
import type { BatchEndpoint, BatchErrors, BatchId, BatchStatus, BatchUsage } from './batches-schema'
import type { Item, ResponseBody, ResponseId } from './responses-schema'

/** Stored responses, each of one owner. */
export const responses = defineTable(
  'responses',
  (k) => ({
    id: k.text('id').$type<ResponseId>().primaryKey(),
    owner: k.text('owner').$type<OwnerScope>().notNull(),
    /** The response that it continues. Null for the first of a chain. */
    previous_id: k.text('previous_id').$type<ResponseId>(),
    /** The conversation that holds its items. Null outside of conversations. */
    conversation_id: k.text('conversation_id').$type<ConversationId>(),
    /** Items of its own request, without those of earlier responses. */
    input: k.json<Item[]>('input').notNull(),
    /** The members that differ from the default. */
    body: k.json<ResponseBody>('body').notNull(),
    /** The number of the last event of its stream. */
    last_sequence: k.int('last_sequence').notNull(),
    created_at: k.ms('created_at').notNull(),
    expires_at: k.ms('expires_at').notNull(),
  }),
  (t, k) => [
    k.index('responses_expiring').on(t.expires_at),
    k
      .index('responses_by_conversation')
      .on(t.conversation_id, t.created_at)
      .where(sql`${t.conversation_id} is not null`),
  ],
)

export type ResponseRow = Row<typeof responses>

/** Batches of calls (docs/api.md 32.6). The answers of the lines are in `batch_lines` until the files are written. */
export const batches = defineTable(
  'batches',
  (k) => ({
    id: k.text('id').$type<BatchId>().primaryKey(),
    owner: k.text('owner').$type<OwnerScope>().notNull(),
    /** The identity under which its lines run. */
    user_id: k.text('user_id').$type<UserId>().notNull(),
    api_key_id: k.text('api_key_id').$type<KeyId>(),
    active_org_id: k.text('active_org_id').$type<OrgId>(),
    /** Id of the request that created it. */
    request_id: k.text('request_id').notNull(),
    job_id: k.text('job_id').$type<JobId>().notNull(),
    endpoint: k.text('endpoint').$type<BatchEndpoint>().notNull(),
    input_file_id: k.text('input_file_id').$type<UploadId>().notNull(),
    status: k.text('status').$type<BatchStatus>().notNull(),
    model: k.text('model'),
    errors: k.json<BatchErrors>('errors'),
    total: k.int('total').notNull(),
    /** Until the batch ends, these two and the usage are counted from the lines. */
    completed: k.int('completed').notNull(),
    failed: k.int('failed').notNull(),
    usage: k.json<BatchUsage>('usage'),
    output_file_id: k.text('output_file_id').$type<UploadId>(),
    error_file_id: k.text('error_file_id').$type<UploadId>(),
    /** Seconds for which its files are stored. Null for the usual time. */
    output_life_s: k.int('output_life_s'),
    metadata: k.json<Record<string, string>>('metadata'),
    created_at: k.ms('created_at').notNull(),
    in_progress_at: k.ms('in_progress_at'),
    expires_at: k.ms('expires_at').notNull(),
    finalizing_at: k.ms('finalizing_at'),
    completed_at: k.ms('completed_at'),
    failed_at: k.ms('failed_at'),
    expired_at: k.ms('expired_at'),
    cancelling_at: k.ms('cancelling_at'),
    cancelled_at: k.ms('cancelled_at'),
  }),
  (t, k) => [
    k.index('batches_by_owner').on(t.owner, t.created_at, t.id),
    k.index('batches_by_age').on(t.created_at, t.id),
    k
      .index('batches_open')
      .on(t.owner)
      .where(sql`${t.status} in ('validating', 'in_progress', 'finalizing', 'cancelling')`),
  ],
)
export type BatchRow = Row<typeof batches>

/** The lines of a batch that has not ended: the place of each in the file, and its answer. */
export const batchLines = defineTable(
  'batch_lines',
  (k) => ({
    batch_id: k.text('batch_id').$type<BatchId>().notNull(),
    line: k.int('line').notNull(),
    custom_id: k.text('custom_id').notNull(),
    /** Byte offsets in the file: first, and end (exclusive). */
    from_byte: k.int('from_byte').notNull(),
    to_byte: k.int('to_byte').notNull(),
    /** Number of attempts in which no engine could be reached. */
    tries: k.int('tries').notNull(),
    /** Null until the line is answered or given up. */
    ended_at: k.ms('ended_at'),
    request_id: k.text('request_id'),
    /** Null for a line that never ran, whose `body` is an error. */
    status_code: k.int('status_code'),
    body: k.text('body'),
    model: k.text('model'),
    input_tokens: k.int('input_tokens').notNull(),
    cached_tokens: k.int('cached_tokens').notNull(),
    output_tokens: k.int('output_tokens').notNull(),
    reasoning_tokens: k.int('reasoning_tokens').notNull(),
  }),
  (t, k) => [
    k.primaryKey({ columns: [t.batch_id, t.line] }),
    k.index('batch_lines_left').on(t.batch_id, t.line).where(sql`${t.ended_at} is null`),
    k.index('batch_lines_ended').on(t.batch_id, t.ended_at, t.line).where(sql`${t.ended_at} is not null`),
  ],
)
export type BatchLineRow = Row<typeof batchLines>
