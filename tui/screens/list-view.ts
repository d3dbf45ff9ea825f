import { type Line, type Span, say } from '../draw/line'
import type { Fields } from '../filter'
import type { Dialog, Facts, Model, Row } from '../state/model'

export type Column<R> = {
  header: string
  /** Cells with the gap to the next column. */
  width: number
  /** Takes what the window has to spare. */
  grows?: boolean
  right?: boolean
  /** Left out where the list has less room than its columns need. */
  spare?: boolean
  cell(row: R, model: Model): Span
  /** For sorting. */
  value(row: R): string | number
}

/** A command that an action runs at once and whose output is shown, and one that is begun in the palette. */
type Direct = { run: readonly string[]; write: boolean } | { begin: string }

/** What an action asks before it is done, or does; a text says why it cannot be done. */
export type Request = Dialog | Direct | string | null

/** A screen that is a list with a drawer below, or beside where there is room. */
export type ListView<R extends Row = Row> = {
  columns: readonly Column<R>[]
  fields: Fields<R>
  /** Cells before the first column: the mark of the chosen row stands there. */
  margin: number
  /** Rows above the list, instead of the line about the filter; null keeps it. */
  above?(model: Model, facts: Facts): Line[]
  /** Rows that are left out until a filter asks for their status, and what they are called. */
  hidden?: { word: string; is(row: R): boolean }
  /** The rows of one owner can be picked. */
  byOwner?: true
  /** What the filter's line says on its right when nothing is sorted. */
  order: string
  /** How many there are on the server, of which the newest are here; 0 where that is not known. */
  total?(model: Model): number
  title(row: R): string
  drawer(row: R, model: Model, width: number): Line[]
  /** Rows of the drawer in the smallest window, its rule included. */
  drawerRows: number
  empty: readonly string[]
  hints: string
  /** By what the key does. */
  actions: Readonly<Record<string, (rows: readonly R[], model: Model) => Request>>
  /** What is read besides for the details of the chosen row: a path below `/ops/v1/`. */
  reads?(row: R): string
  /** The request that made the row, for the record. */
  requestOf?(row: R): string | null
}

/** A column that is sorted by what it shows; a dash stands for nothing. `cell` shows it in another way. */
export const column = <R>(
  header: string,
  width: number,
  value: (row: R) => string | number | null,
  more: Pick<Partial<Column<R>>, 'grows' | 'right' | 'spare' | 'cell'> = {},
): Column<R> => ({
  header,
  width,
  cell: (row) => say(String(value(row) ?? '–')),
  ...more,
  value: (row) => value(row) ?? '',
})

/** Fields of a filter that are called as in the row. */
export const its = <R extends Row>(...names: (keyof R & string)[]): Fields<R> =>
  Object.fromEntries(names.map((name) => [name, (row: R) => row[name] as string | number | null]))

/** A view forgets what its rows are: the topic of its screen has them. */
export const listView = <R extends Row>(view: ListView<R>): ListView => view as unknown as ListView

export const dialog = (
  title: string,
  about: readonly string[],
  argv: readonly (readonly string[])[],
  verb: string,
  field: Dialog['field'] = null,
): Dialog => ({ title, about, argv, verb, field, focus: field ? 'field' : 'cancel' })

/** The reason that the record keeps. */
export const REASON = { label: 'Reason', flag: '--reason', text: '', required: true } as const

/** `a`, `a and b`, `3 jobs`. */
export const namesOf = (names: readonly string[], noun: string): string =>
  names.length <= 2 ? names.join(' and ') : `${names.length} ${noun}`
