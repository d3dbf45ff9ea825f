import { unzipSync, zipSync } from 'fflate'
import writeExcel from 'write-excel-file/node'
import { directionOf } from '../../fonts'
import { readNumber } from '../blocks/chart-data'
import { type Align, type Block, type Chart, type Document, plain, type Table } from '../blocks/model'
import { dateOf, type Typed, typeOfColumn } from './sheet-cells'
import { type SheetChart, withSheetCharts } from './sheet-charts'

const ACCENT = '#1E4E8C'
const TINT = '#F3F5F8'
const QUIET = '#6B7280'
const DATE_FORMAT = 'yyyy-mm-dd'

/** In characters. */
const NARROWEST = 8
const WIDEST = 60
const TEXT_COLUMN = 100
const MOST_SHEETS = 50

type Look = { fontWeight?: 'bold'; textColor?: string; backgroundColor?: string; fontSize?: number; align?: Align }
type Cell = (Look & { value?: string | number | Date; type?: unknown; format?: string; wrap?: boolean }) | null
type Sheet = { name: string; rows: Cell[][]; widths: number[]; sticky: number; chart: SheetChart | null }

/**
 * A document as XLSX: a sheet for each table and chart, and one for the text. Cells are typed, and never formulas: a text
 * that begins like one is a text (F7).
 */
export async function renderXlsx(document: Document): Promise<Uint8Array> {
  const sheets = sheetsOf(document)
  const names = uniqueNames(sheets.map(({ name }) => name))
  const file = writeExcel(
    sheets.map(({ rows, widths, sticky }, at) => ({
      data: rows as never,
      sheet: names[at]!,
      columns: widths.map((width) => ({ width })),
      ...(sticky ? { stickyRowsCount: sticky } : {}),
      ...(fromRight(rows) ? { rightToLeft: true } : {}),
    })),
    { fontFamily: 'Calibri', fontSize: 11 },
  )
  const bytes = new Uint8Array(await file.toBuffer())
  const charts = sheets.flatMap(({ chart }, at) => (chart ? [{ ...chart, sheet: at, name: names[at]! }] : []))
  return stamped(charts.length ? withSheetCharts(bytes, charts) : bytes, document)
}

/** A sheet begins at the right when its first words do. */
const fromRight = (rows: readonly Cell[][]): boolean =>
  directionOf(String(rows[0]?.find((cell) => cell?.value)?.value ?? '')) === 'rtl'

function sheetsOf({ title, subtitle, blocks }: Document): Sheet[] {
  const sheets: Sheet[] = []
  const text: Cell[][] = [[{ value: title, type: String, fontWeight: 'bold', fontSize: 16, textColor: ACCENT }]]
  if (subtitle) text.push([{ value: subtitle, type: String, textColor: QUIET }])
  const before = text.length
  let section = title
  for (const block of blocks) {
    if (block.type === 'heading') section = plain(block.text)
    if (block.type === 'table' && sheets.length < MOST_SHEETS) sheets.push(tableSheet(block, section))
    else if (block.type === 'chart' && sheets.length < MOST_SHEETS) sheets.push(chartSheet(block, section))
    else text.push(...textRows(block, 0))
  }
  const said = text.slice(before).some((row) => row[0] && !row[0].fontWeight)
  if (!said && sheets.length) return sheets
  const words = { name: sheets.length ? 'Text' : title, rows: text, widths: [TEXT_COLUMN], sticky: 0, chart: null }
  return [...sheets, words]
}

function tableSheet({ header, rows, align }: Table, name: string): Sheet {
  const cells = rows.map((row) => row.map(plain))
  const types = header.map((_, at) => typeOfColumn(cells.map((row) => row[at] ?? '')))
  const sides = header.map((_, at): Align => (types[at]!.type === 'number' ? 'right' : (align[at] ?? 'left')))
  return {
    name,
    rows: [
      header.map((text, at) => headed(plain(text), sides[at]!)),
      ...cells.map((row) => row.map((cell, at) => typed(cell, types[at]!, sides[at]!))),
    ],
    widths: header.map((text, at) => widthOf([plain(text), ...cells.map((row) => row[at] ?? '')])),
    sticky: 1,
    chart: null,
  }
}

const headed = (value: string, align: Align): Cell => ({
  value,
  type: String,
  fontWeight: 'bold',
  textColor: ACCENT,
  backgroundColor: TINT,
  align,
})

function typed(cell: string, type: Typed, align: Align): Cell {
  if (cell.trim() === '') return null
  const date = type.type === 'date' ? dateOf(cell) : null
  if (date) return { value: date, type: Date, format: DATE_FORMAT, align: 'left' }
  const number = type.type === 'number' ? readNumber(cell) : null
  if (number === null || type.type !== 'number') return { value: cell, type: String, align, wrap: cell.length > WIDEST }
  // Shares are kept as they are counted with: 4.2 % is 0.042.
  return { value: Number((number / type.scale).toPrecision(15)), type: Number, format: type.formatOf(cell), align }
}

function widthOf(cells: readonly string[]): number {
  const longest = cells.reduce((most, cell) => Math.max(most, cell.length), 0)
  return Math.min(WIDEST, Math.max(NARROWEST, longest + 3))
}

function chartSheet(chart: Chart, section: string): Sheet {
  const { labels, series, unit } = chart
  const names = series.map(({ name }, at) => name || (series.length > 1 ? `Series ${at + 1}` : unit.trim() || 'Value'))
  return {
    name: chart.title ?? section,
    rows: [
      [headed('', 'left'), ...names.map((name) => headed(name, 'right'))],
      ...labels.map((label, at) => [
        { value: label, type: String },
        ...series.map(({ values }): Cell => {
          const value = values[at] ?? null
          return value === null ? null : { value, type: Number }
        }),
      ]),
    ],
    widths: [widthOf(labels), ...names.map((name) => widthOf([name, '00000000']))],
    sticky: 0,
    chart: { chart },
  }
}

function textRows(block: Block, depth: number): Cell[][] {
  const line = (value: string, look: Look = {}): Cell[][] => [
    [{ value: `${'    '.repeat(depth)}${value}`, type: String, wrap: true, ...look }],
  ]
  switch (block.type) {
    case 'heading':
      return [[null], ...line(plain(block.text), { fontWeight: 'bold', textColor: ACCENT, fontSize: 15 - block.level })]
    case 'paragraph':
      return line(plain(block.text))
    case 'code':
      return block.text.split('\n').flatMap((one) => line(one))
    case 'image':
      return line(block.alt ? `[${block.alt}]` : '[image]')
    case 'quote':
      return block.blocks.flatMap((one) => textRows(one, depth + 1))
    case 'list':
      return block.items.flatMap((item, at) => {
        const mark = block.ordered ? `${block.start + at}. ` : '• '
        const [first, ...rest] = item
        const own = first?.type === 'paragraph' ? line(mark + plain(first.text)) : []
        const others = first?.type === 'paragraph' ? rest : item
        return [...own, ...others.flatMap((one) => textRows(one, depth + 1))]
      })
    default:
      return []
  }
}

const MOST_NAME = 31

/** Names that a workbook takes: short, without its own signs, each once. */
function uniqueNames(wanted: readonly string[]): string[] {
  const taken = new Set<string>()
  return wanted.map((name) => {
    const clean =
      name
        .replace(/[[\]:*?/\\]/g, ' ')
        .replace(/^'+|(?<!')'+$/g, '')
        .replace(/\s+/g, ' ')
        .trim() || 'Sheet'
    for (let number = 1; ; number++) {
      const end = number === 1 ? '' : ` ${number}`
      const made = `${[...clean]
        .slice(0, MOST_NAME - end.length)
        .join('')
        .slice(0, MOST_NAME - end.length)}${end}`
      if (taken.has(made.toLowerCase())) continue
      taken.add(made.toLowerCase())
      return made
    }
  })
}

/** An archive knows no earlier time. */
const FIRST_MS = Date.UTC(1980, 0, 2)

/** Every entry of the archive gets the time of the document, so that the same document is the same file. */
function stamped(bytes: Uint8Array, { createdAt }: Document): Uint8Array {
  const mtime = new Date(Math.max(createdAt, FIRST_MS))
  return zipSync(Object.fromEntries(Object.entries(unzipSync(bytes)).map(([name, data]) => [name, [data, { mtime }]])))
}
