import { and, count as countRows, eq, inArray, sql } from 'drizzle-orm'
import { type ActingIdentity, actingIdentityOf } from '../accounts'
import type { AuditLog } from '../audit'
import type { Billing } from '../billing'
import type { PublicJobs } from '../charging'
import type { Files } from '../files'
import { countReader, findUpload, lockUploads } from '../files'
import type { JobId } from '../jobs/schema'
import { type Call, type Caller, type OwnerScope, ownerOf } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { invalidInput, messageOf, notFound } from '../kernel/errors'
import { listAfter, pagesAfter, pagesBy } from '../kernel/keyset'
import { mapPage, pageFields } from '../kernel/page'
import type { Reader, Store, Tx } from '../kernel/store'
import { countLinesIn, endpointIn, lineRepository as lines, MAX_LINES } from './batches-lines'
import {
  BATCH_ENDPOINTS,
  type Batch,
  type BatchEndpoint,
  BatchId,
  type BatchInput,
  type BatchQuery,
  hasEnded,
  hasEndedAlready,
  type OverseenBatch,
  type OverseenBatchesQuery,
  tooManyBatches,
  tooManyLines,
} from './batches-schema'
import { type BatchRow, batches } from './table'

export type BatchDeps = {
  store: Store
  clock: Clock
  audit: AuditLog
  files: Pick<Files, 'receive' | 'discard' | 'read'>
  billing: Pick<Billing, 'assertFunds'>
  publicJobs: Pick<PublicJobs, 'accept'>
}
type OperatorDeps = BatchDeps & { ownerNamed(reader: Reader, word: string): Promise<OwnerScope> }

/** Payload of a batch's job. */
export type BatchOrder = { batch: BatchId }
export const BATCH_JOB = { name: 'batch', shown: 'batch' } as const

const LIFE_MS = 86_400_000
const MAX_OPEN = 20
const MAX_WAITING = 50_000

const after = pagesAfter(batches, 'created_at')
const newestFirst = pagesBy(batches, 'created_at')

const seconds = (ms: number | null) => (ms === null ? null : Math.floor(ms / 1_000))

type Counts = { completed: number; failed: number }

function presentBatch(row: BatchRow, counts: Counts = row): Batch {
  return {
    id: row.id,
    object: 'batch',
    endpoint: row.endpoint,
    model: row.model,
    errors: row.errors,
    input_file_id: row.input_file_id,
    completion_window: '24h',
    status: row.status,
    output_file_id: row.output_file_id,
    error_file_id: row.error_file_id,
    created_at: seconds(row.created_at)!,
    in_progress_at: seconds(row.in_progress_at),
    expires_at: seconds(row.expires_at),
    finalizing_at: seconds(row.finalizing_at),
    completed_at: seconds(row.completed_at),
    failed_at: seconds(row.failed_at),
    expired_at: seconds(row.expired_at),
    cancelling_at: seconds(row.cancelling_at),
    cancelled_at: seconds(row.cancelled_at),
    request_counts: { total: row.total, completed: counts.completed, failed: counts.failed },
    usage: row.usage,
    metadata: row.metadata,
  }
}

/** Batches for the caller. Those that have not ended get the current counts of their lines. */
async function presented(db: Reader, rows: readonly BatchRow[]): Promise<Batch[]> {
  const open = rows.filter(({ status }) => !hasEnded(status)).map(({ id }) => id)
  const counts = await lines.counts(db, open)
  return rows.map((row) => presentBatch(row, counts.get(row.id)))
}

/**
 * Begins a batch. Its job and the hold on its file commit with it. Throws 400 `validation_error`, 402
 * `insufficient_credits`, 404, 429 `rate_limit_exceeded`, 503 `queue_unavailable`.
 */
export async function createBatch(deps: BatchDeps, call: Call, input: BatchInput): Promise<Batch> {
  const { store, clock, billing, files, publicJobs, audit } = deps
  const owner = ownerOf(call.caller)
  const endpoint = BATCH_ENDPOINTS.find((known) => known === endpointIn(input.endpoint))
  if (!endpoint)
    throw invalidInput('endpoint', `"endpoint" is ${messageOf(input.endpoint)}. Use ${BATCH_ENDPOINTS.join(', ')}.`)
  const file = await findUpload(deps, store.read, owner, input.input_file_id, 'input_file_id')
  if (file.purpose !== 'batch')
    throw invalidInput('input_file_id', `The purpose of this file is "${file.purpose}". Send it with "batch".`)
  await billing.assertFunds(store.read, call)
  const found = file.size_bytes ? await countLinesIn(await files.read(file)) : 0
  const row = {
    ...newBatch(call, input, endpoint, clock.now()),
    input_file_id: file.id,
    total: Math.min(found, MAX_LINES),
  }
  return publicJobs.accept(call, BATCH_JOB, {
    ...{ input: { batch: row.id } satisfies BatchOrder, hold: 0, answer: () => presentBatch(row) },
    async effects(tx, jobId) {
      await assertRoom(tx, owner, row.total)
      // The file may have been deleted meanwhile.
      await findUpload(deps, tx, owner, file.id, 'input_file_id')
      await countReader(tx, file.id, 1)
      await tx.insert(tx.of(batches)).values({ ...row, job_id: jobId })
      const facts = { endpoint, lines: row.total, input_file_id: file.id, ...(input.metadata ?? {}) }
      const entry = { entityType: 'batch' as const, entityId: row.id, input: { metadata: facts } }
      await audit.record(tx, call, { action: 'batch.created', ...entry })
    },
  })
}

function newBatch(call: Call, input: BatchInput, endpoint: BatchEndpoint, now: number) {
  const { user_id, api_key_id, active_org_id } = actingIdentityOf(call.caller)
  return {
    id: BatchId.create(),
    owner: ownerOf(call.caller),
    ...{ user_id, api_key_id, active_org_id, request_id: call.requestId, job_id: '' as JobId, endpoint },
    ...{ status: 'validating' as const, model: null, errors: null, completed: 0, failed: 0, usage: null },
    ...{ output_file_id: null, error_file_id: null, output_life_s: input.output_expires_after?.seconds ?? null },
    ...{ metadata: input.metadata ?? null, created_at: now, in_progress_at: null, expires_at: now + LIFE_MS },
    ...{ finalizing_at: null, completed_at: null, failed_at: null, expired_at: null },
    ...{ cancelling_at: null, cancelled_at: null },
  }
}

async function assertRoom(tx: Tx, owner: OwnerScope, more: number): Promise<void> {
  await lockUploads(tx, owner)
  const t = tx.of(batches)
  const open = inArray(t.status, ['validating', 'in_progress', 'finalizing', 'cancelling'])
  const waiting = sql<number>`coalesce(sum(${t.total}), 0)`.mapWith(Number)
  const sums = tx
    .select({ open: countRows(), waiting })
    .from(t)
    .where(and(eq(t.owner, owner), open))
  const [found] = await sums
  if (found!.open >= MAX_OPEN) throw tooManyBatches.with({ retryAfterS: 60 }, MAX_OPEN)
  const answered = tx
    .select({ id: t.id })
    .from(t)
    .where(and(eq(t.owner, owner), open))
  const counts = await lines.counts(
    tx,
    (await answered).map(({ id }) => id),
  )
  const ended = [...counts.values()].reduce((sum, { completed, failed }) => sum + completed + failed, 0)
  if (found!.waiting - ended + more > MAX_WAITING) throw tooManyLines.with({ retryAfterS: 60 }, MAX_WAITING)
}

/** A batch of the caller. Operators may read any batch. Throws 404. */
async function findBatch(reader: Reader, caller: Caller, id: string): Promise<BatchRow> {
  const t = reader.of(batches)
  const ownerFilter = caller.type === 'operator' ? undefined : eq(t.owner, ownerOf(caller))
  const found = reader
    .select()
    .from(t)
    .where(and(eq(t.id, id as BatchId), ownerFilter))
  const row = BatchId.is(id) ? ((await found.limit(1)) as BatchRow[])[0] : undefined
  if (!row) throw notFound('batch')
  return row
}

export async function getBatch({ store }: BatchDeps, { caller }: Call, id: string): Promise<Batch> {
  return (await presented(store.read, [await findBatch(store.read, caller, id)]))[0]!
}

/** The caller's batches, newest first. Throws 400 for an unknown `after`. */
export async function listBatches({ store }: BatchDeps, { caller }: Call, query: BatchQuery) {
  const ownerFilter = eq(store.read.of(batches).owner, ownerOf(caller))
  const { rows, has_more } = await after(store.read, query, ownerFilter)
  return listAfter(await presented(store.read, rows as BatchRow[]), has_more)
}

/** Ends a batch early. Running lines finish, and its files are written. Throws 404, and 409 when it has ended. */
export async function cancelBatch(deps: BatchDeps, call: Call, id: string): Promise<Batch> {
  await stopBatch(deps, call, id)
  return getBatch(deps, call, id)
}

export function stopBatch({ store, clock, audit }: BatchDeps, call: Call<Caller>, id: string): Promise<void> {
  return store.write(async (tx) => {
    const row = await findBatch(tx, call.caller, id)
    if (!(await beginCancelling(tx, row.id, clock.now()))) throw hasEndedAlready(row.status)
    const scope = call.caller.type === 'operator' ? { scope: row.owner } : {}
    await audit.record(tx, call, { action: 'batch.cancelled', entityType: 'batch', entityId: id, ...scope })
  })
}

/** Marks a batch as cancelling. False for a batch that has ended. A batch that is already cancelling keeps its time. */
export async function beginCancelling(tx: Tx, id: BatchId, now: number): Promise<boolean> {
  const t = tx.of(batches)
  const open = and(eq(t.id, id), inArray(t.status, ['validating', 'in_progress', 'finalizing', 'cancelling']))
  const changed = tx
    .update(t)
    .set({ status: 'cancelling', cancelling_at: sql`coalesce(${t.cancelling_at}, ${now})` })
    .where(open)
  return (await changed.returning({ id: t.id })).length === 1
}

/** The identity under which the lines of a batch run. */
export const identityOfBatch = ({ user_id, api_key_id, active_org_id }: BatchRow): ActingIdentity => ({
  user_id,
  api_key_id,
  active_org_id,
})

const outline = (row: BatchRow, counts: Counts = row): OverseenBatch => ({
  id: row.id,
  owner: row.owner,
  job_id: row.job_id,
  endpoint: row.endpoint,
  status: row.status,
  total: row.total,
  completed: counts.completed,
  failed: counts.failed,
  created: iso(row.created_at),
  expires_at: iso(row.expires_at),
})

/** Batches of all owners or one, newest first, for operators. Throws 404 for an unknown owner. */
export async function overseeBatches(
  { store, ownerNamed }: OperatorDeps,
  { status, ...query }: OverseenBatchesQuery,
  named?: string,
) {
  const t = store.read.of(batches)
  const owner = named === undefined ? undefined : eq(t.owner, await ownerNamed(store.read, named))
  const page = await newestFirst(store.read, query, owner, status && eq(t.status, status))
  const counts = await lines.counts(
    store.read,
    page.items.map(({ id }) => id as BatchId),
  )
  const { items } = mapPage(page, (row) => outline(row as BatchRow, counts.get(row.id as BatchId)))
  return { batches: items, ...pageFields(page) }
}

export async function overseeBatch({ store }: BatchDeps, call: Call<Caller>, id: string): Promise<OverseenBatch> {
  const row = await findBatch(store.read, call.caller, id)
  return outline(row, (await lines.counts(store.read, [row.id])).get(row.id))
}
