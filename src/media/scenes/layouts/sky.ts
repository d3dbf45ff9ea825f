import { type Color, circle, type Gradient, group, line, path, type Shape } from '../model'
import { iconPicture } from '../motifs/icon-picture'
import { isDark, mix, tone } from '../palette'
import type { Setting } from '../read'
import type { Canvas } from './canvas'

export const deepWater = ({ palette }: Canvas): Gradient => ({
  angle: 90,
  stops: [
    { at: 0, color: tone(mix(palette.second, '#37a6c4', 0.6), 0.74) },
    { at: 1, color: tone(mix(palette.main, '#0b2a55', 0.7), 0.24) },
  ],
})

export function skyOf(canvas: Canvas, light: Light, setting: Setting, horizon: number): Shape[] {
  const { width, height, random, palette, reading } = canvas
  if (setting === 'deep') return rays(canvas)
  const unit = Math.min(width, height)
  const named = reading.subjects.some(({ motif }) => motif.name === 'sun' || motif.name === 'crescent-moon')
  const side = random.next() < 0.5 ? 0.24 : 0.76
  const shapes: Shape[] = []
  if (light.isNight) shapes.push(...stars(canvas, horizon))
  if (!named && setting !== 'space') {
    const [x, y, r] =
      reading.time === 'dusk'
        ? [width * 0.5, horizon - unit * 0.02, unit * 0.15]
        : [width * side, height * 0.22, unit * 0.085]
    shapes.push(
      circle(x, y, r * 1.75, light.glow, { opacity: 0.14 }),
      circle(x, y, r * 1.35, light.glow, { opacity: 0.2 }),
      circle(x, y, r, light.glow),
    )
    if (light.isNight) shapes.push(circle(x + r * 0.34, y - r * 0.2, r * 0.82, mix(light.top, light.low, 0.28)))
  }
  if (setting === 'space' && !reading.subjects.some(({ motif }) => motif.name === 'ringed-planet')) {
    const r = unit * 0.11
    const place = { x: width * (1 - side) - r, y: height * 0.24 - r, scale: r / 50 }
    shapes.push(group([iconPicture('ringed-planet', palette)], place))
  }
  if (!light.isNight)
    for (const at of [0.16, 0.52, 0.86])
      shapes.push(
        cloud(
          width * (at + random.between(-0.06, 0.06)),
          height * random.between(0.1, 0.34),
          unit * random.between(0.1, 0.17),
          mix(palette.paper, light.low, 0.3),
        ),
      )
  return shapes
}

const cloud = (x: number, y: number, size: number, fill: Color): Shape =>
  group([path('M-60 20 A20 20 0 0 1 -44 -12 A30 30 0 0 1 10 -24 A24 24 0 0 1 46 -2 A15 15 0 0 1 58 20 Z', fill)], {
    x,
    y,
    scale: size / 100,
    opacity: 0.85,
  })

function stars({ width, random }: Canvas, below: number): Shape[] {
  return Array.from({ length: 64 }, () =>
    circle(random.between(0, width), random.between(0, below), random.between(0.6, 2.1) * (width / 1000), '#ffffff', {
      opacity: random.between(0.35, 0.95),
    }),
  )
}

function rays({ width, height, random }: Canvas): Shape[] {
  return Array.from({ length: 5 }, (_, at) => {
    const x = (at / 5) * width + random.between(0, width * 0.1)
    return path(
      `M${x} 0 L${x + width * 0.09} 0 L${x - width * 0.1} ${height} L${x - width * 0.26} ${height} Z`,
      '#ffffff',
      { opacity: 0.06 },
    )
  })
}

export function weatherOf({ width, height, random, reading }: Canvas, light: Light): Shape[] {
  if (!reading.weather || reading.setting === 'deep') return []
  const unit = width / 1000
  const isRain = reading.weather === 'rain'
  const drops = Array.from({ length: isRain ? 60 : 70 }, () => {
    const [x, y] = [random.between(0, width), random.between(0, height)]
    return isRain
      ? line(
          `M${x.toFixed(1)} ${y.toFixed(1)} l${(-10 * unit).toFixed(1)} ${(34 * unit).toFixed(1)}`,
          mix(light.low, '#ffffff', 0.6),
          2.4 * unit,
          { opacity: 0.55 },
        )
      : circle(x, y, random.between(2, 6.5) * unit, '#ffffff', { opacity: 0.85 })
  })
  return [group(drops)]
}

/** Colours of sky and land, from the palette and the time of day. */
export type Light = { top: Color; low: Color; glow: Color; far: Color; near: Color; water: Color; isNight: boolean }

export function lightOf({ palette, reading }: Canvas): Light {
  const { main, second, accent, paper, ink } = palette
  const isNight = reading.time === 'night' || reading.setting === 'space' || isDark(paper)
  const cool = mix(second, '#7db8d8', 0.35)
  if (isNight) {
    const top = tone(mix(ink, '#14204a', 0.55), 0.2, 1.1)
    return {
      top,
      low: tone(mix(main, '#33407e', 0.6), 0.38, 0.9),
      glow: mix(accent, '#ffffff', 0.6),
      far: tone(mix(main, top, 0.55), 0.34),
      near: tone(mix(main, top, 0.6), 0.2),
      water: tone(mix(second, top, 0.6), 0.3),
      isNight,
    }
  }
  if (reading.time === 'dusk') {
    return {
      top: tone(mix(main, '#6a3d8f', 0.6), 0.46),
      low: tone(mix(accent, '#ffb26b', 0.6), 0.84),
      glow: '#ffe2a8',
      far: tone(mix(main, '#7a4b85', 0.5), 0.56, 0.8),
      near: tone(mix(main, '#3d2352', 0.6), 0.3),
      water: tone(mix(second, '#a4577a', 0.5), 0.5),
      isNight,
    }
  }
  return {
    top: tone(cool, 0.8, 0.9),
    low: mix(paper, tone(accent, 0.93, 0.5), 0.5),
    glow: mix(tone(accent, 0.88), '#ffd66b', 0.65),
    far: tone(mix(second, main, 0.35), 0.74, 0.75),
    near: tone(main, 0.5, 0.95),
    water: tone(mix(cool, main, 0.35), 0.62, 1.1),
    isNight,
  }
}
