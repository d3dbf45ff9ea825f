import { counted } from '../../src/kernel/text'
import { readFilter } from '../filter'
import type { Column, ListView } from '../screens/list-view'
import type { Model, Row } from '../state/model'
import { allRows, chosenAt, listOf, paneOf, shownRows } from '../state/rows'
import { emptyBody } from './boxes'
import { beside, between, chosen, fit, fitLine, type Line, line, type Span, textSpan } from './line'
import { asTyped, clockOf, spellCount } from './spell'

/** Rows of the body outside the list: the line above it and the headers. */
const HEAD = 2

/** Divides the body of a list: rows for the list, and for the drawer below or the pane beside it. */
function divided(view: ListView, width: number, height: number) {
  const isBeside = width >= 120
  const more = height > 25 ? Math.min(6, Math.floor((height - 25) / 3)) : 0
  const drawer = isBeside ? 0 : Math.min(view.drawerRows + more, Math.max(0, height - HEAD - 4))
  return { isBeside, drawer, rows: Math.max(1, height - HEAD - drawer - (drawer ? 1 : 0)) }
}

/** A list with the details of its selected row. */
export function listBody(view: ListView, model: Model, width: number, height: number): Line[] {
  const { isBeside, drawer, rows: room } = divided(view, width, height)
  // One cell stays blank before the rule.
  const pane = isBeside ? Math.floor(width * 0.58) - 1 : width
  const rows = shownRows(model)
  const at = chosenAt(model, rows)
  const row = rows[at]
  const about = filterLine(view, model, rows, pane)
  const isFiltered = model.mode.type === 'filter' || listOf(model).filter !== ''
  const list = [
    isFiltered ? about : (view.above?.(model, model.topics[model.screen]?.facts ?? {})?.[0] ?? about),
    header(view, pane),
    ...(rows.length ? windowed(view, model, rows, { at, room, width: pane }) : emptyLines(view, model, pane)),
  ]
  if (isBeside) {
    const own = width - pane - 2
    const details = row ? scrolled(view.drawer(row, model, own), model, height - 1) : []
    return beside(list, row ? [titleRule(view.title(row), own, model), ...details] : [], [pane, own], height)
  }
  const filled = [...list, ...emptyBody(height - list.length)].slice(0, height - drawer)
  if (!row || !drawer) return [...filled, ...emptyBody(drawer)]
  const details = scrolled(view.drawer(row, model, width), model, drawer - 1)
  return [...filled, titleRule(view.title(row), width, model), ...details, ...emptyBody(drawer - 1 - details.length)]
}

/** As many rows of the details as fit. Tab and the arrows reach the others. */
function scrolled(details: readonly Line[], model: Model, room: number): Line[] {
  const from = paneOf(model) === 'details' ? Math.min(model.scroll, Math.max(0, details.length - room)) : 0
  return details.slice(from, from + room)
}

const titleRule = (title: string, width: number, model: Model): Line =>
  line(
    textSpan(
      fit(
        `${paneOf(model) === 'details' ? '▸' : '─'} ${fit(title, Math.min(Bun.stringWidth(title), width - 6))} ${'─'.repeat(width)}`,
        width,
      ).replace('…', '─'),
      'dim',
    ),
  )

function filterLine(view: ListView, model: Model, rows: readonly Row[], width: number): Line {
  const { filter, sort } = listOf(model)
  const isTyped = model.mode.type === 'filter'
  const text = model.mode.type === 'filter' ? model.mode.draft : filter
  const every = allRows(model)
  const all = Math.max(every.length, view.total?.(model) ?? 0)
  const hidden = view.hidden && !/(^|[\s!])status:/.test(text) ? every.filter(view.hidden.is).length : 0
  const owner = view.byOwner && !isTyped ? (text ? /^owner:"([^"]*)"$/.exec(text)?.[1] : 'everyone') : undefined
  const column = sort && view.columns[sort.column]
  const order = column ? `sort ${column.header.toLowerCase()} ${sort!.descending ? '▼' : '▲'}` : view.order
  const [wrong] = text ? readFilter(text, view.fields).wrong : []
  const problem = wrong ? `  no field ${wrong.field}${wrong.meant ? `, did you mean ${wrong.meant}?` : ''}` : ''
  const isOff = model.link.state === 'offline'
  const at = model.topics[model.screen]?.at
  const counts = !all
    ? ''
    : isOff
      ? `${spellCount(rows.length)} rows from ${at ? clockOf(Date.parse(at)) : 'the start'}`
      : `${spellCount(rows.length)} of ${spellCount(all - hidden)}${hidden ? `, ${hidden} ${view.hidden!.word} hidden` : ''}`
  return between(
    owner !== undefined
      ? line(' keys of ', textSpan(`${owner} ▾`, owner === 'everyone' ? undefined : 'strong'))
      : line(
          ' filter  ',
          isTyped ? textSpan(`${text}▌`, 'strong') : text || textSpan('off', 'dim'),
          textSpan(problem, 'warn'),
        ),
    problem ? [] : line(counts, isOff ? ' ' : `       ${order} `),
    width,
  )
}

/** Cells that the growing column can give up. */
const FEW = 4

/** The columns that fit a list of this width, and the width of each. */
function columnsIn(view: ListView, width: number): { shown: readonly Column<Row>[]; own: number[] } {
  const widthOf = (columns: readonly Column<Row>[]) => columns.reduce((sum, one) => sum + one.width, view.margin)
  const shown = widthOf(view.columns) > width + FEW ? view.columns.filter(({ spare }) => !spare) : view.columns
  const spareWidth = width - widthOf(shown)
  return { shown, own: shown.map((column) => (column.grows ? Math.max(6, column.width + spareWidth) : column.width)) }
}

function header(view: ListView, width: number): Line {
  const { shown, own } = columnsIn(view, width)
  const cells = shown.map(({ header, right }, at) => placedCell(header, own[at]!, right, at === own.length - 1))
  return line(textSpan(' '.repeat(view.margin) + cells.join(''), 'dim'))
}

/** The last column needs no gap after it. */
const placedCell = (text: string, width: number, right = false, isLast = false): string => {
  if (isLast) return fit(text, width, right ? 'right' : 'left')
  return right ? `${fit(text, width - 1, 'right')} ` : `${fit(text, width - 1)} `
}

type Window = { at: number; room: number; width: number }

function windowed(view: ListView, model: Model, rows: readonly Row[], { at, room, width }: Window): Line[] {
  const { marked } = listOf(model)
  // The first row shown. Keeps the selected row at its place on the screen.
  const offset = Math.min(Math.max(0, listOf(model).offset), room - 1)
  const top = Math.max(0, Math.min(at - offset, rows.length - room))
  const { shown, own } = columnsIn(view, width)
  return rows.slice(top, top + room).map((row, place) => {
    const isChosen = top + place === at
    const mark = marked.includes(row.id) ? '*' : ' '
    const margin = `${isChosen ? '▸' : mark}${isChosen ? mark : ''}`.padEnd(view.margin).slice(0, view.margin)
    const cells = shown.map((column, at): Span => {
      const { text, tone } = column.cell(row, model)
      return { text: placedCell(text.replaceAll(/\s+/g, ' '), own[at]!, column.right, at === own.length - 1), tone }
    })
    const whole = fitLine([textSpan(margin), ...cells], width)
    return isChosen ? chosen(whole) : whole
  })
}

function emptyLines(view: ListView, model: Model, width: number): Line[] {
  const data = model.topics[model.screen]
  if (data?.trouble) return [line(textSpan(` ! ${data.trouble}`, 'warn'))]
  if (!data) return [1, 2, 3].map(() => line(textSpan('    · · ·', 'dim')))
  const { filter } = listOf(model)
  const all = allRows(model).length
  if (all && (filter || model.mode.type === 'filter')) {
    const text = model.mode.type === 'filter' ? model.mode.draft : filter
    return [
      line(
        ` No row matches \`${fit(text, Math.min(40, text.length))}\`. ${counted(all, 'row')} without the filter. Esc clears it.`,
      ),
    ]
  }
  return view.empty.map((text) => fitLine(line(` ${asTyped(text)}`), width))
}
