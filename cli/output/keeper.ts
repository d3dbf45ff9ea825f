import { brokenFilter, type Fields, readFilter } from '../../src/kernel/filter'
import { usageFailure } from '../failure'
import { type Column, isNumeric, valueAt } from './columns'
import type { JsonObject } from './json'

/** When a row came to be, by the names that answers have for it; `age` is counted from there. */
const BORN = ['created_at', 'createdAt', 'at', 'timestamp', 'started_at']

/**
 * What `--filter` keeps of rows with these columns, in the language of the dashboard (dx 3.4). @throws CommandFailed 2
 * for a name that is no field.
 */
export function keeperOf(expression: string, columns: readonly Column[], now: number): (row: JsonObject) => boolean {
  const own: Fields<JsonObject> = Object.fromEntries(columns.map((column) => [column.field, readerOf(column)]))
  const born = BORN.find((name) => own[name])
  const age = (row: JsonObject) => now - Date.parse(String(valueAt(row, born!)))
  const fields = born ? { ...own, age } : own
  const broken = brokenFilter(expression)
  if (broken) throw usageFailure(`--filter: ${broken}. Put text in quotes to search for it exactly: '"("'.`)
  const { wrong, matches } = readFilter(expression, fields)
  const [first] = wrong
  if (!first) return matches
  const meant = first.meant ? ` Did you mean "${first.meant}"?` : ''
  throw usageFailure(`--filter: there is no field "${first.field}".${meant} Fields: ${Object.keys(fields).join(', ')}.`)
}

const readerOf =
  (column: Column) =>
  (row: JsonObject): string | number | null => {
    const value = valueAt(row, column.field)
    if (value === null || value === undefined) return null
    if (isNumeric(column)) return Number(value)
    if (Array.isArray(value)) return value.join(' ')
    return typeof value === 'object' ? JSON.stringify(value) : typeof value === 'number' ? value : String(value)
  }
