import { isDark, mix, readableOn, shade } from '../color'
import { group, line, type Paint, path, rect, type Shape } from '../model'
import { fitted } from '../typeface'
import type { Canvas } from './canvas'

/** Steps in boxes, one leading to the next. */
export function diagram(canvas: Canvas): { background: Paint; shapes: Shape[] } {
  const { width, height, palette, reading } = canvas
  const { steps } = reading
  const isWide = width > height
  const unit = Math.min(width, height)
  const count = steps.length
  const gap = 0.42
  const along = (isWide ? width : height) * 0.88
  const step = along / (count + (count - 1) * gap)
  const [w, h] = isWide ? [step, Math.min(height * 0.4, step * 0.9)] : [width * 0.62, step]
  const shapes: Shape[] = []
  for (const [at, words] of steps.entries()) {
    const offset = (isWide ? width : height) * 0.06 + at * step * (1 + gap)
    const [x, y] = isWide ? [offset, (height - h) / 2] : [(width - w) / 2, offset]
    const fill = mix(palette.main, palette.second, count > 1 ? (at / (count - 1)) * 0.75 : 0)
    const ink = readableOn(fill, palette.paper, palette.ink)
    const text = fitted(
      words,
      { width: w * 0.84, height: h * 0.7 },
      { weight: 600, most: unit * 0.05, leading: 1.15, lines: 4 },
    )
    const middle = y + h / 2 - ((text.lines.length - 1) / 2) * text.size * 1.15 + text.size * 0.36
    shapes.push(
      group('step', [
        rect(x, y + unit * 0.008, w, h, shade(fill, isDark(fill) ? -0.1 : -0.14), { radius: unit * 0.03 }),
        rect(x, y, w, h, fill, { radius: unit * 0.03 }),
        ...text.lines.map(
          (one, row): Shape => ({
            type: 'text',
            text: one,
            x: x + w / 2,
            y: middle + row * text.size * 1.15,
            size: text.size,
            weight: 600,
            anchor: 'middle',
            fill: ink,
          }),
        ),
      ]),
    )
    if (at === count - 1) continue
    const [ax, ay] = isWide ? [x + w + step * gap * 0.14, height / 2] : [width / 2, y + h + step * gap * 0.14]
    const length = step * gap * 0.62
    const arrow = palette.accent
    shapes.push(
      group(
        'arrow',
        [
          line(`M0 0 H${length}`, arrow, unit * 0.009),
          path(`M${length + unit * 0.022} 0 L${length - unit * 0.012} ${-unit * 0.022} V${unit * 0.022} Z`, arrow),
        ],
        { x: ax, y: ay, rotate: isWide ? 0 : 90 },
      ),
    )
  }
  return { background: palette.paper, shapes }
}
