import type { ReactNode } from 'react'
import { Chip, type ChipState } from './controls'
import { Ago, duration, money, Time } from './format'
import type { Column } from './table'

/* Columns of frequent kinds. Each sorts by the value that it shows. */

type More<Row> = Partial<Omit<Column<Row>, 'key' | 'head' | 'cell'>>
type Of<Row, T> = (row: Row) => T | null

/** A column of any kind. By default it shows the member of the row with its key. */
export const column = <Row,>(
  key: string,
  head: string,
  more: More<Row> & Pick<Column<Row>, 'cell'> = {},
): Column<Row> => ({ ...{ key, head }, ...more })

const columnOf =
  <T extends string | number>(show: (value: T) => ReactNode, none: string, usual: More<never>) =>
  <Row,>(key: string, head: string, of: Of<Row, T>, more: More<Row> = {}): Column<Row> => ({
    ...{ key, head, sort: of, ...(usual as More<Row>) },
    cell: (row) => {
      const value = of(row)
      return value === null ? none : show(value)
    },
    ...more,
  })

/** A point in time. */
export const timeColumn = columnOf<string>((at) => <Time at={at} />, '–', { main: true, width: '144px' })

/** How long ago something happened, or `never`. */
export const agoColumn = columnOf<string>((at) => <Ago at={at} />, 'never', {
  ...{ number: true, main: true, width: '128px' },
})

/** An amount of cents. */
export const moneyColumn = columnOf<number>(money, '–', { number: true })

/** A duration in milliseconds. */
export const durationColumn = columnOf<number>(duration, '–', { number: true })

/** A state as a chip: its symbol, and its word. */
export const chipColumn = <Row,>(
  key: string,
  head: string,
  of: (row: Row) => readonly [state: ChipState, text: string | number],
  more: More<Row> = {},
): Column<Row> => ({
  ...{ key, head, main: true, width: '120px', sort: (row) => of(row)[1] },
  cell: (row) => {
    const [state, text] = of(row)
    return <Chip state={state}>{text}</Chip>
  },
  ...more,
})

/** When a row was last changed. */
export const changedColumn = <Row,>(of: Of<Row, string>): Column<Row> =>
  timeColumn('changed', 'Updated', of, { number: true })
