import { iso } from '../kernel/clock'
import { type CsvCell, csvFile, csvHeaders } from '../kernel/csv'
import { microToCents, plainCents } from '../kernel/money'
import type { Reader } from '../kernel/store'
import { nextTurn } from '../kernel/turns'
import { type ExportRow, exportPage, type Mark } from './call-repository'
import { EXPORT_ROWS } from './errors'
import type { Choice } from './report-repository'
import { type ExportFormat, UsageExportRow } from './schema'
import type { Span } from './spans'

const PAGE = 1_000
const COLUMNS = Object.keys(UsageExportRow.properties)

type Input = { choice: Choice; span: Span; signal: AbortSignal }

const headersOf = (format: ExportFormat, type: string) => ({
  ...csvHeaders('usage'),
  'content-type': type,
  'content-disposition': `attachment; filename="usage.${format}"`,
})

/** Response headers of each export format. */
export const EXPORT_HEADERS: Record<ExportFormat, Record<string, string>> = {
  csv: csvHeaders('usage'),
  json: headersOf('json', 'application/json'),
  jsonl: headersOf('jsonl', 'application/jsonl'),
}

/** The calls, newest first, as pieces of the requested format (contract 18.1). */
export function piecesOf(
  db: Reader,
  input: Input & { format: ExportFormat; requestId: string },
): AsyncGenerator<string> {
  if (input.format === 'json') return asJson(db, input, input.requestId)
  return input.format === 'jsonl' ? asJsonLines(db, input) : csvFile(COLUMNS, cellPages(db, input))
}

/** One JSON object, whose rows are streamed a page at a time. */
async function* asJson(db: Reader, input: Input, requestId: string): AsyncGenerator<string> {
  yield `{"request_id":${JSON.stringify(requestId)},"rows":[`
  let between = ''
  for await (const page of pages(db, input)) {
    if (!page.length) continue
    yield between + page.map((row) => JSON.stringify(toRow(row))).join(',')
    between = ','
  }
  yield ']}'
}

async function* asJsonLines(db: Reader, input: Input): AsyncGenerator<string> {
  for await (const page of pages(db, input)) {
    if (page.length) yield page.map((row) => `${JSON.stringify(toRow(row))}\n`).join('')
  }
}

async function* cellPages(db: Reader, input: Input): AsyncGenerator<CsvCell[][]> {
  for await (const page of pages(db, input)) yield page.map(toCells)
}

/** Reads pages by cursor, so that no transaction stays open while a slow client reads. */
async function* pages(db: Reader, { choice, span, signal }: Input): AsyncGenerator<ExportRow[]> {
  let before: Mark | null = null
  for (let sent = 0; sent < EXPORT_ROWS; sent += PAGE) {
    const page: ExportRow[] = await exportPage(db, choice, { ...span, before, limit: PAGE })
    yield page
    if (page.length < PAGE || signal.aborted) return
    before = page.at(-1)!
    // A client that reads fast would otherwise hold the event loop.
    await nextTurn()
  }
}

const toRow = (row: ExportRow): UsageExportRow => ({
  timestamp: iso(row.at),
  request_id: row.request_id,
  api_key_id: row.api_key_id,
  endpoint: row.endpoint,
  mode: row.mode,
  resolved_mode: row.resolved_mode,
  model: row.model,
  status: row.status,
  prompt_tokens: row.prompt_tokens,
  completion_tokens: row.completion_tokens,
  total_tokens: row.prompt_tokens + row.completion_tokens,
  cost_cents: microToCents(row.cost_micro),
  cached: row.cached,
  latency_ms: row.latency_ms,
})

const toCells = (row: ExportRow): CsvCell[] =>
  Object.values({ ...toRow(row), cost_cents: plainCents(row.cost_micro) } satisfies Record<string, CsvCell>)
