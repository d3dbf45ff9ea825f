import { unparse } from 'papaparse'

export type CsvCell = string | number | boolean | null

/** Headers of a CSV answer, which browsers save and never render. `name` is not escaped, so pass a constant. */
export const csvHeaders = (name: string) => ({
  'content-type': 'text/csv; charset=utf-8; header=present',
  'content-disposition': `attachment; filename="${name}.csv"`,
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
})

/** Begins every CSV file, so that Excel reads it as UTF-8. */
export const CSV_BEGIN = '\ufeff'

/** Records as RFC 4180 text, each ended by CRLF. No cell can start a formula in a spreadsheet (docs/attacks.md F7). */
export const csvLines = (records: readonly (readonly CsvCell[])[]): string =>
  records.length === 0 ? '' : `${unparse(records.map(harmlessCells), { newline: '\r\n' })}\r\n`

/** One record without a line end, for callers that print lines to programs. */
export const csvLine = (cells: readonly CsvCell[]): string => unparse([harmlessCells(cells)])

/** Streams a whole file: the header at once, then each page of records as it arrives. */
export async function* csvFile(
  columns: readonly string[],
  pages: AsyncIterable<readonly (readonly CsvCell[])[]>,
): AsyncGenerator<string> {
  yield CSV_BEGIN + csvLines([columns])
  for await (const page of pages) if (page.length) yield csvLines(page)
}

/** A cell that a spreadsheet would run as a formula, also after leading blanks or with full-width signs. */
const FORMULA = /^(?:[\t\r\n]|\s*[=+\-@\uff1d\uff0b\uff0d\uff20])/
/** A number as people write it, with its unit: -3,50 or +12 % or -$1,250.00. */
const NUMBER = /^[+-] ?\p{Sc}?\d[\d.,'’ \u00a0\u202f]{0,40}[\p{Sc}%]?$/u
/** A dash for an unknown value. */
const DASH = /^[+-]{1,2}$/
/** Of at most 40 characters, none of which is a letter. */
const PHONE = /^\+\d[\d ()./\u00a0-]{4,38}\d$/

const harmlessCells = (cells: readonly CsvCell[]): string[] => cells.map(harmless)

function harmless(cell: CsvCell): string {
  if (cell === null) return ''
  if (typeof cell !== 'string') return String(cell)
  return FORMULA.test(cell) && !NUMBER.test(cell) && !PHONE.test(cell) && !DASH.test(cell) ? `'${cell}` : cell
}
