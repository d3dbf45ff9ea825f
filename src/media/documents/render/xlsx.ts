import { strFromU8, strToU8, type Unzipped, unzipSync, zipSync } from 'fflate'
import writeExcel from 'write-excel-file/node'
import { beginningOf } from '../../../kernel/text'
import { directionOf } from '../../fonts'
import { type Align, type Block, type Chart, type Document, plain, type Table, withAddresses } from '../blocks-model'
import { readNumber, writtenWith } from '../charts'
import { CHART_RELATION, CHART_TYPE, officeChart } from '../charts-office'

/** A chart with the number and name of its sheet. */
type Placed = { chart: Chart; sheet: number; name: string }

const RELATIONS = 'http://schemas.openxmlformats.org/package/2006/relationships'

const DRAWING_RELATION = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/drawing'

const DRAWING_TYPE = 'application/vnd.openxmlformats-officedocument.drawing+xml'

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'

const relation = (type: string, target: string): string =>
  `${HEAD}<Relationships xmlns="${RELATIONS}"><Relationship Id="rId1" Type="${type}" Target="${target}"/></Relationships>`

/** The type of a column, and the formats of its numbers. */
type Typed = { type: 'text' } | { type: 'number'; formatOf(cell: string): string; scale: number } | { type: 'date' }

/** Spreadsheets store doubles, which would change numbers with more digits. */
const MAX_DIGITS = 15

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/

/** Codes and telephone numbers look like numbers but must stay text. */
const CODE = /^[+0]\d/

const SPACED = /\d\s+\d/

/** Maximum decimals in a number format. */
const MAX_DECIMALS = 15

/** What stands for a value that nobody knows. */
const UNKNOWN = /^(?:[-–—?]|n\/?a|tbd|none|null)?$/i

const unitOf = (cell: string): string => cell.replace(/[\d\s.,'’+−-]/g, '')

/** Spreadsheets count earlier days wrongly, or not at all. */
const FIRST_DAY = '1900-03-01'

const ACCENT = '#1E4E8C'
const TINT = '#F3F5F8'
const DATE_FORMAT = 'yyyy-mm-dd'

/** In characters. */
const NARROWEST = 8
const WIDEST = 60
const TEXT_COLUMN = 100
const MAX_SHEETS = 50

type Look = { fontWeight?: 'bold'; textColor?: string; backgroundColor?: string; fontSize?: number; align?: Align }
type Cell = (Look & { value?: string | number | Date; type?: unknown; format?: string; wrap?: boolean }) | null
type Sheet = { name: string; rows: Cell[][]; widths: number[]; sticky: number; chart: Chart | null }

/**
 * Renders a document as XLSX: a sheet for each table and chart, and one for the text. Cells are typed. A text that
 * looks like a formula stays text (docs/attacks.md F7).
 */
export async function renderXlsx(document: Document): Promise<Uint8Array> {
  const sheets = sheetsOf(document)
  const names = uniqueNames(sheets.map(({ name }) => name))
  // A sheet is right-to-left if its first text is.
  const file = writeExcel(
    sheets.map(({ rows, widths, sticky }, at) => ({
      data: rows as never,
      sheet: names[at]!,
      columns: widths.map((width) => ({ width })),
      ...(sticky ? { stickyRowsCount: sticky } : {}),
      ...(directionOf(String(rows[0]?.find((cell) => cell?.value)?.value ?? '')) === 'rtl'
        ? { rightToLeft: true }
        : {}),
    })),
    { fontFamily: 'Calibri', fontSize: 11 },
  )
  const files = unzipSync(new Uint8Array(await file.toBuffer()))
  const charts = sheets.flatMap(({ chart }, at) => (chart ? [{ chart, sheet: at + 1, name: names[at]! }] : []))
  // Every archive entry gets the time of the document, so that the same document gives the same file.
  if (charts.length) addCharts(files, charts)
  return zipSync(files, { mtime: document.createdAt })
}

function sheetsOf({ title, blocks }: Document): Sheet[] {
  const sheets: Sheet[] = []
  const text: Cell[][] = [[{ value: title, type: String, fontWeight: 'bold', fontSize: 16, textColor: ACCENT }]]
  let section = title
  for (const block of blocks) {
    if (block.type === 'heading') section = plain(block.text)
    if (block.type === 'table' && sheets.length < MAX_SHEETS) sheets.push(tableSheet(block, section))
    else if (block.type === 'chart' && sheets.length < MAX_SHEETS) sheets.push(chartSheet(block, section))
    else text.push(...textRows(block, 0))
  }
  const hasText = text.slice(1).some((row) => row[0] && !row[0].fontWeight)
  if (!hasText && sheets.length) return sheets
  const words = { name: sheets.length ? 'Text' : title, rows: text, widths: [TEXT_COLUMN], sticky: 0, chart: null }
  return [...sheets, words]
}

function tableSheet({ header, rows, align }: Table, name: string): Sheet {
  const cells = rows.map((row) => row.map(withAddresses))
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
  wrap: value.includes('\n'),
})

function typed(cell: string, type: Typed, align: Align): Cell {
  if (cell.trim() === '') return null
  const date = type.type === 'date' ? dateOf(cell) : null
  if (date) return { value: date, type: Date, format: DATE_FORMAT, align: 'left' }
  const number = type.type === 'number' ? readNumber(cell) : null
  if (number === null || type.type !== 'number')
    return { value: cell.trim(), type: String, align, wrap: cell.length > WIDEST || cell.includes('\n') }
  // Percentages are stored as fractions: 4.2 % is 0.042.
  return { value: Number((number / type.scale).toPrecision(15)), type: Number, format: type.formatOf(cell), align }
}

function widthOf(cells: readonly string[]): number {
  const longest = cells.flatMap((cell) => cell.split('\n')).reduce((max, line) => Math.max(max, line.length), 0)
  return Math.min(WIDEST, Math.max(NARROWEST, longest + 3))
}

function chartSheet(chart: Chart, section: string): Sheet {
  const { labels, series, unit } = chart
  const types = series.map(({ written }) => typeOfColumn(written))
  const names = series.map(({ name }, at) => name || (series.length > 1 ? `Series ${at + 1}` : unit.trim() || 'Value'))
  return {
    name: chart.title ?? section,
    rows: [
      [headed('', 'left'), ...names.map((name) => headed(name, 'right'))],
      ...labels.map((label, at) => [
        { value: label, type: String },
        ...series.map(({ values, written }, column): Cell => {
          const value = values[at] ?? null
          const type = types[column]!
          if (value === null) return null
          // In charts, percentages keep their value: 4.2 % is 4.2, with a quoted percent sign.
          const shown = type.type === 'number' ? { format: type.formatOf(written[at]!).replaceAll('%', '"%"') } : {}
          return { value, type: Number, ...shown }
        }),
      ]),
    ],
    widths: [widthOf(labels), ...names.map((name) => widthOf([name, '00000000']))],
    sticky: 0,
    chart,
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
      return line(withAddresses(block.text))
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
        const own = first?.type === 'paragraph' ? line(mark + withAddresses(first.text)) : []
        const others = first?.type === 'paragraph' ? rest : item
        return [...own, ...others.flatMap((one) => textRows(one, depth + 1))]
      })
    default:
      return []
  }
}

const MAX_NAME = 31

/** Valid sheet names: short, without reserved characters, and unique. */
function uniqueNames(wanted: readonly string[]): string[] {
  // Spreadsheets keep this name for themselves.
  const taken = new Set(['history'])
  return wanted.map((name) => {
    const clean =
      name
        .replace(/[[\]:*?/\\]/g, ' ')
        .replace(/^'+|(?<!')'+$/g, '')
        .replace(/\s+/g, ' ')
        .trim() || 'Sheet'
    for (let number = 1; ; number++) {
      const end = number === 1 ? '' : ` ${number}`
      const made = beginningOf(clean, MAX_NAME - end.length) + end
      if (taken.has(made.toLowerCase())) continue
      taken.add(made.toLowerCase())
      return made
    }
  })
}

/** The type of a column if all its non-empty cells agree. Numbers with a common unit keep the unit. */
function typeOfColumn(cells: readonly string[]): Typed {
  const filled = cells.map((cell) => cell.trim()).filter((cell) => !UNKNOWN.test(cell))
  if (filled.length === 0) return { type: 'text' }
  if (filled.every((cell) => dateOf(cell) !== null)) return { type: 'date' }
  if (!filled.every(isCount)) return { type: 'text' }
  const units = new Set(filled.map(unitOf))
  if (units.size > 1) return { type: 'text' }
  const [unit] = units
  const isGrouped = filled.some((cell) => writtenWith(cell).isGrouped)
  return { type: 'number', formatOf: (cell) => formatOf(cell.trim(), unit!, isGrouped), scale: unit === '%' ? 100 : 1 }
}

/** A format with the decimals of the cell: `3.50` stays `3.50`, and `3%` beside `12.5%` stays `3%`. */
function formatOf(cell: string, unit: string, isGrouped: boolean): string {
  const decimals = Math.min(MAX_DECIMALS, writtenWith(cell).decimals)
  const digits = `${isGrouped ? '#,##0' : '0'}${decimals ? `.${'0'.repeat(decimals)}` : ''}`
  // Quoted, so that no letter of a unit is read as a code of the format.
  const isBefore = /^[-+−]?\s*[$€£¥]/.test(cell)
  const shown = unit === '%' ? `${digits}%` : !unit ? digits : isBefore ? `"${unit}"${digits}` : `${digits}" ${unit}"`
  return cell.startsWith('+') ? `+${shown};-${shown}` : shown
}

function isCount(cell: string): boolean {
  const digits = cell.replace(/\D/g, '')
  if (CODE.test(cell) && !/^\+?0?[.,]\d|^\+\d{1,3}([.,]\d+)?\s*%?$/.test(cell)) return false
  if (SPACED.test(cell) && !/^\S?\s*\d{1,3}(\s\d{3})+([.,]\d+)?\s*\S{0,4}$/.test(cell)) return false
  return digits.length <= MAX_DIGITS && readNumber(cell) !== null
}

/** The UTC midnight of an ISO date that spreadsheets support. Null for anything else. */
function dateOf(cell: string): Date | null {
  const found = DATE.exec(cell.trim())
  if (!found || cell.trim() < FIRST_DAY) return null
  const at = new Date(Date.UTC(Number(found[1]), Number(found[2]) - 1, Number(found[3])))
  return at.toISOString().startsWith(cell.trim()) ? at : null
}

/** Adds charts beside the rows of their sheets. The charts refer to the cells. */
function addCharts(files: Unzipped, charts: readonly Placed[]): void {
  const read = (name: string) => strFromU8(files[name]!)
  const write = (name: string, text: string) => {
    files[name] = strToU8(text)
  }
  const types: string[] = []
  charts.forEach((placed, at) => {
    const number = at + 1
    const { sheet } = placed
    write(`xl/charts/chart${number}.xml`, officeChart(placed.chart, cellsOf(placed)))
    write(`xl/drawings/drawing${number}.xml`, drawing(placed.chart, number))
    write(`xl/drawings/_rels/drawing${number}.xml.rels`, relation(CHART_RELATION, `../charts/chart${number}.xml`))
    write(`xl/worksheets/_rels/sheet${sheet}.xml.rels`, relation(DRAWING_RELATION, `../drawings/drawing${number}.xml`))
    const path = `xl/worksheets/sheet${sheet}.xml`
    const named = read(path).replace(
      '<worksheet',
      '<worksheet xmlns:sheet="http://schemas.openxmlformats.org/officeDocument/2006/relationships"',
    )
    write(path, named.replace('</worksheet>', '<drawing sheet:id="rId1"/></worksheet>'))
    types.push(`<Override PartName="/xl/charts/chart${number}.xml" ContentType="${CHART_TYPE}"/>`)
    types.push(`<Override PartName="/xl/drawings/drawing${number}.xml" ContentType="${DRAWING_TYPE}"/>`)
  })
  const list = '[Content_Types].xml'
  write(list, read(list).replace('</Types>', `${types.join('')}</Types>`))
}

function cellsOf({ chart, name }: Placed) {
  const sheet = `'${name.replaceAll("'", "''")}'`
  const last = chart.labels.length + 1
  const column = (index: number) => String.fromCharCode(65 + index)
  return {
    labels: `${sheet}!$A$2:$A$${last}`,
    series: chart.series.map((_, at) => ({
      name: `${sheet}!$${column(at + 1)}$1`,
      values: `${sheet}!$${column(at + 1)}$2:$${column(at + 1)}$${last}`,
    })),
  }
}

/** Leaves one empty column beside the rows. Nine columns wide and nineteen rows high. */
function drawing({ series }: Chart, number: number): string {
  const from = series.length + 2
  const marker = (name: string, column: number, row: number) =>
    `<xdr:${name}><xdr:col>${column}</xdr:col><xdr:colOff>0</xdr:colOff><xdr:row>${row}</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:${name}>`
  const frame = `<xdr:nvGraphicFramePr><xdr:cNvPr id="${number + 1}" name="Chart ${number}"/><xdr:cNvGraphicFramePr/></xdr:nvGraphicFramePr><xdr:xfrm><a:off x="0" y="0"/><a:ext cx="0" cy="0"/></xdr:xfrm>`
  const graphic = `<a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/chart"><c:chart xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" r:id="rId1"/></a:graphicData></a:graphic>`
  const spaces =
    'xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
  return `${HEAD}<xdr:wsDr ${spaces}><xdr:twoCellAnchor>${marker('from', from, 1)}${marker('to', from + 9, 20)}<xdr:graphicFrame macro="">${frame}${graphic}</xdr:graphicFrame><xdr:clientData/></xdr:twoCellAnchor></xdr:wsDr>`
}
