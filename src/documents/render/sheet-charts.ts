import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate'
import type { Chart } from '../blocks/model'
import { CHART_RELATION, CHART_TYPE, officeChart } from '../charts/office'

export type SheetChart = { chart: Chart }
type Placed = SheetChart & { sheet: number; name: string }

const RELATIONS = 'http://schemas.openxmlformats.org/package/2006/relationships'
const DRAWING_RELATION = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/drawing'
const DRAWING_TYPE = 'application/vnd.openxmlformats-officedocument.drawing+xml'
const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'

/** Adds charts to sheets that hold their rows from the first cell on; each is drawn beside them, from the cells. */
export function withSheetCharts(bytes: Uint8Array, charts: readonly Placed[]): Uint8Array {
  const files = unzipSync(bytes)
  const read = (name: string) => strFromU8(files[name]!)
  const write = (name: string, text: string) => {
    files[name] = strToU8(text)
  }
  const types: string[] = []
  charts.forEach((placed, at) => {
    const number = at + 1
    const sheet = placed.sheet + 1
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
  return zipSync(files)
}

const relation = (type: string, target: string): string =>
  `${HEAD}<Relationships xmlns="${RELATIONS}"><Relationship Id="rId1" Type="${type}" Target="${target}"/></Relationships>`

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

/** Two columns right of the rows, ten wide and twenty high. */
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
