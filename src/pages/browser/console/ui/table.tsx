import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { memo, type ReactNode, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'

export type Column<Row> = {
  key: string
  head: string
  /** Default: the member of the row with the name of the column. */
  cell?(row: Row): ReactNode
  /** Numbers are right-aligned. */
  number?: boolean
  /** Stays on a small screen, where a row is a card of two lines. */
  main?: boolean
  /** A width in CSS grid syntax. Default: an equal share. */
  width?: string
  /** Sort key, or true for the member of that name. Pressing the column head sorts by it once all rows are loaded. */
  sort?: true | ((row: Row) => string | number | null)
  /** Shown only if the reader chose it. */
  extra?: true
}

/** What a row shows in a column. */
const shown = <Row,>({ key, cell }: Pick<Column<Row>, 'key' | 'cell'>, row: Row): ReactNode =>
  cell ? cell(row) : ((row as Record<string, ReactNode>)[key] ?? '–')

/** The row whose menu opens, the button that opens it, and a key of this opening. */
export type MenuOf<Row> = { row: Row; button: HTMLElement; key: number }

type Props<Row> = {
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  idOf(row: Row): string
  /** Link of a row's first cell. */
  linkOf?(row: Row): string
  /** The row whose details are shown. */
  open?: string | undefined
  /** The row with the keyboard focus. */
  active: number
  /** Called when an arrow key leads from the row in focus to another. */
  onActive?: ((index: number) => void) | undefined
  more?: { has: boolean; isLoading: boolean; load(): void }
  /** True in a drawer, which scrolls by itself: every row is on the page. */
  isWhole?: true
  dense?: boolean
  /** The ids of marked rows. Without `onMark`, rows cannot be marked. */
  marks?: ReadonlySet<string>
  onMark?(id: string): void
  /** Called when a row's menu is asked for. Without it, rows have none. */
  onMenu?: ((menu: MenuOf<Row>) => void) | undefined
  /** The column that sorts the rows, with a leading minus for descending order. */
  sorted?: string | undefined
  onSort?: ((key: string) => void) | undefined
  /** Called when a column was resized to this many pixels. */
  onResize?: ((key: string, width: number) => void) | undefined
}

const SMALL = matchMedia('(max-width: 639px)')
const COARSE = matchMedia('(pointer: coarse)')
const CARD = 64
const heightOf = (dense = false) => (SMALL.matches ? CARD : COARSE.matches ? 44 : dense ? 28 : 36)
const OVERSCAN = 12
/** Number of rows before the end at which the next page is loaded. */
const EARLY = 20

const GAP = 16
/** Number of columns that are shown even where they do not fit. */
const FEW = 3
/** Room for the button of a row's menu. */
const MENU = 24
/** Minimum width of a column: the first length of its width, or enough for a short word. */
const leastOf = ({ width, number }: Pick<Column<never>, 'width' | 'number'>) =>
  Number(/(\d{1,4})px/.exec(width ?? '')?.[1] ?? (number ? 72 : 104))

/**
 * The columns that fit, and their widths. Columns that small screens omit are dropped first, from the right. The last few
 * share the room.
 */
function fitting<C extends Pick<Column<never>, 'width' | 'number' | 'main' | 'extra'>>(
  columns: readonly C[],
  room: number,
) {
  const kept = [...columns]
  const needs = () => kept.reduce((sum, column) => sum + leastOf(column) + GAP, GAP)
  for (;;) {
    // Columns that the reader chose are kept longest.
    const usual = kept.findLastIndex(({ main, extra }) => !main && !extra)
    const other = usual < 0 ? kept.findLastIndex(({ main }) => !main) : usual
    const last = other < 0 && kept.length > FEW ? kept.length - 1 : other
    if (last < 0 || SMALL.matches || needs() <= room) break
    kept.splice(last, 1)
  }
  const widths = kept.map((column) =>
    needs() > room
      ? `minmax(0, ${leastOf(column)}fr)`
      : (column.width ?? (column.number ? 'minmax(72px, 0.6fr)' : 'minmax(0, 1fr)')),
  )
  return { columns: kept, widths: widths.join(' ') }
}

const classOf = (number?: boolean, main?: boolean) => [number && 'number', main && 'main'].filter(Boolean).join(' ')

const inFocus = (within = '') => document.activeElement?.closest<HTMLElement>(`${within} [data-index]`)
/** A row on the screen. Without a list, one of the page, not of a drawer. */
const rowAt = (index: number, list: ParentNode = document.getElementById('console')!) =>
  list.querySelector(`[data-index="${index}"]`)

/** The index of the row or tile of the page that has the focus, or -1. */
export const focusedRow = (): number => Number(inFocus('#console')?.dataset.index ?? -1)

/** Puts the focus on a row. */
export const focusRow = (index: number, list?: ParentNode): void => rowAt(index, list)?.querySelector('a')?.focus()

/** Presses a control of the row that has the focus, or else of the row of the page with this index. */
export const pressInRow = (selector: string, index: number): void =>
  (inFocus() ?? rowAt(index))?.querySelector<HTMLElement>(selector)?.click()

/** A list of any length. The page contains only the rows on the screen. */
export function Table<Row>(props: Props<Row>) {
  const { label, rows, idOf, linkOf, open, active, more, dense } = props
  const body = useRef<HTMLDivElement>(null)
  const [room, setRoom] = useState(Number.POSITIVE_INFINITY)
  const [, navigate] = useLocation()
  const { columns, widths } = useMemo(() => fitting(props.columns, room - MENU), [props.columns, room])
  useLayoutEffect(() => {
    const measure = new ResizeObserver(([box]) => setRoom(box!.contentRect.width))
    measure.observe(body.current!)
    return () => measure.disconnect()
  }, [])
  const [margin, setMargin] = useState(0)
  useLayoutEffect(() => setMargin(body.current?.offsetTop ?? 0), [])
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => heightOf(dense),
    overscan: props.isWhole ? rows.length : OVERSCAN,
    scrollMargin: margin,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: a narrower page has higher rows
  useEffect(() => {
    const changed = () => virtual.measure()
    SMALL.addEventListener('change', changed)
    return () => SMALL.removeEventListener('change', changed)
  }, [])
  const shown = virtual.getVirtualItems()
  const last = shown.at(-1)?.index ?? 0
  useEffect(() => {
    if (more?.has && !more.isLoading && last >= rows.length - EARLY) more.load()
  }, [more, last, rows.length])
  useEffect(() => {
    if (active < 0) return
    virtual.scrollToIndex(active, { align: 'auto' })
    const frame = requestAnimationFrame(() => focusRow(active))
    return () => cancelAnimationFrame(frame)
  }, [active, virtual])
  return (
    <div
      className={['table', props.onMark && 'markable', props.onMenu && 'menued'].filter(Boolean).join(' ')}
      role="table"
      aria-label={label}
      aria-rowcount={more?.has ? -1 : rows.length + 1}
      style={{ '--columns': widths } as object}
    >
      <div role="rowgroup" className="table-head">
        <div role="row" className="tr">
          {columns.map((column) => (
            <Head key={column.key} column={column} {...props} />
          ))}
          {props.onMenu && (
            <span role="columnheader" className="row-menu">
              Actions
            </span>
          )}
        </div>
      </div>
      <div
        role="rowgroup"
        ref={body}
        className="table-body"
        style={{ height: virtual.getTotalSize() }}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
          const next = Number(inFocus()?.dataset.index) + (step ?? 0)
          if (step === undefined || rows[next] === undefined || !(event.target instanceof HTMLAnchorElement)) return
          event.preventDefault()
          props.onActive?.(next)
          focusRow(next, event.currentTarget)
        }}
      >
        {shown.map(({ index, start, size }) => {
          const row = rows[index]!
          const id = idOf(row)
          return (
            <TableRow
              key={id}
              row={row}
              index={index}
              top={start - margin}
              size={size}
              columns={columns as readonly Column<unknown>[]}
              href={linkOf?.(row)}
              isOpen={id === open}
              navigate={navigate}
              id={id}
              isMarked={props.marks?.has(id) ?? false}
              onMark={props.onMark}
              onMenu={props.onMenu as RowProps['onMenu']}
            />
          )
        })}
      </div>
      {more?.isLoading && (
        <p className="more" role="status">
          Loading more…
        </p>
      )}
    </div>
  )
}

type HeadProps = Pick<Props<never>, 'sorted' | 'onSort' | 'onResize'> & { column: Column<never> }

/** The head of a column. Pressing it sorts the rows, dragging its end resizes it. */
function Head({ column: { key, head, number, main, sort }, sorted = '', onSort, onResize }: HeadProps) {
  const direction = sorted === key ? 'ascending' : sorted === `-${key}` ? 'descending' : undefined
  const pull = (begun: React.PointerEvent<HTMLElement>) => {
    const handle = begun.currentTarget
    const wide = handle.parentElement!.getBoundingClientRect().width
    handle.setPointerCapture(begun.pointerId)
    handle.onpointermove = ({ clientX }) => onResize!(key, Math.round(Math.max(48, wide + clientX - begun.clientX)))
    handle.onpointerup = () => {
      handle.onpointermove = null
    }
  }
  return (
    <span role="columnheader" className={classOf(number, main)} aria-sort={direction}>
      {sort && onSort ? (
        <button type="button" className="sort" onClick={() => onSort(key)}>
          {head} <span aria-hidden="true">{direction ? (direction === 'ascending' ? '↑' : '↓') : ''}</span>
        </button>
      ) : (
        head
      )}
      {onResize && <span className="pull" aria-hidden="true" onPointerDown={pull} />}
    </span>
  )
}

type RowProps = {
  row: unknown
  index: number
  top: number
  size: number
  columns: readonly Column<unknown>[]
  href: string | undefined
  isOpen: boolean
  navigate(to: string): void
  onMark: ((id: string) => void) | undefined
  onMenu: ((menu: MenuOf<unknown>) => void) | undefined
} & Omit<MarkProps, 'onMark'>

type MarkProps = { index: number; id: string; isMarked: boolean; onMark(id: string): void }

/** Marks a row, for actions on several. */
export const Mark = ({ index, id, isMarked, onMark }: MarkProps) => (
  <input
    type="checkbox"
    className="mark-box"
    aria-label={`Mark row ${index + 1}`}
    checked={isMarked}
    onChange={() => onMark(id)}
  />
)

const TableRow = memo(function TableRow({ row, index, top, size, columns, href, isOpen, navigate, ...of }: RowProps) {
  const { id, isMarked, onMark, onMenu } = of
  const open = (event: { target: EventTarget }) => {
    const isOwn = (event.target as Element).closest('a, button, input, select')
    if (href && !isOwn && !getSelection()?.toString()) navigate(href)
  }
  return (
    <div
      role="row"
      className={isOpen ? 'tr open' : 'tr'}
      data-index={index}
      aria-rowindex={index + 2}
      aria-current={isOpen ? 'true' : undefined}
      style={{ transform: `translateY(${top}px)`, height: size }}
      onClick={open}
    >
      {columns.map(({ key, head, cell, number, main }, at) => (
        <span key={key} role="cell" className={classOf(number, main)} data-head={head}>
          {at === 0 && onMark && <Mark {...{ index, id, isMarked, onMark }} />}
          {at === 0 && href ? <Link href={href}>{shown({ key, cell }, row)}</Link> : shown({ key, cell }, row)}
        </span>
      ))}
      {onMenu && (
        <span role="cell" className="row-menu">
          <button
            type="button"
            aria-label={`Actions of row ${index + 1}`}
            aria-haspopup="menu"
            onClick={({ currentTarget, timeStamp }) => onMenu({ row, button: currentTarget, key: timeStamp })}
          >
            ⋯
          </button>
        </span>
      )}
    </div>
  )
})
