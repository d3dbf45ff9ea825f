import { type Line, type Span, textSpan } from '../draw/line'
import type { Fields } from '../filter'
import type { Dialog, Facts, Model, Row } from '../state/model'

export type Column<R> = {
  header: string
  /** Width in cells, including the gap to the next column. */
  width: number
  /** Takes the spare width of the window. */
  grows?: boolean
  right?: boolean
  /** Omitted if the list is too narrow for all columns. */
  spare?: boolean
  cell(row: R, model: Model): Span
  /** Sort key. */
  value(row: R): string | number
}

/** A command that runs at once and shows its output, or one that is started in the palette. */
type Direct = { run: readonly string[]; write: boolean } | { begin: string }

/** The result of an action key: a dialog, a command, or a text that says why the action is impossible. */
export type Request = Dialog | Direct | string | null

/** A screen that is a list with a drawer below, or beside it in a wide window. */
export type ListView<R extends Row = Row> = {
  columns: readonly Column<R>[]
  fields: Fields<R>
  /** Cells before the first column, for the mark of the selected row. */
  margin: number
  /** Rows above the list, instead of the filter line. Null keeps the filter line. */
  above?(model: Model, facts: Facts): Line[]
  /** Rows that are hidden unless a filter names their status, and the word for them. */
  hidden?: { word: string; is(row: R): boolean }
  /** True if the list can be limited to the rows of one owner. */
  byOwner?: true
  /** Text on the right of the filter line when nothing is sorted. */
  order: string
  /** Number of rows on the server, of which the newest are loaded. 0 if unknown. */
  total?(model: Model): number
  title(row: R): string
  drawer(row: R, model: Model, width: number): Line[]
  /** Rows of the drawer in the smallest window, including its rule. */
  drawerRows: number
  empty: readonly string[]
  hints: string
  /** Actions, by their name in the keymap. */
  actions: Readonly<Record<string, (rows: readonly R[], model: Model) => Request>>
  /** Path below `/ops/v1/` of further details for the selected row. */
  reads?(row: R): string
  /** The request that created the row. Used to trace it. */
  requestOf?(row: R): string | null
}

type Shown<R> = { cell?(row: R, model: Model): Span | string }

/** A column sorted by the value it shows. A dash stands for an empty value. `cell` overrides how it is shown. */
export const column = <R>(
  header: string,
  width: number,
  value: (row: R) => string | number | null,
  { cell, ...more }: Pick<Partial<Column<R>>, 'grows' | 'right' | 'spare'> & Shown<R> = {},
): Column<R> => ({
  header,
  width,
  ...more,
  cell(row, model) {
    const shown = cell ? cell(row, model) : String(value(row) ?? '–')
    return typeof shown === 'string' ? textSpan(shown) : shown
  },
  value: (row) => value(row) ?? '',
})

/** Filter fields with the same names as members of the row. */
export const its = <R extends Row>(...names: (keyof R & string)[]): Fields<R> =>
  Object.fromEntries(names.map((name) => [name, (row: R) => row[name] as string | number | null]))

/** Drops the row type from a view. The topic of its screen determines it. */
export const listView = <R extends Row>(view: ListView<R>): ListView => view as unknown as ListView

export const dialog = (
  title: string,
  about: readonly string[],
  argv: readonly (readonly string[])[],
  verb: string,
  field: Dialog['field'] = null,
): Dialog => ({ title, about, argv, verb, field, focus: field ? 'field' : 'cancel' })

/** Input for the reason that the audit record stores. */
export const REASON = { label: 'Reason', flag: '--reason', text: '', required: true } as const

/** `a`, `a and b`, `3 jobs`. */
export const namesOf = (names: readonly string[], noun: string): string =>
  names.length <= 2 ? names.join(' and ') : `${names.length} ${noun}`
