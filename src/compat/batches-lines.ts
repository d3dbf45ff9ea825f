import { and, asc, eq, inArray, isNotNull, isNull, ne, or, sql } from 'drizzle-orm'
import { newRequestId } from '../kernel/ids'
import { parseUntrustedJson } from '../kernel/json'
import { insertAll, type Reader, type Tx } from '../kernel/store'
import type { BatchEndpoint, BatchErrors, BatchId, BatchUsage } from './batches-schema'
import { type BatchLineRow, batchLines } from './table'

/** Maximum number of lines of a batch. */
export const MAX_LINES = 10_000
const MAX_ERRORS = 100
const LF = 10
const SPACES = new Set([9, 10, 13, 32])
/** After this many bytes, other work gets a turn. */
const TURN_BYTES = 256 * 1024
/** Lines read at a time for the files. */
const PAGE = 100

/** A line of a file. `line` counts from 1. `from` and `to` are its byte offsets. */
type Line = { line: number; from: number; to: number; bytes: Uint8Array }
export type NewLine = Pick<BatchLineRow, 'line' | 'custom_id' | 'from_byte' | 'to_byte'>

type Source = Blob | ReadableStream<Uint8Array>

/** The lines of a file that are not blank, one at a time. */
async function* linesIn(source: Source): AsyncGenerator<Line> {
  let [number, from, turn] = [1, 0, 0]
  let rest: Uint8Array[] = []
  const stream = source instanceof Blob ? source.stream() : source
  for await (const piece of stream as unknown as AsyncIterable<Uint8Array>) {
    let start = 0
    for (let end = piece.indexOf(LF); end >= 0; end = piece.indexOf(LF, start)) {
      const bytes = joined(rest, piece.subarray(start, end))
      if (!isBlank(bytes)) yield { line: number, from, to: from + bytes.byteLength, bytes }
      turn += bytes.byteLength
      if (turn > TURN_BYTES) {
        turn = 0
        await new Promise<void>((resolve) => setImmediate(resolve))
      }
      ;[rest, number, from, start] = [[], number + 1, from + bytes.byteLength + 1, end + 1]
    }
    if (start < piece.byteLength) rest.push(piece.slice(start))
  }
  const bytes = joined(rest, new Uint8Array())
  if (!isBlank(bytes)) yield { line: number, from, to: from + bytes.byteLength, bytes }
}

const joined = (rest: readonly Uint8Array[], last: Uint8Array): Uint8Array =>
  rest.length ? Buffer.concat([...rest, last]) : last
const isBlank = (bytes: Uint8Array): boolean => bytes.every((byte) => SPACES.has(byte))

/** Number of lines of a file. Stops counting at one more than a batch may have. */
export async function countLinesIn(source: Source): Promise<number> {
  let count = 0
  for await (const _ of linesIn(source)) if (++count > MAX_LINES) break
  return count
}

/** Reads every line of a file. `errors` lists the problems by line. Null if there are none. */
export async function readLines(source: Source, endpoint: BatchEndpoint) {
  const lines: NewLine[] = []
  const known = new Set<string>()
  const problems: BatchErrors['data'] = []
  const problem = (code: string, message: string, line: number | null, param: string | null = null) => {
    if (problems.length < MAX_ERRORS) problems.push({ code, message, param, line })
  }
  for await (const { line, from, to, bytes } of linesIn(source)) {
    if (lines.length === MAX_LINES) {
      problem('too_many_requests_in_batch', `A batch has at most ${MAX_LINES} lines.`, null)
      break
    }
    const found = objectIn(bytes)
    const id = typeof found === 'string' ? undefined : found.custom_id
    if (typeof found === 'string') problem('invalid_json_line', found, line)
    else if (typeof id !== 'string' || id.length < 1 || id.length > 64)
      problem('invalid_json_line', '"custom_id" must be a text of 1 to 64 characters.', line, 'custom_id')
    else if (typeof found.body !== 'object' || found.body === null || Array.isArray(found.body))
      problem('invalid_json_line', '"body" must be the body of the call, an object.', line, 'body')
    else if (known.has(id)) problem('duplicate_custom_id', 'Another line has this "custom_id".', line, 'custom_id')
    else if (found.method !== 'POST') problem('mismatched_endpoint', '"method" must be "POST".', line, 'method')
    else if (endpointIn(found.url) !== endpoint)
      problem('mismatched_endpoint', `"url" must be "${endpoint}", the endpoint of the batch.`, line, 'url')
    else known.add(id)
    lines.push({ line, custom_id: typeof id === 'string' ? id : '', from_byte: from, to_byte: to })
  }
  if (!lines.length) problem('empty_file', 'The input file has no lines.', null)
  return { lines, errors: problems.length ? { object: 'list' as const, data: problems } : null }
}

/** The normal form of an API path, which begins with /v1. */
export const endpointIn = (url: unknown): string | null =>
  typeof url === 'string' ? `/v1${url.replace(/^\/v1(?=\/)/, '')}` : null

/** The JSON object of a line, or a sentence that says why the line is not one. */
export function objectIn(bytes: Uint8Array): Record<string, unknown> | string {
  try {
    const found = parseUntrustedJson(bytes)
    if (typeof found === 'object' && found !== null && !Array.isArray(found)) return found as Record<string, unknown>
    return 'This line is not a JSON object.'
  } catch (error) {
    return (error as Error).message.replace(/^The body/, 'This line')
  }
}

const UNANSWERED = {
  ...{ tries: 0, ended_at: null, request_id: null, status_code: null, body: null, model: null },
  ...{ input_tokens: 0, cached_tokens: 0, output_tokens: 0, reasoning_tokens: 0 },
}

/** The answer of a line. */
type Answered = Pick<BatchLineRow, 'ended_at' | 'request_id' | 'status_code' | 'body'> &
  Partial<Pick<BatchLineRow, 'model' | 'input_tokens' | 'cached_tokens' | 'output_tokens' | 'reasoning_tokens'>>

const ofBatch = (t: typeof batchLines.sqlite, id: BatchId) => eq(t.batch_id, id)
const count = sql<number>`count(*)`.mapWith(Number)
const isAnswered = (t: typeof batchLines.sqlite) => eq(t.status_code, 200)

/** Rows of the lines of batches. */
export const lineRepository = {
  /** Adds lines. Existing lines remain unchanged. */
  insert(tx: Tx, id: BatchId, lines: readonly NewLine[]): Promise<void> {
    const t = tx.of(batchLines)
    const rows = lines.map((line): BatchLineRow => ({ batch_id: id, ...line, ...UNANSWERED }))
    return insertAll(tx, t, rows, (unit, row) => unit.insert(t).values(row))
  },

  /** The first lines that have no answer. */
  async left(db: Reader, id: BatchId, limit: number): Promise<BatchLineRow[]> {
    const t = db.of(batchLines)
    const waiting = db
      .select()
      .from(t)
      .where(and(ofBatch(t, id), isNull(t.ended_at)))
    return (await waiting.orderBy(asc(t.line)).limit(limit)) as BatchLineRow[]
  },

  /** Stores the answer of a line, once. False when the line already has one. */
  async end(tx: Tx, { batch_id, line }: Pick<BatchLineRow, 'batch_id' | 'line'>, answer: Answered): Promise<boolean> {
    const t = tx.of(batchLines)
    const open = and(ofBatch(t, batch_id), eq(t.line, line), isNull(t.ended_at))
    return (await tx.update(t).set(answer).where(open).returning({ line: t.line })).length === 1
  },

  /** Ends every line that has no answer. */
  async endAll(tx: Tx, id: BatchId, answer: Answered): Promise<void> {
    const t = tx.of(batchLines)
    await tx
      .update(t)
      .set(answer)
      .where(and(ofBatch(t, id), isNull(t.ended_at)))
  },

  async countTry(tx: Tx, { batch_id, line }: Pick<BatchLineRow, 'batch_id' | 'line'>): Promise<void> {
    const t = tx.of(batchLines)
    await tx
      .update(t)
      .set({ tries: sql`${t.tries} + 1` })
      .where(and(ofBatch(t, batch_id), eq(t.line, line)))
  },

  /** Number of completed and failed lines of each batch. */
  async counts(db: Reader, ids: readonly BatchId[]) {
    const t = db.of(batchLines)
    if (!ids.length) return new Map<BatchId, { completed: number; failed: number }>()
    const completed = sql<number>`count(case when ${isAnswered(t)} then 1 end)`.mapWith(Number)
    const found = db.select({ id: t.batch_id, completed, ended: count }).from(t)
    const rows = await found.where(and(inArray(t.batch_id, [...ids]), isNotNull(t.ended_at))).groupBy(t.batch_id)
    return new Map(rows.map((row) => [row.id, { completed: row.completed, failed: row.ended - row.completed }]))
  },

  /** The tokens of the answered lines, and the engines that answered them. */
  async usage(db: Reader, id: BatchId): Promise<{ usage: BatchUsage; model: string | null }> {
    const t = db.of(batchLines)
    const sum = (column: typeof t.input_tokens) => sql<number>`coalesce(sum(${column}), 0)`.mapWith(Number)
    const sums = db
      .select({
        ...{ input: sum(t.input_tokens), cached: sum(t.cached_tokens) },
        ...{ output: sum(t.output_tokens), reasoning: sum(t.reasoning_tokens) },
        ...{ first: sql<string | null>`min(${t.model})`, other: sql<string | null>`max(${t.model})` },
      })
      .from(t)
    const { input, cached, output, reasoning, first, other } = (await sums.where(ofBatch(t, id)))[0]!
    const usage = {
      ...{ input_tokens: input, input_tokens_details: { cached_tokens: cached } },
      ...{ output_tokens: output, output_tokens_details: { reasoning_tokens: reasoning } },
      total_tokens: input + output,
    }
    return { usage, model: first === other ? first : null }
  },

  async remove(tx: Tx, id: BatchId): Promise<void> {
    await tx.delete(tx.of(batchLines)).where(ofBatch(tx.of(batchLines), id))
  },
}

/** The lines of an output file (`isOutput`) or an error file as bytes, in the order in which they ended. */
export async function* writtenLines(db: Reader, id: BatchId, isOutput: boolean): AsyncGenerator<Uint8Array> {
  const t = db.of(batchLines)
  const which = isOutput ? isAnswered(t) : or(isNull(t.status_code), ne(t.status_code, 200))
  for (let after = { at: -1, line: 0 }; ; ) {
    const place = sql`(${t.ended_at}, ${t.line}) > (${after.at}, ${after.line})`
    const found = db
      .select()
      .from(t)
      .where(and(ofBatch(t, id), isNotNull(t.ended_at), which, place))
    const rows = (await found.orderBy(asc(t.ended_at), asc(t.line)).limit(PAGE)) as BatchLineRow[]
    if (rows.length) yield Buffer.from(rows.map(lineOut).join(''))
    if (rows.length < PAGE) return
    const { ended_at, line } = rows.at(-1)!
    after = { at: ended_at!, line }
  }
}

function lineOut({ custom_id, status_code, request_id, body }: BatchLineRow): string {
  const head = `{"id":${JSON.stringify(newRequestId('batch_req'))},"custom_id":${JSON.stringify(custom_id)}`
  if (status_code === null) return `${head},"response":null,"error":${body}}\n`
  const response = `{"status_code":${status_code},"request_id":${JSON.stringify(request_id)},"body":${body}}`
  return `${head},"response":${response},"error":null}\n`
}

type Counts = Record<string, unknown> & Partial<Record<string, Record<string, unknown>>>

/** Tokens and engine of an answer in any format. */
export function usedBy(answer: object) {
  const { usage = {}, model } = answer as { usage?: Counts; model?: unknown }
  const number = (...values: unknown[]): number => (values.find((value) => typeof value === 'number') as number) ?? 0
  const cachedApart = number(usage.cache_read_input_tokens) + number(usage.cache_creation_input_tokens)
  return {
    model: typeof model === 'string' ? model : null,
    input_tokens: number(usage.prompt_tokens, usage.input_tokens) + cachedApart,
    cached_tokens: number(
      usage.prompt_tokens_details?.cached_tokens,
      usage.input_tokens_details?.cached_tokens,
      usage.cache_read_input_tokens,
    ),
    output_tokens: number(usage.completion_tokens, usage.output_tokens),
    reasoning_tokens: number(
      usage.completion_tokens_details?.reasoning_tokens,
      usage.output_tokens_details?.reasoning_tokens,
    ),
  }
}
