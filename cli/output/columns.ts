import type { JsonObject } from './json'

export const KINDS = ['number', 'money', 'time', 'list', 'flag'] as const

/** One member of an answer: a table column, and a name for `--fields`. */
export type Column = {
  /** The member's path in the JSON object. `a.b` is nested. */
  field: string
  header: string
  kind?: (typeof KINDS)[number]
  /** Shown only in `wide`, csv and single records. */
  wide?: boolean
  /** Never cut in a table, because a part of an id is useless. */
  keep?: boolean
  /** Omitted first when a table is narrow. */
  min?: boolean
  /** Formats the cell if the raw value is not suitable. `whole` is true when there is room for all of it. */
  show?(row: JsonObject, whole: boolean): string
}

export const isNumeric = ({ kind }: Column): boolean => kind === 'number' || kind === 'money'

/** The value at `a.b`, or undefined. */
export const valueAt = (row: JsonObject, field: string): unknown =>
  field
    .split('.')
    .reduce<unknown>((at, name) => (at !== null && typeof at === 'object' ? (at as JsonObject)[name] : undefined), row)
