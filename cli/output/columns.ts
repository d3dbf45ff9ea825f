import type { JsonObject } from './json'

type ColumnKind = 'text' | 'number' | 'money' | 'time' | 'list' | 'flag'

/** One member of an answer: a table column, and a name for `--fields`. */
export type Column = {
  /** The member's path in the JSON object; `a.b` is nested. */
  field: string
  header: string
  kind?: ColumnKind
  /** Only in `wide`, csv and single records. */
  wide?: boolean
  /** Never cut in a table: a part of an id names nothing. */
  keep?: boolean
  /** Left out of a table first where it is narrow. */
  min?: boolean
  /** Formats the cell when the raw value is not suitable; `whole` when there is room for all of it. */
  show?(row: JsonObject, whole: boolean): string
}

export const column = (field: string, header: string, rest: Omit<Column, 'field' | 'header'> = {}): Column => ({
  field,
  header,
  ...rest,
})

export const isNumeric = ({ kind }: Column): boolean => kind === 'number' || kind === 'money'

/** Shows the start of an id, enough to name it by; the whole id when there is room. */
export const idColumn: Column = {
  field: 'id',
  header: 'ID',
  keep: true,
  show: ({ id }, whole) => (whole ? String(id) : String(id).slice(0, 8)),
}

/** The value at `a.b`, or undefined. */
export const valueAt = (row: JsonObject, field: string): unknown =>
  field
    .split('.')
    .reduce<unknown>((at, name) => (at !== null && typeof at === 'object' ? (at as JsonObject)[name] : undefined), row)
