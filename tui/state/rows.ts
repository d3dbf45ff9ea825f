import { readFilter } from '../filter'
import { LISTS } from '../screens'
import { chatsOf } from '../screens/chats'
import { overviewRows } from '../screens/needs'
import type { ListState, Model, Row, Screen } from './model'

export const paneOf = (model: Model): string => panesOf(model)[model.pane] ?? panesOf(model)[0]!

/** The screen that a pane of the overview opens. Null for the list of items that need a person. */
export const screenOfPane = (model: Model): Screen | null =>
  model.screen === 'overview' && model.pane > 0 ? (paneOf(model) as Screen) : null

/** The rows of a screen as shown: sorted, without filtered rows. */
export function shownRows(model: Model, screen: Screen = model.screen): readonly Row[] {
  if (screen === 'overview') return overviewRows(model)
  if (screen === 'takeovers') return chatsOf(model)
  const view = LISTS[screen]!
  const { filter, sort } = listOf(model, screen)
  const draft = model.mode.type === 'filter' && model.screen === screen ? model.mode.draft : filter
  const { hidden } = view
  const isRequested = !hidden || /(^|[\s!])status:/.test(draft)
  const all = isRequested ? allRows(model, screen) : allRows(model, screen).filter((row) => !hidden.is(row))
  const remaining = draft ? all.filter(readFilter(draft, view.fields).matches) : all
  const column = sort && view.columns[sort.column]
  if (!sort || !column) return remaining
  const direction = sort.descending ? -1 : 1
  return remaining.toSorted((a, b) => {
    const [left, right] = [column.value(a), column.value(b)]
    return left < right ? -direction : left > right ? direction : 0
  })
}

/** All rows of a screen, in the server's order. */
export function allRows(model: Model, screen: Screen = model.screen): readonly Row[] {
  const rows = model.topics[screen]?.rows ?? []
  const { clearedAt } = model
  return screen === 'logs' && clearedAt ? rows.filter(({ at }) => String(at) > clearedAt) : rows
}

export const listOf = (model: Model, screen: Screen = model.screen): ListState => model.lists[screen]

/** Index of the selected row. The first row if none is selected or the selected one is gone. */
export function chosenAt(model: Model, rows: readonly Row[], screen: Screen = model.screen): number {
  const { chosen } = listOf(model, screen)
  return Math.max(
    0,
    rows.findIndex(({ id }) => id === chosen),
  )
}

export const chosenRow = (model: Model): Row | null => {
  const rows = shownRows(model)
  return rows[chosenAt(model, rows)] ?? null
}

/** The details to load for the selected row. Null if the row itself contains everything. */
export function lookedAt(model: Model): { row: Row; path: string } | null {
  const reads = LISTS[model.screen]?.reads
  const row = reads ? chosenRow(model) : null
  return row && { row, path: reads!(row) }
}

/** The rows that an action applies to: the marked ones, or the selected one. */
export function pickedRows(model: Model): readonly Row[] {
  const { marked } = listOf(model)
  const rows = shownRows(model)
  if (marked.length) return rows.filter(({ id }) => marked.includes(id))
  const row = rows[chosenAt(model, rows)]
  return row ? [row] : []
}

/** The panes of a screen that Tab cycles through, the list first. Enter opens a pane named like a screen. */
export function panesOf({ screen, columns }: Model): readonly string[] {
  if (screen === 'overview') return columns >= 120 ? ['needs', 'jobs', 'deliveries', 'browser'] : ['needs']
  if (screen === 'takeovers') return ['queue', 'chat']
  return ['list', 'details']
}
