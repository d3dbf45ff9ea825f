import { csvLine } from '../../src/kernel/csv'
import { centsToMicro, spellCents } from '../../src/kernel/money'
import { didYouMean } from '../../src/kernel/nearest'
import { clean, mapStrings } from '../../src/kernel/text'
import { brokenFilter, type Fields, readFilter } from '../../tui/filter'
import { usageFailure } from '../failure'
import type { Io } from '../shell'
import { type Column, isNumeric, valueAt } from './columns'
import { type JsonObject, safeJson } from './json'
import { toAscii } from './paint'
import { type Layout, layOut, linesOf, record, widthsOf } from './table'
import { spellTime, type TimeStyle } from './time'

/** Members that hold a row's creation time in answers. `age` counts from it. */
const BORN = ['created_at', 'createdAt', 'at', 'timestamp', 'started_at']

const readerOf =
  (column: Column) =>
  (row: JsonObject): string | number | null => {
    const value = valueAt(row, column.field)
    if (value === null || value === undefined) return null
    if (isNumeric(column)) return Number(value)
    if (Array.isArray(value)) return value.join(' ')
    return typeof value === 'object' ? JSON.stringify(value) : typeof value === 'number' ? value : String(value)
  }

type CellStyle = { time: TimeStyle; now: number }

/** A cell is one line, so tabs and newlines become blanks. */
const oneLine = (value: unknown): string =>
  clean(typeof value === 'object' ? safeJson(value) : String(value)).replace(/[\t\n]+/g, ' ')

export const FORMATS = ['table', 'wide', 'json', 'jsonl', 'yaml', 'csv', 'id', 'none'] as const
/** Monitoring formats, which only some commands offer (`Command.formats`). */
export const MONITOR_FORMATS = ['nagios', 'prometheus'] as const
export type Format = (typeof FORMATS)[number] | (typeof MONITOR_FORMATS)[number]

export type PrintStyle = CellStyle & {
  format: Format
  /** `--fields`: columns of a table, or members of an object. */
  fields: readonly string[] | null
  headers: boolean
  quiet: boolean
  /** ASCII only. Applied to cells before they are measured. */
  ascii?: boolean
  /** `--filter`: selects the rows of a list to print. */
  filter?: string | undefined
  /** Prints only lines that the previous print did not have, for a watch in a pipe. */
  changesOnly?: boolean
}

export type Printer = ReturnType<typeof createPrinter>

export const isStructured = (format: Format): boolean => ['json', 'jsonl', 'yaml'].includes(format)

/** Prints records in the chosen format: lists as arrays, single records as an object (docs/operating.md 2.4). */
export function createPrinter(io: Io, style: PrintStyle) {
  let printed: ReadonlySet<string> = new Set()
  return { list, item, feed, kept }

  /** The rows that match `--filter`, in the dashboard's filter language. @throws CommandFailed 2 for an unknown field */
  function kept<Row extends object>(rows: readonly Row[], columns: readonly Column[]): readonly Row[] {
    if (style.filter === undefined) return rows
    const own: Fields<JsonObject> = Object.fromEntries(columns.map((column) => [column.field, readerOf(column)]))
    const born = BORN.find((name) => own[name])
    const age = (row: JsonObject) => style.now - Date.parse(String(valueAt(row, born!)))
    const fields = born ? { ...own, age } : own
    const broken = brokenFilter(style.filter)
    if (broken) throw usageFailure(`--filter: ${broken}. Put text in quotes to search for it exactly: '"("'.`)
    const { wrong, matches } = readFilter(style.filter, fields)
    const [first] = wrong
    if (!first) return rows.filter((row) => matches(row as JsonObject))
    const meant = first.meant ? ` Did you mean "${first.meant}"?` : ''
    throw usageFailure(
      `--filter: there is no field "${first.field}".${meant} Fields: ${Object.keys(fields).join(', ')}.`,
    )
  }

  /** Prints a list. For an empty list, prints `empty` to stderr. In table format stdout then stays empty. */
  function list(rows: readonly object[], columns: readonly Column[], empty: string): void {
    const records = kept(rows, columns) as readonly JsonObject[]
    assertFields(columns)
    if (isTable()) {
      if (!records.length) {
        if (!style.quiet) io.err(clean(rows.length ? 'Nothing matches the filter.' : empty))
        return
      }
      feed(columns)(records)
      return
    }
    machine(records, columns, records.map(picked))
  }

  /** A table whose rows arrive in batches: one header, and column widths fixed by the first batch. */
  function feed(columns: readonly Column[], time = style.time): (rows: readonly object[]) => void {
    const shownColumns = chosen(columns)
    const headers = shownColumns.map(({ header }) => header)
    let widths: number[] = []
    let first: Layout | null = null
    return (rows) => {
      if (!rows.length) return
      const cells = (rows as readonly JsonObject[]).map((row) =>
        shownColumns.map((column) => {
          const text = cell(row, column, { time, now: style.now }, style.format === 'wide' || io.width === null)
          return style.ascii ? toAscii(text) : text
        }),
      )
      const lines = first === null && style.headers ? [headers, ...cells] : cells
      widths = widthsOf(shownColumns, lines).map((width, at) => Math.max(width, widths[at] ?? 0))
      const mayDrop = first === null && style.format === 'table' && !style.fields
      const { shown, widths: fitted } = layOut(shownColumns, widths, { width: io.width, mayDrop })
      const layout = { shown: first?.shown ?? shown, widths: fitted }
      for (const line of linesOf(shownColumns, lines, layout, style.ascii ? '...' : '…')) io.out(line)
      const gone = first === null ? shownColumns.filter((_, at) => !layout.shown.includes(at)) : []
      if (gone.length && !style.quiet)
        io.err(`no room for ${gone.map(({ header }) => header).join(', ')}; -o wide shows all columns`)
      first = layout
    }
  }

  /** Prints one record. In table format as lines of name and value. */
  function item(object: object, columns: readonly Column[]): void {
    const one = object as JsonObject
    assertFields(columns)
    if (isTable()) {
      const shown = style.fields ? chosen(columns) : columns
      const pairs = shown.map((column) => [column.header.toLowerCase(), cell(one, column, style, true)] as const)
      for (const line of record(pairs)) io.out(line)
      return
    }
    machine([one], columns, picked(one))
  }

  function isTable(): boolean {
    return style.format === 'table' || style.format === 'wide'
  }

  function machine(records: readonly JsonObject[], columns: readonly Column[], value: unknown): void {
    const all = Array.isArray(value) ? value : [value]
    const as: Partial<Record<Format, () => string[]>> = {
      json: () => [safeJson(value, 2)],
      jsonl: () => all.map((row) => safeJson(row)),
      yaml: () => [String(Bun.YAML.stringify(mapStrings(value, clean), null, 2)).trimEnd()],
      csv: () => csv(records, every(columns), style.headers),
      id: () => records.map((row) => clean(String(row.id ?? row.name ?? ''))),
    }
    const lines = as[style.format]?.() ?? []
    const before = printed
    if (style.changesOnly) printed = new Set(lines)
    for (const line of lines) if (!before.has(line)) io.out(line)
  }

  function chosen(columns: readonly Column[]): Column[] {
    if (style.fields) return every(columns)
    return columns.filter(({ wide }) => style.format === 'wide' || !wide)
  }

  function every(columns: readonly Column[]): Column[] {
    const { fields } = style
    if (!fields) return [...columns]
    return fields.map((field) => columns.find((column) => column.field === field)!)
  }

  function picked(row: JsonObject): JsonObject {
    const { fields } = style
    if (!fields) return row
    return Object.fromEntries(fields.map((field) => [field, valueAt(row, field) ?? null]))
  }

  function assertFields(columns: readonly Column[]): void {
    const known = columns.map(({ field }) => field)
    const wrong = style.fields?.find((field) => !known.includes(field))
    if (wrong === undefined) return
    throw usageFailure(`There is no field "${wrong}".${didYouMean(wrong, known)} Fields: ${known.join(', ')}.`)
  }
}

const csv = (records: readonly JsonObject[], columns: readonly Column[], headers: boolean): string[] => [
  ...(headers ? [csvLine(columns.map(({ field }) => field))] : []),
  ...records.map((row) =>
    csvLine(
      columns.map(({ field }) => {
        const value = valueAt(row, field)
        if (value === null || value === undefined) return ''
        if (Array.isArray(value)) return clean(value.join(' '))
        return clean(typeof value === 'object' ? safeJson(value) : String(value))
      }),
    ),
  ),
]

/** Records as the lines of a CSV file, with every column. */
export const csvOf = (records: readonly object[], columns: readonly Column[]): string[] =>
  csv(records as readonly JsonObject[], columns, true)

/** One member of a record as text that is safe for a terminal. An absent member is `-`. */
function cell(row: JsonObject, column: Column, style: CellStyle, whole = false): string {
  if (column.show) return clean(column.show(row, whole))
  const value = valueAt(row, column.field)
  if (value === null || value === undefined || value === '') return '-'
  switch (column.kind) {
    case 'money':
      return spellCents(centsToMicro(Number(value)))
    case 'time':
      return spellTime(String(value), style)
    case 'list':
      return Array.isArray(value) ? clean(value.join(',')) || '-' : oneLine(value)
    case 'flag':
      return value ? 'yes' : 'no'
    default:
      return oneLine(value)
  }
}
