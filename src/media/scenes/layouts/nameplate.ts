import { readableOn } from '../color'
import { group, rect, type Shape } from '../model'
import { fitted, widthOf } from '../typeface'
import type { Canvas } from './canvas'

/** The name of what there is no picture of, in the middle of the field of forms that stands for it. */
export function nameplate({ width, height, palette }: Canvas, name: string): Shape {
  const unit = Math.min(width, height)
  const text = fitted(
    name,
    { width: width * 0.72, height: height * 0.3 },
    { weight: 800, tracking: -0.02, most: unit * 0.085, lines: 3 },
  )
  const { size, leading, lines } = text
  const wide = Math.max(...lines.map((line) => widthOf(line, text)), 1) + size * 1.6
  const tall = lines.length * size * leading + size * 1.1
  const [x, y] = [(width - wide) / 2, (height - tall) / 2]
  return group('title', [
    group('plate', [rect(x, y, wide, tall, palette.paper, { radius: size * 0.3 })]),
    ...lines.map(
      (line, at): Shape => ({
        type: 'text',
        text: line,
        x: width / 2,
        y: y + size * (1.28 + at * leading),
        size,
        weight: 800,
        tracking: -0.02,
        anchor: 'middle',
        fill: readableOn(palette.paper, palette.ink, palette.main),
      }),
    ),
  ])
}
