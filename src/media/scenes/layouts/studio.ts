import { isDark, mix, shade, tone } from '../color'
import { circle, ellipse, type Gradient, group, type Paint, path, rect, type Shape } from '../model'
import { type Canvas, paletteOf, standing } from './canvas'

/** Things without a place: on a plain ground, in front of one large form. */
export function studio(canvas: Canvas): { background: Paint; shapes: Shape[] } {
  const { width, height, palette, random, reading } = canvas
  const dark = reading.time === 'night' || isDark(palette.paper)
  const back = dark ? tone(palette.ink, 0.22) : mix(palette.paper, palette.second, 0.22)
  const form = dark ? tone(palette.main, 0.36, 0.8) : mix(palette.paper, palette.second, 0.62)
  const unit = Math.min(width, height)
  const floor = height * 0.8
  const background: Gradient = {
    angle: 90,
    stops: [
      { at: 0, color: shade(back, 0.02) },
      { at: 1, color: shade(back, -0.03) },
    ],
  }
  const shapes: Shape[] = [group('backdrop', reading.isMinimal ? [] : backdrop(canvas, form, unit))]
  const singles = reading.subjects
    .flatMap((subject) => Array.from({ length: subject.count }, (_, copy) => ({ subject, copy })))
    .slice(0, 7)
  const many = singles.length
  const step = Math.min(0.34, 0.78 / Math.max(1, many)) * width
  for (const [at, { subject, copy }] of singles.entries()) {
    const size =
      many === 1
        ? unit * Math.max(0.5, subject.motif.size) * 1.12
        : Math.min(unit * subject.motif.size, step * 1.18) * (1 + (at % 2) * 0.06)
    const x = width / 2 + (at - (many - 1) / 2) * step
    const flies = subject.motif.place === 'sky' || subject.motif.place === 'space'
    const y = flies ? height / 2 + size / 2 : floor + (at % 2 ? unit * 0.02 : 0)
    shapes.push(
      ellipse(x, flies ? floor + unit * 0.04 : y, size * (flies ? 0.26 : 0.46), size * 0.045, '#000000', {
        opacity: flies ? 0.08 : 0.14,
      }),
    )
    shapes.push(
      standing(subject.motif, apart(paletteOf(subject, palette), form), {
        x,
        y,
        height: size,
        flip: copy % 2 === 1 && random.next() < 0.9,
      }),
    )
  }
  return { background, shapes }
}

/** A subject of the colour of what is behind it would be lost. */
const apart = (palette: Canvas['palette'], form: Canvas['palette']['main']): Canvas['palette'] => ({
  ...palette,
  second: mix(palette.second, form, 0) === form ? shade(palette.second, -0.16) : palette.second,
})

function backdrop({ width, height, palette, random }: Canvas, form: Canvas['palette']['main'], unit: number): Shape[] {
  const dots = Array.from({ length: 9 }, () =>
    circle(
      random.between(0.06, 0.94) * width,
      random.between(0.08, 0.72) * height,
      unit * random.between(0.006, 0.016),
      random.pick([palette.accent, palette.main, palette.second]),
      { opacity: 0.8 },
    ),
  )
  const floor = rect(0, height * 0.8, width, height * 0.2, mix(form, palette.second, 0.25), { opacity: 0.4 })
  switch (Math.floor(random.next() * 3)) {
    case 0:
      return [circle(width / 2, height * 0.47, unit * 0.39, form), floor, ...dots]
    case 1:
      return [
        path(
          `M${width / 2 - unit * 0.34} ${height * 0.8} V${height * 0.46} A${unit * 0.34} ${unit * 0.34} 0 0 1 ${width / 2 + unit * 0.34} ${height * 0.46} V${height * 0.8} Z`,
          form,
        ),
        floor,
        ...dots,
      ]
    default:
      return [
        path(
          `M${width * 0.5 - unit * 0.36} ${height * 0.5} C${width * 0.5 - unit * 0.44} ${height * 0.14} ${width * 0.5 + unit * 0.2} ${height * 0.04} ${width * 0.5 + unit * 0.38} ${height * 0.3} C${width * 0.5 + unit * 0.52} ${height * 0.56} ${width * 0.5 + unit * 0.24} ${height * 0.86} ${width * 0.5 - unit * 0.06} ${height * 0.84} C${width * 0.5 - unit * 0.3} ${height * 0.82} ${width * 0.5 - unit * 0.3} ${height * 0.68} ${width * 0.5 - unit * 0.36} ${height * 0.5} Z`,
          form,
        ),
        floor,
        ...dots,
      ]
  }
}
