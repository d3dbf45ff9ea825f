import { html } from '../../kernel/html'
import type { Chart } from './blocks-model'
import { colourOf, labelOf, type Scale, scaleOf, sumOf } from './charts'
import { shownInOrder } from './render/fonts'

/** In points. The chart is as wide as the text of a page. */
export const CHART_SIZE = { width: 480, height: 270 }

const INK = '#2d3748'
const QUIET = '#718096'
const GRID = '#e2e8f0'
const FONT_PX = 9
/** Average width of a letter as a share of its height. */
const LETTER = 0.55

type Area = { left: number; top: number; right: number; bottom: number }

/** A chart as self-contained SVG, with text in the fonts of a PDF. */
export function chartSvg(chart: Chart): string {
  const { width, height } = CHART_SIZE
  const parts = [title(chart), chart.kind === 'pie' ? pie(chart) : axes(chart)]
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${parts.join('')}</svg>`
}

type Lettering = { at?: 'start' | 'middle' | 'end'; size?: number; fill?: string; bold?: boolean; turn?: number }

function words(x: number, y: number, text: string, look: Lettering = {}): string {
  const { at = 'start', size = FONT_PX, fill = QUIET, bold = false, turn } = look
  const turned = turn ? ` transform="rotate(${turn} ${n(x)} ${n(y)})"` : ''
  const weight = bold ? ' font-weight="bold"' : ''
  return `<text x="${n(x)}" y="${n(y)}" font-family="Roboto" font-size="${size}" fill="${fill}" text-anchor="${at}"${weight}${turned}>${lettered(text)}</text>`
}

const lettered = (text: string): string =>
  shownInOrder(text)
    .map(({ family, text }) => {
      const { markup } = html`${text}`
      return family === 'Roboto' ? markup : `<tspan font-family="${family}">${markup}</tspan>`
    })
    .join('')

const n = (value: number): string => String(Math.round(value * 100) / 100)
/** Letters as wide as high, such as Chinese. */
const WIDE = /[\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\uff00-\uff60]/g
const widthOf = (text: string, size = FONT_PX): number =>
  (text.length * LETTER + (text.match(WIDE)?.length ?? 0) * (1 - LETTER)) * size

const title = ({ title }: Chart): string =>
  title ? words(0, 13, cut(title, CHART_SIZE.width, 12), { size: 12, fill: INK, bold: true }) : ''

function cut(text: string, room: number, size = FONT_PX): string {
  const max = Math.max(3, Math.floor(room / (size * LETTER)))
  const letters = [...text]
  return letters.length <= max ? text : `${letters.slice(0, max - 1).join('')}…`
}

function legend(names: readonly string[], top: number): { drawn: string; height: number } {
  if (names.length < 2 && !names[0]) return { drawn: '', height: 0 }
  if (names.length < 2) return { drawn: words(0, top + 8, names[0]!), height: 16 }
  let [x, y] = [0, top]
  const parts = names.map((name, at) => {
    const text = cut(name, 140)
    const room = widthOf(text) + 24
    if (x + room > CHART_SIZE.width && x > 0) {
      x = 0
      y += 14
    }
    const mark = `<rect x="${n(x)}" y="${n(y)}" width="9" height="9" rx="2" fill="${colourOf(at)}"/>${words(x + 13, y + 8, text)}`
    x += room
    return mark
  })
  return { drawn: parts.join(''), height: y - top + 18 }
}

function axes(chart: Chart): string {
  const scale = scaleOf(chart)
  const top = chart.title ? 24 : 4
  const named = legend(
    chart.series.map(({ name }) => name),
    top,
  )
  const ticks = scale.ticks.map((tick) => labelOf(tick, chart.unit))
  const left = Math.max(...ticks.map((tick) => widthOf(tick))) + 8
  const slot = (CHART_SIZE.width - left) / chart.labels.length
  const longest = Math.max(...chart.labels.map((label) => widthOf(label)))
  const turns = longest > slot - 4
  const area: Area = {
    left,
    top: top + named.height + 6,
    right: CHART_SIZE.width,
    bottom: CHART_SIZE.height - (turns ? Math.min(64, longest * 0.72 + 10) : 18),
  }
  const y = (value: number) => area.bottom - ((value - scale.from) / (scale.to - scale.from)) * (area.bottom - area.top)
  const grid = scale.ticks.map((tick, at) => {
    const [line, colour] = [n(y(tick)), tick === 0 ? '#a0aec0' : GRID]
    const rule = `<line x1="${n(area.left)}" y1="${line}" x2="${n(area.right)}" y2="${line}" stroke="${colour}" stroke-width="0.75"/>`
    return rule + words(area.left - 6, y(tick) + 3, ticks[at]!, { at: 'end' })
  })
  const drawn = chart.kind === 'bar' ? bars(chart, area, y) : lines(chart, area, y, scale)
  return [named.drawn, ...grid, drawn, labels(chart, area, turns)].join('')
}

/** Labels below the axis. Rotates labels that are too long, and omits some if there are too many. */
function labels({ labels }: Chart, area: Area, turns: boolean): string {
  const slot = (area.right - area.left) / labels.length
  const every = Math.max(1, Math.ceil(12 / slot))
  return labels
    .map((label, at) => {
      if (at % every) return ''
      const x = area.left + slot * (at + 0.5)
      return turns
        ? words(x + 3, area.bottom + 11, cut(label, 80), { at: 'end', turn: -40 })
        : words(x, area.bottom + 13, label, { at: 'middle' })
    })
    .join('')
}

type Place = (value: number) => number

function bars({ series, labels, unit }: Chart, area: Area, y: Place): string {
  const slot = (area.right - area.left) / labels.length
  const width = Math.min(46, (slot * 0.72) / series.length)
  const isSparse = series.length * labels.length <= 14
  return labels
    .flatMap((_, at) =>
      series.map(({ values }, which) => {
        const value = values[at] ?? null
        if (value === null) return ''
        const x = area.left + slot * (at + 0.5) + (which - series.length / 2) * width
        const [high, low] = [Math.min(y(value), y(0)), Math.max(y(value), y(0))]
        const bar = `<rect x="${n(x + 0.75)}" y="${n(high)}" width="${n(width - 1.5)}" height="${n(Math.max(0.75, low - high))}" rx="1.5" fill="${colourOf(which)}"/>`
        const text = labelOf(value, unit)
        if (!isSparse || widthOf(text, 8) > width + 10) return bar
        return bar + words(x + width / 2, value < 0 ? low + 9 : high - 4, text, { at: 'middle', size: 8, fill: INK })
      }),
    )
    .join('')
}

function lines({ kind, series, labels }: Chart, area: Area, y: Place, scale: Scale): string {
  const slot = (area.right - area.left) / labels.length
  const base = n(y(Math.max(0, scale.from)))
  return series
    .map(({ values }, which) => {
      const points = values.flatMap((value, at) =>
        value === null ? [] : [{ x: area.left + slot * (at + 0.5), y: y(value) }],
      )
      if (!points.length) return ''
      const path = points.map((point, at) => `${at ? 'L' : 'M'}${n(point.x)} ${n(point.y)}`).join(' ')
      const colour = colourOf(which)
      const below = `${path} L${n(points.at(-1)!.x)} ${base} L${n(points[0]!.x)} ${base} Z`
      const filled = kind === 'area' ? `<path d="${below}" fill="${colour}" fill-opacity="0.18"/>` : ''
      const line = `<path d="${path}" fill="none" stroke="${colour}" stroke-width="2" stroke-linejoin="round"/>`
      const dots = points.length > 30 ? [] : points
      return (
        filled +
        line +
        dots.map((point) => `<circle cx="${n(point.x)}" cy="${n(point.y)}" r="2.6" fill="${colour}"/>`).join('')
      )
    })
    .join('')
}

/** Shares of the first series, clockwise from the top, with a legend of names and values. */
function pie({ labels, series, unit, title }: Chart): string {
  const values = series[0]!.values
  const all = sumOf(values)
  const [x, y, radius] = [130, title ? 146 : 136, 112]
  let turned = 0
  const slices = values.map((value, at) => {
    const share = all === 0 ? 0 : Math.max(0, value ?? 0) / all
    const [from, to] = [turned, turned + share]
    turned = to
    if (share === 0) return ''
    if (share > 0.9999) return `<circle cx="${x}" cy="${y}" r="${radius}" fill="${colourOf(at)}"/>`
    const [a, b] = [pointAt(x, y, radius, from), pointAt(x, y, radius, to)]
    const path = `M${x} ${y} L${a} A${radius} ${radius} 0 ${share > 0.5 ? 1 : 0} 1 ${b} Z`
    return `<path d="${path}" fill="${colourOf(at)}" stroke="#ffffff" stroke-width="1.5"/>`
  })
  const step = Math.min(20, (CHART_SIZE.height - 30) / labels.length)
  const top = y - (step * labels.length) / 2 + step / 2
  const named = labels.map((label, at) => {
    const line = top + at * step
    const value = values[at] ?? null
    const share = all === 0 ? 0 : Math.max(0, value ?? 0) / all
    const text = value === null ? '' : `${labelOf(value, unit)} · ${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`
    return [
      `<rect x="272" y="${n(line - 5)}" width="9" height="9" rx="2" fill="${colourOf(at)}"/>`,
      words(287, line + 3, cut(label, 110), { fill: INK }),
      words(CHART_SIZE.width, line + 3, text, { at: 'end' }),
    ].join('')
  })
  return [...slices, ...named].join('')
}

function pointAt(x: number, y: number, radius: number, share: number): string {
  const angle = share * 2 * Math.PI - Math.PI / 2
  return `${n(x + radius * Math.cos(angle))} ${n(y + radius * Math.sin(angle))}`
}
