import { mix, shade } from '../color'
import { ellipse, type Gradient, group, type Shape } from '../model'
import type { Palette } from '../palette'
import type { Setting } from '../read'
import { type Canvas, paletteOf, standing } from './canvas'
import { groundOf } from './ground'
import { type Light, lightOf } from './light'
import { deepWater, skyOf, weatherOf } from './sky'

/** A place with what is in it: sky, land in layers that grow darker towards the viewer, and the subjects on it. */
export function landscape(canvas: Canvas): { background: Gradient; shapes: Shape[] } {
  const { height, reading } = canvas
  const setting = reading.setting ?? 'meadow'
  const light = lightOf(canvas)
  const background = {
    angle: 90,
    stops: [
      { at: 0, color: light.top },
      { at: 0.72, color: light.low },
      { at: 1, color: light.low },
    ],
  }
  const horizon = height * (HORIZON[setting] ?? 0.66)
  return {
    background: setting === 'deep' ? deepWater(canvas) : background,
    shapes: [
      group('sky', skyOf(canvas, light, setting, horizon)),
      group('ground', groundOf(canvas, light, setting, horizon)),
      ...placed(canvas, light, setting, horizon),
      ...weatherOf(canvas, light),
    ],
  }
}

const HORIZON: Partial<Record<Setting, number>> = {
  sea: 0.6,
  beach: 0.56,
  mountains: 0.74,
  city: 0.84,
  space: 0.9,
  desert: 0.66,
  forest: 0.8,
}

/** The subjects: in the air those that fly, on the water those that swim, the rest on the ground, the first in front. */
function placed(canvas: Canvas, light: Light, setting: Setting, horizon: number): Shape[] {
  const { width, height, palette, random, reading } = canvas
  const unit = Math.min(width, height * 1.15)
  const singles = reading.subjects.flatMap((subject) =>
    Array.from({ length: subject.count }, (_, copy) => ({ subject, copy })),
  )
  const floating = setting === 'space' || setting === 'deep'
  const flying = singles.filter(({ subject }) => subject.motif.place === 'sky' || floating)
  const rest = singles.filter((one) => !flying.includes(one))
  const shrink = Math.min(1, 2.1 / Math.max(1, rest.length))
  const shapes: Shape[] = []
  for (const [at, { subject, copy }] of flying.entries()) {
    const size = unit * subject.motif.size * (flying.length > 1 ? 0.62 : 1) * (1 - copy * 0.12)
    const x = width * (flying.length === 1 ? (rest.length ? 0.7 : 0.52) : 0.2 + (0.6 * at) / (flying.length - 1))
    const y = floating
      ? height * (flying.length === 1 ? 0.78 : 0.5 + (at % 2) * 0.2)
      : Math.max(size + height * 0.05, height * (rest.length ? 0.36 : 0.58) + (at % 2) * height * 0.1)
    shapes.push(
      standing(subject.motif, inLight(paletteOf(subject, palette), light), {
        x,
        y: Math.min(y, height * 0.95),
        height: size,
        flip: copy % 2 === 1,
      }),
    )
  }
  const onLand = ['beach'].includes(setting) ? height * 0.93 : horizon + (height - horizon) * 0.62
  for (const [at, { subject, copy }] of rest.entries()) {
    const swims = subject.motif.place === 'water' && (setting === 'sea' || setting === 'beach')
    const size =
      unit * subject.motif.size * (rest.length === 1 ? 1.04 : shrink) * (copy ? random.between(0.74, 0.92) : 1)
    const x = width * (rest.length === 1 ? (flying.length ? 0.36 : 0.5) : 0.18 + (0.64 * at) / (rest.length - 1))
    const y =
      (swims
        ? horizon + (height - horizon) * (setting === 'beach' ? 0.3 : 0.52)
        : setting === 'sea'
          ? height * 0.98
          : onLand) + (copy ? -height * 0.02 * copy : 0)
    const dressed = inLight(paletteOf(subject, palette), light)
    if (swims)
      shapes.push(ellipse(x, y + size * 0.02, size * 0.56, size * 0.05, shade(light.water, -0.16), { opacity: 0.45 }))
    else shapes.push(ellipse(x, y, size * 0.46, size * 0.04, '#000000', { opacity: 0.16 }))
    shapes.push(
      standing(subject.motif, dressed, { x, y: y + (swims ? size * 0.03 : 0), height: size, flip: copy % 2 === 1 }),
    )
  }
  return shapes
}

/** At night nothing is as bright as by day; what shines stays. */
const inLight = (palette: Palette, light: Light): Palette =>
  light.isNight ? { ...palette, paper: mix(palette.paper, '#b9c4e6', 0.35), main: shade(palette.main, 0.04) } : palette
