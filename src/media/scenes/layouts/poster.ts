import { directionOf } from '../../fonts'
import { circle, group, type Paint, path, rect, type Shape } from '../model'
import { contrast, isDark, mix, readableOn, shade } from '../palette'
import { fitted, lettered } from '../typeface'
import { tiles } from './abstract'
import { type Canvas, drawMotif, paletteOf } from './canvas'

/** Text with a picture below or beside it: a poster, a card, a banner. */
export function poster(canvas: Canvas): { background: Paint; shapes: Shape[] } {
  const { width, height, palette, random, reading } = canvas
  const ground = isDark(palette.paper) ? palette.paper : random.pick([palette.paper, palette.main, palette.ink])
  const ink = readableOn(ground, palette.paper, palette.ink)
  const second = contrast(palette.accent, ground) > 2.4 ? palette.accent : ink
  const [title = reading.words.charAt(0).toUpperCase() + reading.words.slice(1), ...more] = reading.lettering
  const isWide = width > height * 1.25
  const margin = Math.min(width, height) * 0.075
  const box = isWide
    ? { x: margin, y: margin, width: width * 0.5 - margin * 1.2, height: height - margin * 2 }
    : { x: margin, y: margin, width: width - margin * 2, height: height * 0.36 }
  const text = lettering(title, more, box, { ink, second, unit: Math.min(width, height) })
  const area = isWide
    ? { x: width * 0.5, y: 0, width: width * 0.5, height }
    : { x: 0, y: height * 0.46, width, height: height * 0.54 }
  return { background: ground, shapes: [group(pictured(canvas, ground, area)), ...text] }
}

type Area = { x: number; y: number; width: number; height: number }

function lettering(
  title: string,
  more: readonly string[],
  box: Area,
  { ink, second, unit }: { ink: `#${string}`; second: `#${string}`; unit: number },
): Shape[] {
  const headline = fitted(
    title,
    { width: box.width, height: box.height * (more.length ? 0.72 : 0.9) },
    { weight: 800, tracking: -0.03, max: unit * 0.17, leading: 1.02, lines: 5 },
  )
  const { size, leading } = headline
  const top = box.y + unit * 0.05
  // Right-to-left text is aligned right.
  const isTurned = directionOf(title) === 'rtl'
  const x = isTurned ? box.x + box.width : box.x
  const anchor = isTurned ? 'end' : 'start'
  const bar = rect(isTurned ? x - unit * 0.1 : x, box.y, unit * 0.1, unit * 0.014, second, { radius: unit * 0.007 })
  const lines = lettered(headline, { x, y: top + size * 0.78, anchor, fill: ink })
  let y = top + size * (0.78 + (headline.lines.length - 1) * leading)
  const below: Shape[] = []
  for (const words of more) {
    const { lines: rows, size: small } = fitted(
      words,
      { width: box.width, height: unit * 0.12 },
      { weight: 600, max: unit * 0.045, leading: 1.2, lines: 2 },
    )
    y += small * 0.7
    for (const text of rows) {
      y += small * 1.25
      below.push({ type: 'text', text, x, y, size: small, weight: 600, anchor, fill: second })
    }
  }
  return [group([bar, ...lines]), group(below)]
}

/** The subjects in front of a disc or an arch. Without subjects, a grid of tiles. */
function pictured(canvas: Canvas, ground: `#${string}`, area: Area): Shape[] {
  const { palette, reading } = canvas
  if (!reading.subjects.length) {
    const inner = { ...canvas, width: area.width, height: area.height, palette }
    return [group(tiles(inner, area.width > area.height ? 5 : 4), { x: area.x, y: area.y })]
  }
  const unit = Math.min(area.width, area.height)
  const [x, floor] = [area.x + area.width / 2, area.y + area.height * 0.93]
  const disc = contrast(palette.second, ground) > 1.25 ? palette.second : mix(ground, palette.accent, 0.7)
  const shapes: Shape[] = [
    circle(x, area.y + area.height * 0.5, unit * 0.46, disc),
    path(
      `M${area.x} ${area.y + area.height} V${floor - unit * 0.03} Q${x} ${floor - unit * 0.12} ${area.x + area.width} ${floor - unit * 0.03} V${area.y + area.height} Z`,
      shade(disc, -0.12),
    ),
  ]
  const singles = reading.subjects
    .flatMap((subject) => Array.from({ length: subject.count }, () => subject))
    .slice(0, 5)
  const step = Math.min(unit * 0.5, (area.width * 0.8) / singles.length)
  for (const [at, subject] of singles.entries()) {
    const height = singles.length === 1 ? unit * 0.72 : Math.min(unit * 0.6, step * 1.15)
    const dressed = paletteOf(subject, palette)
    const clear =
      contrast(dressed.main, disc) < 1.3
        ? { ...dressed, main: shade(dressed.main, isDark(disc) ? 0.2 : -0.2) }
        : dressed
    shapes.push(
      drawMotif(subject.motif, clear, {
        x: x + (at - (singles.length - 1) / 2) * step,
        y: floor - unit * 0.04,
        height,
      }),
    )
  }
  return shapes
}
