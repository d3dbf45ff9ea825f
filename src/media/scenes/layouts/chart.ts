import { type Color, circle, group, line, type Paint, path, rect, type Shape, type TextLook } from '../model'
import { contrast, isDark, mix, readableOn, shade } from '../palette'
import type { ChartData } from '../read'
import { fitted, lettered, widthOf } from '../typeface'
import type { Canvas } from './canvas'

type Frame = {
  x: number
  y: number
  width: number
  height: number
  unit: number
  ink: Color
  faint: Color
  colors: Color[]
}

/** Draws the numbers of the prompt as bars, a line or a ring, with title and labels. */
export function chart(canvas: Canvas, data: ChartData): { background: Paint; shapes: Shape[] } {
  const { width, height, palette } = canvas
  const unit = Math.min(width, height)
  const margin = unit * 0.075
  const ink = readableOn(palette.paper, palette.ink, palette.paper)
  const title = fitted(
    data.title,
    { width: width - margin * 2, height: unit * 0.14 },
    { weight: 800, tracking: -0.025, max: unit * 0.058, leading: 1.1, lines: 2 },
  )
  const head = lettered(title, { x: margin, y: margin + title.size * 0.9, anchor: 'start', fill: ink })
  const top = margin + title.size * (title.lines.length * 1.1) + unit * 0.05
  const colors = [
    palette.main,
    palette.accent,
    palette.second,
    shade(palette.main, 0.18),
    shade(palette.accent, -0.16),
    shade(palette.second, -0.2),
    mix(palette.main, palette.accent, 0.5),
  ].map((color) => (contrast(color, palette.paper) < 1.25 ? shade(color, isDark(palette.paper) ? 0.18 : -0.16) : color))
  const frame: Frame = {
    x: margin,
    y: top,
    width: width - margin * 2,
    height: height - top - margin,
    unit,
    ink,
    faint: mix(palette.paper, ink, 0.14),
    colors,
  }
  const bar = rect(margin, margin - unit * 0.028, unit * 0.09, unit * 0.012, palette.accent, { radius: unit * 0.006 })
  const drawn = data.type === 'pie' ? ring(frame, data, palette.paper) : axes(frame, data)
  return { background: palette.paper, shapes: [group([bar, ...head]), ...drawn] }
}

const shown = (value: number, { unit }: ChartData): string => {
  const digits =
    Math.abs(value) >= 1_000
      ? value.toLocaleString('en-US', { maximumFractionDigits: 0 })
      : String(Math.round(value * 100) / 100)
  return /[$€£]/.test(unit) ? `${unit}${digits}` : `${digits}${unit}`
}

/** Round steps that cover all values and zero. */
function scaleOf(values: readonly number[]): { from: number; to: number; step: number } {
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)]
  const rough = (high - low || 1) / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((one) => one >= rough)!
  return { from: Math.floor(low / step) * step, to: Math.ceil(high / step) * step, step }
}

function axes(frame: Frame, data: ChartData): Shape[] {
  const { x, y, width, height, unit, ink, faint, colors } = frame
  const { rows } = data
  const { from, to, step } = scaleOf(rows.map(({ value }) => value))
  const small = Math.min(unit * 0.03, (width / rows.length) * 0.24)
  const label = { size: small, weight: 400 as const, fill: mix(ink, faint, 0.25) }
  const left = x + Math.max(...[from, to].map((value) => widthOf(shown(value, data), label))) + unit * 0.02
  const floor = y + height - small * 2.2
  const at = (value: number) => floor - ((value - from) / (to - from || 1)) * (floor - y)
  const grid: Shape[] = []
  for (let value = from; value <= to + step / 2; value += step) {
    grid.push(
      line(
        `M${left} ${at(value)} H${x + width}`,
        value === 0 ? mix(ink, faint, 0.5) : faint,
        unit * (value === 0 ? 0.003 : 0.002),
      ),
    )
    grid.push({
      type: 'text',
      text: shown(value, data),
      x: left - unit * 0.015,
      y: at(value) + small * 0.36,
      anchor: 'end',
      ...label,
    })
  }
  const slot = (x + width - left) / rows.length
  const middle = (index: number) => left + slot * (index + 0.5)
  const labels = rows.map(({ label: text }, index): Shape => {
    const { lines, size } = fitted(
      text,
      { width: slot * 0.94, height: small * 1.4 },
      { weight: 400, max: small, lines: 1 },
    )
    return {
      ...label,
      type: 'text',
      text: lines[0] ?? '',
      x: middle(index),
      y: floor + small * 1.7,
      size,
      anchor: 'middle',
    } as Shape & TextLook
  })
  const values = rows.map(
    ({ value }, index): Shape => ({
      type: 'text',
      text: shown(value, data),
      x: middle(index),
      y: at(Math.max(value, 0)) - small * 0.6,
      size: small,
      weight: 600,
      anchor: 'middle',
      fill: ink,
    }),
  )
  const marks =
    data.type === 'line'
      ? curve(
          rows.map(({ value }, index) => [middle(index), at(value)]),
          floor,
          colors,
          unit,
        )
      : rows.map(({ value }, index) =>
          group([
            rect(
              middle(index) - slot * 0.32,
              Math.min(at(value), at(0)),
              slot * 0.64,
              Math.abs(at(value) - at(0)),
              colors[0]!,
              { radius: Math.min(unit * 0.012, slot * 0.1) },
            ),
          ]),
        )
  return [group(grid), group(labels), ...marks, group(values)]
}

function curve(points: (readonly number[])[], floor: number, colors: readonly Color[], unit: number): Shape[] {
  const d = points.map(([x, y], index) => {
    const before = points[index - 1]
    const half = before ? (x! - before[0]!) / 2 : 0
    return before ? `C${before[0]! + half} ${before[1]} ${x! - half} ${y} ${x} ${y}` : `M${x} ${y}`
  })
  const [first, last] = [points[0]!, points.at(-1)!]
  return [
    group([path(`${d.join(' ')} L${last[0]} ${floor} L${first[0]} ${floor} Z`, colors[0]!, { opacity: 0.16 })]),
    group([line(d.join(' '), colors[0]!, unit * 0.008)]),
    group(
      points.flatMap(([x, y]) => [circle(x!, y!, unit * 0.012, colors[0]!), circle(x!, y!, unit * 0.006, '#ffffff')]),
    ),
  ]
}

function ring(frame: Frame, data: ChartData, paper: Color): Shape[] {
  const { x, y, width, height, unit, ink, colors } = frame
  const total = data.rows.reduce((sum, { value }) => sum + Math.max(0, value), 0) || 1
  const isWide = width > height * 1.15
  const r = Math.min(isWide ? width * 0.26 : width * 0.32, isWide ? height * 0.48 : height * 0.32)
  const [cx, cy] = isWide ? [x + r * 1.1, y + height / 2] : [x + width / 2, y + r * 1.05]
  const colorOf = (index: number) => colors[index % colors.length]!
  let turn = -Math.PI / 2
  const parts = data.rows.map(({ value }, index) => {
    const sweep = (Math.max(0, value) / total) * Math.PI * 2
    const [a, b] = [turn, turn + Math.min(sweep, Math.PI * 1.9999)]
    turn += sweep
    const point = (angle: number) => `${cx + Math.cos(angle) * r} ${cy + Math.sin(angle) * r}`
    return group([
      path(`M${cx} ${cy} L${point(a)} A${r} ${r} 0 ${sweep > Math.PI ? 1 : 0} 1 ${point(b)} Z`, colorOf(index), {
        stroke: paper,
        strokeWidth: unit * 0.006,
      }),
    ])
  })
  const size = Math.min(unit * 0.034, (isWide ? height : height - r * 2.3) / (data.rows.length * 1.9))
  const [lx, ly] = isWide
    ? [cx + r + unit * 0.09, cy - (data.rows.length * size * 1.9) / 2]
    : [x + width * 0.1, cy + r + unit * 0.05]
  const legend = data.rows.flatMap(({ label, value }, index): Shape[] => {
    const at = ly + size * (0.9 + index * 1.9)
    return [
      rect(lx, at - size * 0.78, size * 0.9, size * 0.9, colorOf(index), { radius: size * 0.22 }),
      { type: 'text', text: label, x: lx + size * 1.5, y: at, size, weight: 400, anchor: 'start', fill: ink },
      {
        type: 'text',
        text: `${Math.round((Math.max(0, value) / total) * 1_000) / 10}%`,
        x: isWide ? x + width : x + width * 0.9,
        y: at,
        size,
        weight: 600,
        anchor: 'end',
        fill: ink,
      },
    ]
  })
  return [group([...parts, circle(cx, cy, r * 0.58, paper)]), group(legend)]
}
