import { UploadId } from '../files/schema'
import { defineError } from '../kernel/errors'
import { defineId, type Id } from '../kernel/ids'
import { PageQuery } from '../kernel/page'
import { listOf, namedObject, nullable, oneOf, pageOf, type Static, Timestamp, t } from '../kernel/schema'
import { Notes } from './responses-schema'

export const BatchId = defineId('batch', 'batch')
export type BatchId = Id<'batch'>

/** The endpoints that the lines of a batch may call (docs/api.md 32.6). */
export const BATCH_ENDPOINTS = ['/v1/chat/completions', '/v1/responses', '/v1/embeddings', '/v1/messages'] as const
export type BatchEndpoint = (typeof BATCH_ENDPOINTS)[number]

const OPEN = ['validating', 'in_progress', 'finalizing', 'cancelling'] as const
const ENDED = ['failed', 'completed', 'expired', 'cancelled'] as const
const BATCH_STATUSES = [...OPEN, ...ENDED] as const
export type BatchStatus = (typeof BATCH_STATUSES)[number]
export const hasEnded = (status: BatchStatus): boolean => (ENDED as readonly string[]).includes(status)

/** Problems of an input file (docs/api.md 29.10), and errors of lines that never ran. */
const BatchErrors = t.Object({
  object: t.Literal('list'),
  data: t.Array(
    t.Object({
      code: t.String(),
      message: t.String(),
      param: nullable(t.String()),
      line: nullable(t.Integer()),
    }),
  ),
})
export type BatchErrors = Static<typeof BatchErrors>

const BatchUsage = t.Object({
  input_tokens: t.Integer(),
  input_tokens_details: t.Object({ cached_tokens: t.Integer() }),
  output_tokens: t.Integer(),
  output_tokens_details: t.Object({ reasoning_tokens: t.Integer() }),
  total_tokens: t.Integer(),
})
export type BatchUsage = Static<typeof BatchUsage>

export const BatchInput = namedObject('BatchInput', {
  input_file_id: t.String({ maxLength: 64, description: 'A file with the purpose `batch`' }),
  endpoint: t.String({ maxLength: 64, description: `${BATCH_ENDPOINTS.join(', ')}; also without /v1` }),
  completion_window: t.Literal('24h'),
  metadata: t.Optional(nullable(Notes)),
  output_expires_after: t.Optional(
    nullable(
      t.Object({
        anchor: t.Literal('created_at'),
        seconds: t.Integer({ minimum: 3_600, maximum: 2_592_000, description: 'How long its files stay' }),
      }),
    ),
  ),
})
export type BatchInput = Static<typeof BatchInput>

const Moment = nullable(t.Integer({ description: 'Unix time in seconds' }))

export const Batch = namedObject('Batch', {
  id: BatchId.schema,
  object: t.Literal('batch'),
  endpoint: oneOf(BATCH_ENDPOINTS),
  model: nullable(t.String({ description: 'The engine that answered, where it was one' })),
  errors: nullable(BatchErrors),
  input_file_id: UploadId.schema,
  completion_window: t.Literal('24h'),
  status: oneOf(BATCH_STATUSES),
  output_file_id: nullable(UploadId.schema),
  error_file_id: nullable(UploadId.schema),
  created_at: t.Integer({ description: 'Unix time in seconds' }),
  in_progress_at: Moment,
  expires_at: Moment,
  finalizing_at: Moment,
  completed_at: Moment,
  failed_at: Moment,
  expired_at: Moment,
  cancelling_at: Moment,
  cancelled_at: Moment,
  request_counts: t.Object({ total: t.Integer(), completed: t.Integer(), failed: t.Integer() }),
  usage: nullable(BatchUsage),
  metadata: nullable(Notes),
})
export type Batch = Static<typeof Batch>

export const BatchList = listOf(Batch)

export const BatchQuery = t.Object({
  limit: t.Integer({ minimum: 1, maximum: 100, default: 20 }),
  after: t.Optional(t.String({ maxLength: 64, description: 'The id of the last batch that you have' })),
})
export type BatchQuery = Static<typeof BatchQuery>

/** A batch as operators see it. */
export const OverseenBatch = namedObject('OverseenBatch', {
  id: BatchId.schema,
  owner: t.String({ description: 'org:ID or user:ID' }),
  job_id: t.String(),
  endpoint: oneOf(BATCH_ENDPOINTS),
  status: oneOf(BATCH_STATUSES),
  total: t.Integer(),
  completed: t.Integer(),
  failed: t.Integer(),
  created: Timestamp,
  expires_at: Timestamp,
})
export type OverseenBatch = Static<typeof OverseenBatch>
export const OverseenBatches = pageOf('batches', OverseenBatch)
export const OverseenBatchesQuery = t.Object({
  ...PageQuery.properties,
  status: t.Optional(oneOf(BATCH_STATUSES)),
})
export type OverseenBatchesQuery = Static<typeof OverseenBatchesQuery>

export const tooManyBatches = defineError(
  'rate_limit_exceeded',
  (max: number) => `This account has ${max} open batches, which is the maximum. Wait until one has ended.`,
)
export const tooManyLines = defineError(
  'rate_limit_exceeded',
  (max: number) => `With this batch more than ${max} lines would wait. Wait until a batch has ended.`,
)
export const hasEndedAlready = defineError(
  'conflict',
  (status: string) => `The batch is ${status}; only one that has not ended can be cancelled.`,
)
export const keyIsGone = defineError('invalid_api_key', () => 'The key that made this batch no longer works.')
/** Another process has answered the line meanwhile. The work of this process is rolled back. */
export const lineIsTaken = defineError('conflict', () => 'The line has been answered.')
