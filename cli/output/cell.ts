import { centsToMicro, spellCents } from '../../src/kernel/money'
import { clean } from '../../src/kernel/text'
import { type Column, valueAt } from './columns'
import { type JsonObject, safeJson } from './json'
import { spellTime, type TimeStyle } from './time'

export type CellStyle = { time: TimeStyle; now: number }

/** One member of a record as text that is safe for a terminal. An absent member is `-`. */
export function cell(row: JsonObject, column: Column, style: CellStyle, whole = false): string {
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

/** A cell is one line: tabs and newlines become blanks. */
const oneLine = (value: unknown): string =>
  clean(typeof value === 'object' ? safeJson(value) : String(value)).replace(/[\t\n]+/g, ' ')
