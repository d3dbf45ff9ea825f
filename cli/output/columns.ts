import type { JsonObject } from './json'

export type ColumnKind = 'text' | 'number' | 'money' | 'time' | 'list' | 'flag'

/** One member of an answer: a column in a table, a name in `--fields`. */
export type Column = {
  /** The member of the JSON object; `a.b` reaches inside. */
  field: string
  header: string
  kind?: ColumnKind
  /** Only in `wide`, csv and single records. */
  wide?: boolean
  /** Draws the cell where a table says more, or less, than the member does; `whole` where there is room. */
  show?(row: JsonObject, whole: boolean): string
}

export const column = (field: string, header: string, rest: Omit<Column, 'field' | 'header'> = {}): Column => ({
  field,
  header,
  ...rest,
})

export const isNumeric = ({ kind }: Column): boolean => kind === 'number' || kind === 'money'

/** Enough of an id to name it by; whole where there is room. */
export const idColumn: Column = {
  field: 'id',
  header: 'ID',
  show: ({ id }, whole) => (whole ? String(id) : String(id).slice(0, 8)),
}

/** The value at `a.b`, or undefined. */
export const valueAt = (row: JsonObject, field: string): unknown =>
  field
    .split('.')
    .reduce<unknown>((at, name) => (at !== null && typeof at === 'object' ? (at as JsonObject)[name] : undefined), row)
