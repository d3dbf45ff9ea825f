import { and, eq, isNull } from 'drizzle-orm'
import type { BackgroundCallers } from '../accounts'
import type { PublicJobs, PublicKind } from '../charging'
import { addUpload, countReader, type Draft, findUpload } from '../files'
import { GiveUp, type Running } from '../jobs'
import { CANCELLED, QUEUE_TIMEOUT } from '../jobs/schema'
import type { Call } from '../kernel/caller'
import { asOneWork } from '../kernel/caller'
import { newRequestId } from '../kernel/ids'
import { createSemaphore } from '../kernel/semaphore'
import type { Reader, Tx } from '../kernel/store'
import { BATCH_JOB, type BatchDeps, type BatchOrder, beginCancelling, identityOfBatch } from './batches'
import { lineRepository as lines, readLines, usedBy, writtenLines } from './batches-lines'
import {
  type BatchEndpoint,
  type BatchErrors,
  type BatchId,
  type BatchStatus,
  hasEnded,
  keyIsGone,
  lineIsTaken,
} from './batches-schema'
import { type BatchLineRow, type BatchRow, batches } from './table'

/** Answers a line like the call that it holds, in the format of its API. */
export type LineHandlers = {
  /** Answers the call. The answer reaches the line through the call's `once`, in the transaction that charges it. */
  run(endpoint: BatchEndpoint, call: Call, line: Uint8Array): Promise<object>
  failure(endpoint: BatchEndpoint, error: unknown, requestId: string): Failure
}

/** `rest`: all later lines would fail the same way. `again`: an engine may be available later. */
type Failure = { status: number; body: object; rest: boolean; again: boolean }

type Deps = BatchDeps & {
  publicJobs: Pick<PublicJobs, 'define'>
  unattended: BackgroundCallers
  lineHandlers: LineHandlers
  settings: { batchConcurrency: number }
}

type Ended = Extract<BatchStatus, 'failed' | 'completed' | 'expired' | 'cancelled'>

const GROUP = 20
/** After this time a job lets other jobs of the queue begin. */
const TURN_MS = 10_000
const MAX_TRIES = 8
const MAX_WAIT_MS = 60_000
/** Rows added in one transaction. Other writers wait for it. */
const INSERTED = 500
/** Attempts of a job whose process dies. Higher than any real number of restarts. */
const ATTEMPTS = 50
const HOUR_MS = 3_600_000
const JSON_LINES = 'text/plain'

/** The error of a batch's job when the batch has not completed. */
const WORDS: Readonly<Record<Exclude<Ended, 'completed'>, string>> = {
  failed: 'The input file is broken; the batch says how.',
  expired: 'The batch did not end within 24 hours.',
  cancelled: CANCELLED,
}
/** The error of lines that never ran (docs/api.md 32.6). */
const NEVER_RAN = {
  expired: { code: 'batch_expired', message: 'The batch did not end within 24 hours, so this line never ran.' },
  cancelled: { code: 'batch_cancelled', message: 'The batch was cancelled before this line ran.' },
} as const

/** Defines the job that works on batches. Each batch has one job, which takes its lines in groups. */
export function defineBatchJob(deps: Deps): void {
  const { store, clock, files, unattended, lineHandlers, settings, audit } = deps
  const slots = createSemaphore(settings.batchConcurrency)
  deps.publicJobs.define<BatchOrder>({
    ...BATCH_JOB,
    retry: { attempts: ATTEMPTS, delayMs: (attempt) => Math.min(1_000 * 2 ** attempt, MAX_WAIT_MS) },
    timeLimitMs: HOUR_MS,
    concurrency: settings.batchConcurrency,
    run,
    cancel: (tx, _, { batch }) => beginCancelling(tx, batch, clock.now()),
    onFailure: (tx, { batch }, error) => failed(tx, batch, error),
  } satisfies PublicKind<BatchOrder>)

  async function run(job: Running<BatchOrder>) {
    let batch = await find(store.read, job.payload.batch)
    if (batch.status === 'completed') return resultOf(batch)
    // The batch ended in an earlier attempt.
    if (hasEnded(batch.status)) throw new GiveUp(WORDS[batch.status as keyof typeof WORDS])
    if (batch.in_progress_at === null) batch = await validate(job, batch)
    const until = clock.monotonic() + TURN_MS
    for (;;) {
      job.signal.throwIfAborted()
      const why = await endOf(batch)
      if (why) return finish(job, batch, why)
      const waitMs = await runGroup(job, batch)
      if (waitMs > 0 || clock.monotonic() > until) return { again: { at: clock.now() + waitMs } }
    }
  }

  /** How the batch ends now: all lines have answers, it is cancelled, or it has expired. Null while it continues. */
  async function endOf({ id, expires_at }: BatchRow): Promise<Ended | null> {
    if ((await find(store.read, id)).cancelling_at !== null) return 'cancelled'
    if (!(await lines.left(store.read, id, 1)).length) return 'completed'
    return clock.now() >= expires_at ? 'expired' : null
  }

  /** Reads the whole file before any line runs. Throws {@link GiveUp} for an invalid file. */
  async function validate(job: Running<BatchOrder>, batch: BatchRow): Promise<BatchRow> {
    const file = await findFile(batch)
    const { lines: found, errors } = await readLines(await files.read(file), batch.endpoint)
    if (errors) {
      await job.write((tx) => end(tx, batch, 'failed', { errors, total: 0 }))
      throw new GiveUp(WORDS.failed)
    }
    for (let from = 0; from < found.length; from += INSERTED)
      await job.write((tx) => lines.insert(tx, batch.id, found.slice(from, from + INSERTED)))
    const begun = { status: 'in_progress' as const, in_progress_at: clock.now(), total: found.length }
    await job.write((tx) => {
      const t = tx.of(batches)
      return tx
        .update(t)
        .set(begun)
        .where(and(eq(t.id, batch.id), isNull(t.cancelling_at)))
    })
    return find(store.read, batch.id)
  }

  /** Answers the next lines, several at a time. Returns the milliseconds to wait before the next group. */
  async function runGroup(job: Running<BatchOrder>, batch: BatchRow): Promise<number> {
    const group = await lines.left(store.read, batch.id, GROUP)
    const file = await findFile(batch)
    let waitMs = 0
    let stop: { failure: Failure; requestId: string } | null = null
    const one = async (line: BatchLineRow): Promise<void> => {
      if (stop || job.signal.aborted || (await find(store.read, batch.id)).cancelling_at !== null) return
      const found = await files.read(file, { from: line.from_byte, to: line.to_byte })
      const bytes = new Uint8Array(await new Response(found).arrayBuffer())
      const failed = await asOneWork(() => answer(batch, line, bytes))
      if (failed?.failure.rest) stop = failed
      if (failed?.failure.again) waitMs = Math.max(waitMs, Math.min(1_000 * 2 ** line.tries, MAX_WAIT_MS))
    }
    await Promise.all(group.map((line) => slots.run(batch.owner, () => one(line))))
    const all = stop as { failure: Failure; requestId: string } | null
    if (all) await store.write((tx) => lines.endAll(tx, batch.id, failedWith(all.failure, all.requestId)))
    const { completed, failed } = (await lines.counts(store.read, [batch.id])).get(batch.id) ?? {
      completed: 0,
      failed: 0,
    }
    job.progress((100 * (completed + failed)) / Math.max(1, batch.total), 'in_progress')
    return waitMs
  }

  /** Runs one line and stores its answer in the transaction that charges it. Returns the failure, or null. */
  async function answer(batch: BatchRow, line: BatchLineRow, bytes: Uint8Array) {
    const { endpoint } = batch
    const requestId = newRequestId()
    const failed = async (tx: Tx, error: unknown) =>
      void (await lines.end(tx, line, failedWith(lineHandlers.failure(endpoint, error, requestId), requestId)))
    const keep = async (tx: Tx, answered: unknown) => {
      const found = { ...(answered as object), request_id: requestId }
      const row = { ended_at: clock.now(), request_id: requestId, status_code: 200, body: JSON.stringify(found) }
      if (!(await lines.end(tx, line, { ...row, ...usedBy(found) }))) throw lineIsTaken()
    }
    try {
      const caller = await unattended(identityOfBatch(batch))
      if (!caller) throw keyIsGone()
      const call: Call = {
        ...{ caller, requestId, route: `POST ${endpoint.slice('/v1'.length)}`, batch: true },
        ...{ signal: new AbortController().signal, once: { id: `${batch.id} ${line.line}`, keep, broke: failed } },
      }
      await lineHandlers.run(endpoint, call, bytes)
      return null
    } catch (error) {
      const failure = lineHandlers.failure(endpoint, error, requestId)
      const again = failure.again && line.tries < MAX_TRIES
      await store.write((tx) => (again ? lines.countTry(tx, line) : failed(tx, error)))
      return { failure: { ...failure, again }, requestId }
    }
  }

  function failedWith({ status, body }: Failure, requestId: string) {
    return { ended_at: clock.now(), request_id: requestId, status_code: status, body: JSON.stringify(body) }
  }

  /** Writes the files and ends the batch, in one transaction with its job. */
  async function finish(job: Running<BatchOrder>, batch: BatchRow, why: Ended) {
    if (why === 'expired' || why === 'cancelled') {
      const row = { ended_at: clock.now(), request_id: null, status_code: null, body: JSON.stringify(NEVER_RAN[why]) }
      await job.write((tx) => lines.endAll(tx, batch.id, row))
    } else {
      const t = store.read.of(batches)
      const finalizing = { status: 'finalizing' as const, finalizing_at: clock.now() }
      const going = and(eq(t.id, batch.id), eq(t.status, 'in_progress'))
      await job.write((tx) => tx.update(tx.of(batches)).set(finalizing).where(going))
    }
    const drafts = [await written(batch.id, true), await written(batch.id, false)] as const
    const unit = (tx: Tx) => closed(tx, batch.id, why, drafts)
    if (why === 'completed') return { ...resultOf(batch), effects: unit }
    await job.write(unit)
    throw new GiveUp(WORDS[why])
  }

  /** A file of the answers (`isOutput`) or of the failures. Null if there are none. */
  async function written(id: BatchId, isOutput: boolean): Promise<Draft | null> {
    const draft = await files.receive(writtenLines(store.read, id, isOutput), JSON_LINES)
    if (draft.size > 0) return draft
    await files.discard(draft)
    return null
  }

  async function closed(tx: Tx, id: BatchId, why: Ended, [output, errors]: readonly [Draft | null, Draft | null]) {
    const batch = await find(tx, id)
    const save = async (draft: Draft | null, word: string) => {
      if (!draft) return null
      const about = { purpose: 'batch_output' as const, keyId: batch.api_key_id, lifeS: batch.output_life_s }
      return (await addUpload(deps, tx, batch.owner, draft, { ...about, filename: `${id}_${word}.jsonl` })).id
    }
    const counts = (await lines.counts(tx, [id])).get(id) ?? { completed: 0, failed: 0 }
    const files = { output_file_id: await save(output, 'output'), error_file_id: await save(errors, 'error') }
    await end(tx, batch, why, { ...counts, ...files, ...(await lines.usage(tx, id)) })
    await lines.remove(tx, id)
    if (why !== 'completed') return
    const about = { scope: batch.owner, requestId: batch.request_id, userId: batch.user_id, keyId: batch.api_key_id }
    const input = { metadata: { total: batch.total, ...counts } }
    await audit.recordUnattended(tx, about, {
      ...{ action: 'batch.completed', entityType: 'batch' as const, entityId: id },
      input,
    })
  }

  type Facts = Partial<Omit<BatchRow, 'errors'>> & { errors?: BatchErrors }

  /** The last change of a batch. Its file may be deleted afterwards. */
  async function end(tx: Tx, { id, input_file_id }: BatchRow, status: Ended, facts: Facts): Promise<void> {
    const t = tx.of(batches)
    const at = { [`${status}_at`]: clock.now() } as Partial<BatchRow>
    await tx
      .update(t)
      .set({ status, ...at, ...facts })
      .where(eq(t.id, id))
    await countReader(tx, input_file_id, -1)
  }

  /** Ends a batch that is still open when its job fails for any reason. */
  async function failed(tx: Tx, id: BatchId, message: string): Promise<void> {
    const batch = await find(tx, id)
    if (hasEnded(batch.status)) return
    const data = [{ code: 'batch_failed', message, param: null, line: null }]
    const counts = (await lines.counts(tx, [id])).get(id)
    const status = message === QUEUE_TIMEOUT ? 'expired' : 'failed'
    await end(tx, batch, status, { ...counts, errors: { object: 'list', data } })
  }

  const findFile = (batch: BatchRow) => findUpload(deps, store.read, null, batch.input_file_id)
}

const resultOf = ({ id }: BatchRow) => ({ data: { batch_id: id }, cost: 0 })

async function find(reader: Reader, id: BatchId): Promise<BatchRow> {
  const t = reader.of(batches)
  const [row] = await reader.select().from(t).where(eq(t.id, id)).limit(1)
  if (!row) throw new GiveUp('The batch is gone.')
  return row as BatchRow
}
