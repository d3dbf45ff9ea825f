import { iso } from '../kernel/clock'
import { CSV_BEGIN, type CsvCell, csvHeaders, csvLines } from '../kernel/csv'
import type { Reader } from '../kernel/store'
import { nextTurn } from '../kernel/turns'
import { present } from './chain'
import { EXPORT_COLUMNS } from './columns'
import { filtersOf } from './filters'
import { selectSlice } from './repository'
import type { AuditFilters, ChainScope } from './schema'
import { seqRangeOf } from './seq-range'
import type { AuditEventRow } from './table'

/** Headers of each export format: browsers download the file instead of showing it. */
export const EXPORT_HEADERS = {
  csv: csvHeaders('audit'),
  jsonl: {
    ...csvHeaders('audit'),
    'content-type': 'application/jsonl; charset=utf-8',
    'content-disposition': 'attachment; filename="audit.jsonl"',
  },
} as const

/** Events read per step, before filtering. */
const WINDOW = 1_000

/**
 * Pages of an export, newest event first; events written after the start are left out. Summaries are the text
 * that was hashed, so an unfiltered export can be verified without this server.
 */
export async function* exportRows(
  reader: Reader,
  { scope, filters, signal }: { scope: ChainScope; filters: AuditFilters; signal: AbortSignal },
): AsyncGenerator<AuditEventRow[]> {
  const { floor, ceiling } = await seqRangeOf(reader, scope, filters)
  const conditions = filtersOf(reader, filters)
  for (let upTo = ceiling; upTo > floor && !signal.aborted; upTo -= WINDOW) {
    const above = Math.max(floor, upTo - WINDOW)
    const rows = await selectSlice(reader, { scope, above, upTo, limit: WINDOW, filters: conditions })
    yield rows
    await nextTurn()
  }
}

/** The export as text: CSV with the columns of contract 19, or one JSON event per line. */
export async function* written(pages: AsyncIterable<AuditEventRow[]>, format: 'csv' | 'jsonl'): AsyncGenerator<string> {
  if (format === 'csv') yield CSV_BEGIN + csvLines([EXPORT_COLUMNS])
  for await (const rows of pages)
    if (rows.length) yield format === 'csv' ? csvLines(rows.map(cellsOf)) : rows.map(lineOf).join('')
}

const lineOf = (row: AuditEventRow): string => `${JSON.stringify(present(row))}\n`

const cellsOf = (row: AuditEventRow): CsvCell[] => [
  row.id,
  iso(row.at),
  row.action,
  row.entity_type,
  row.entity_id,
  row.user_id,
  row.org_id,
  row.api_key_id,
  row.request_id,
  row.status,
  row.input,
  row.output,
  row.prev_hash,
  row.hash,
]
