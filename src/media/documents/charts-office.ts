import { html } from '../../kernel/html'
import type { Chart, Series } from './blocks-model'
import { colourOf, startsAtZero, sumOf } from './charts'

const SPACES =
  'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'

/** The workbook cells with the data of a chart. The server builds each reference; none comes from a user. */
export type Cells = { labels: string; series: readonly { name: string; values: string }[] }

export const CHART_TYPE = 'application/vnd.openxmlformats-officedocument.drawingml.chart+xml'
export const CHART_RELATION = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/chart'

const escaped = (text: string): string => html`${text}`.markup

/** A chart as a part of an Office file, which users can edit like a native chart. */
export function officeChart(chart: Chart, cells: Cells | null = null): string {
  const plot = chart.kind === 'pie' ? pie(chart, cells) : withAxes(chart, cells)
  const run = `<a:r><a:rPr lang="en" sz="1300" b="1"/><a:t>${escaped(chart.title ?? '')}</a:t></a:r>`
  const title = chart.title
    ? `<c:title><c:tx><c:rich><a:bodyPr/><a:p>${run}</a:p></c:rich></c:tx><c:overlay val="0"/></c:title><c:autoTitleDeleted val="0"/>`
    : '<c:autoTitleDeleted val="1"/>'
  const needsLegend = chart.kind === 'pie' || chart.series.length > 1
  const legend = needsLegend
    ? `<c:legend><c:legendPos val="${chart.kind === 'pie' ? 'r' : 'b'}"/><c:overlay val="0"/></c:legend>`
    : ''
  return `<?xml version="1.0" encoding="UTF-8" standalone="yes"?><c:chartSpace ${SPACES}><c:roundedCorners val="0"/><c:chart>${title}<c:plotArea><c:layout/>${plot}</c:plotArea>${legend}<c:plotVisOnly val="1"/></c:chart><c:spPr><a:ln><a:noFill/></a:ln></c:spPr></c:chartSpace>`
}

function withAxes(chart: Chart, cells: Cells | null): string {
  const drawn = chart.series.map((series, at) => seriesOf(chart, series, at, cells)).join('')
  const ids = '<c:axId val="1"/><c:axId val="2"/>'
  const plots = {
    bar: `<c:barChart><c:barDir val="col"/><c:grouping val="clustered"/><c:varyColors val="0"/>${drawn}<c:gapWidth val="60"/>${ids}</c:barChart>`,
    line: `<c:lineChart><c:grouping val="standard"/><c:varyColors val="0"/>${drawn}<c:marker val="1"/>${ids}</c:lineChart>`,
    area: `<c:areaChart><c:grouping val="standard"/><c:varyColors val="0"/>${drawn}${ids}</c:areaChart>`,
  }
  const grid =
    '<c:majorGridlines><c:spPr><a:ln w="6350"><a:solidFill><a:srgbClr val="E2E8F0"/></a:solidFill></a:ln></c:spPr></c:majorGridlines>'
  const scaling = '<c:scaling><c:orientation val="minMax"/></c:scaling><c:delete val="0"/>'
  const fromZero = startsAtZero(chart) ? scaling.replace('</c:scaling>', '<c:min val="0"/></c:scaling>') : scaling
  const names = `<c:catAx><c:axId val="1"/>${scaling}<c:axPos val="b"/>${NO_TICKS}<c:tickLblPos val="low"/><c:crossAx val="2"/></c:catAx>`
  // Quoted, so that no unit is read as a code of the format.
  const format = `<c:numFmt formatCode="${escaped(chart.unit ? `#,##0.##"${chart.unit.replaceAll('"', '')}"` : '#,##0.##')}" sourceLinked="0"/>`
  const values = `<c:valAx><c:axId val="2"/>${fromZero}<c:axPos val="l"/>${grid}${format}${NO_TICKS}<c:tickLblPos val="nextTo"/><c:crossAx val="1"/></c:valAx>`
  return plots[chart.kind as keyof typeof plots] + names + values
}

const NO_TICKS = '<c:majorTickMark val="none"/><c:minorTickMark val="none"/>'

function pie(chart: Chart, cells: Cells | null): string {
  const [first] = chart.series
  const points = chart.labels.map((_, at) => `<c:dPt><c:idx val="${at}"/>${fill(colourOf(at))}</c:dPt>`).join('')
  const shown = sumOf(first!.values) > 0 ? 1 : 0
  const labels = `<c:dLbls><c:showLegendKey val="0"/><c:showVal val="0"/><c:showCatName val="0"/><c:showSerName val="0"/><c:showPercent val="${shown}"/><c:showBubbleSize val="0"/></c:dLbls>`
  return `<c:pieChart><c:varyColors val="1"/>${seriesOf(chart, first!, 0, cells, points + labels)}<c:firstSliceAng val="0"/></c:pieChart>`
}

const fill = (colour: string): string =>
  `<c:spPr><a:solidFill><a:srgbClr val="${colour.slice(1).toUpperCase()}"/></a:solidFill></c:spPr>`

function lookOf(kind: Chart['kind'], at: number): string {
  if (kind === 'pie') return ''
  if (kind !== 'line') return fill(colourOf(at))
  const colour = colourOf(at).slice(1).toUpperCase()
  return `<c:spPr><a:ln w="28575"><a:solidFill><a:srgbClr val="${colour}"/></a:solidFill></a:ln></c:spPr>`
}

function seriesOf(chart: Chart, { name, values }: Series, at: number, cells: Cells | null, extra = ''): string {
  const own = cells?.series[at]
  const points = values
    .map((value, index) => (value === null ? '' : `<c:pt idx="${index}"><c:v>${value}</c:v></c:pt>`))
    .join('')
  const numbers = `<c:formatCode>General</c:formatCode><c:ptCount val="${values.length}"/>${points}`
  const listed = chart.labels.map((label, index) => `<c:pt idx="${index}"><c:v>${escaped(label)}</c:v></c:pt>`).join('')
  const labels = `<c:ptCount val="${chart.labels.length}"/>${listed}`
  const called = `<c:ptCount val="1"/><c:pt idx="0"><c:v>${escaped(name)}</c:v></c:pt>`
  const parts = [
    `<c:idx val="${at}"/><c:order val="${at}"/>`,
    `<c:tx>${own ? reference('str', own.name, called) : `<c:v>${escaped(name)}</c:v>`}</c:tx>`,
    lookOf(chart.kind, at),
    extra,
    `<c:cat>${cells ? reference('str', cells.labels, labels) : `<c:strLit>${labels}</c:strLit>`}</c:cat>`,
    `<c:val>${own ? reference('num', own.values, numbers) : `<c:numLit>${numbers}</c:numLit>`}</c:val>`,
  ]
  return `<c:ser>${parts.join('')}</c:ser>`
}

/** A reference to cells of the workbook, with their cached content. */
const reference = (kind: 'str' | 'num', cells: string, cache: string): string =>
  `<c:${kind}Ref><c:f>${escaped(cells)}</c:f><c:${kind}Cache>${cache}</c:${kind}Cache></c:${kind}Ref>`
