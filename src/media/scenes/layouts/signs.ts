import { circle, type Gradient, group, type Paint, rect, type Shape } from '../model'
import { mix, readableOn, shade, turned } from '../palette'
import { fitted, lettered, widthOf, writable } from '../typeface'
import { tiles } from './abstract'
import { type Canvas, drawMotif, paletteOf } from './canvas'

/** A rounded square with the first subject, or initials. */
export function icon(canvas: Canvas): { background: Paint; shapes: Shape[] } {
  const { width, height, palette } = canvas
  const size = Math.min(width, height) * 0.68
  return {
    background: mix(palette.paper, palette.second, 0.12),
    shapes: [mark(canvas, (width - size) / 2, (height - size) / 2, size)],
  }
}

/** A mark above or beside a name. */
export function logo(canvas: Canvas): { background: Paint; shapes: Shape[] } {
  const { width, height, palette, reading } = canvas
  const name = writable(nameIn(reading.lettering[0] ?? reading.words))
  const unit = Math.min(width, height)
  const isWide = width > height * 1.25
  const size = unit * (isWide ? 0.4 : 0.36)
  const room = isWide
    ? { width: width * 0.86 - size * 1.3, height: size * 0.9 }
    : { width: width * 0.82, height: unit * 0.22 }
  const text = fitted(name, room, { weight: 800, tracking: -0.035, max: unit * 0.15, lines: isWide ? 2 : 1 })
  const wide = Math.max(...text.lines.map((one) => widthOf(one, text)), 1)
  const start = isWide ? (width - wide - size * 1.3) / 2 : (width - size) / 2
  const top = isWide ? (height - size) / 2 : height * 0.5 - size * 0.78
  const words = lettered(text, {
    x: isWide ? start + size * 1.3 : width / 2,
    y: isWide
      ? height / 2 + text.size * (0.36 - ((text.lines.length - 1) / 2) * text.leading)
      : top + size * 1.26 + text.size * 0.7,
    anchor: isWide ? 'start' : 'middle',
    fill: palette.ink,
  })
  return { background: palette.paper, shapes: [mark(canvas, start, top, size), group(words)] }
}

function mark(canvas: Canvas, x: number, y: number, size: number): Shape {
  const { palette, reading } = canvas
  const [first] = reading.subjects
  const fill: Gradient = {
    angle: 60,
    stops: [
      { at: 0, color: shade(palette.main, 0.06) },
      { at: 1, color: shade(turned(palette.main, 24), -0.06) },
    ],
  }
  const ground = rect(0, 0, size, size, fill, { radius: size * 0.23 })
  const shine = circle(size * 0.2, size * 0.1, size * 0.62, '#ffffff', { opacity: 0.07 })
  const frame = rect(0, 0, size, size, palette.main, { radius: size * 0.23 })
  if (first) {
    const light = readableOn(palette.main, palette.paper, palette.ink)
    const worn = {
      ...paletteOf(first, palette),
      main: mix(light, palette.second, 0.12),
      second: mix(light, palette.main, 0.35),
    }
    const dressed = first.color ? paletteOf(first, palette) : worn
    return group(
      [
        ground,
        group([shine], { clip: frame }),
        ...(first.motif.draw ? [] : [circle(size / 2, size / 2, size * 0.41, palette.paper)]),
        drawMotif(first.motif, dressed, {
          x: size / 2,
          y: size * (first.motif.draw ? 0.82 : 0.77),
          height: size * (first.motif.draw ? 0.64 : 0.54),
        }),
      ],
      { x, y },
    )
  }
  const initials = writable(initialsOf(reading.lettering[0] ?? reading.words)) || '?'
  const letters = fitted(
    initials,
    { width: size * 0.72, height: size * 0.7 },
    { weight: 800, tracking: -0.05, max: size * 0.56, lines: 1 },
  )
  const ink = readableOn(palette.main, palette.paper, palette.ink)
  return group(
    [
      ground,
      group([shine], { clip: frame }),
      ...lettered(letters, { x: size / 2, y: size / 2 + letters.size * 0.36, fill: ink }),
    ],
    { x, y },
  )
}

const SMALL = new Set('for a an the of and with in on called named company brand modern new my our'.split(' '))

const nameIn = (words: string): string =>
  words
    .split(/\s+/)
    .filter((word) => !SMALL.has(word.toLowerCase()))
    .slice(0, 3)
    .join(' ')

const initialsOf = (words: string): string =>
  nameIn(words)
    .split(/\s+/)
    .map((word) => [...word][0] ?? '')
    .join('')
    .slice(0, 2)
    .toUpperCase()

/** A seamless pattern of the subjects, or of tiles. */
export function pattern(canvas: Canvas): { background: Paint; shapes: Shape[] } {
  const { width, height, palette, reading } = canvas
  const ground = mix(palette.paper, palette.second, 0.28)
  if (!reading.subjects.length) return { background: ground, shapes: tiles(canvas, 8) }
  const columns = width >= height ? 6 : 4
  const step = width / columns
  const rows = Math.max(2, Math.round(height / step / 2) * 2)
  const down = height / rows
  const shapes: Shape[] = []
  for (let row = -1; row <= rows; row += 1) {
    for (let column = -1; column <= columns; column += 1) {
      const x = (column + (row % 2 ? 1 : 0.5)) * step
      const y = (row + 0.5) * down
      const subject =
        reading.subjects[
          (((column + row) % reading.subjects.length) + reading.subjects.length) % reading.subjects.length
        ]!
      shapes.push(
        drawMotif(subject.motif, paletteOf(subject, palette), {
          x,
          y: y + step * 0.3,
          height: step * 0.58,
          flip: (column + row) % 2 === 0,
        }),
      )
      shapes.push(circle(x + step / 2, y, step * 0.035, palette.accent))
    }
  }
  return { background: ground, shapes }
}
