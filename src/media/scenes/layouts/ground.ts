import { type Color, circle, ellipse, type Gradient, group, line, path, rect, type Shape } from '../model'
import { mix, shade, tone } from '../palette'
import type { Random } from '../random'
import type { Setting } from '../read'
import type { Canvas } from './canvas'
import type { Light } from './sky'

/** A line of hills from the left edge to the right, closed at the bottom. */
function hills({ width, height }: Canvas, y: number, swing: number, random: Random, fill: Color): Shape {
  const bumps = 4
  let d = `M0 ${y}`
  for (let at = 0; at < bumps; at += 1) {
    const [from, to] = [(at / bumps) * width, ((at + 1) / bumps) * width]
    const lift = random.between(-swing, swing)
    d += ` C${from + width * 0.09} ${y - lift} ${to - width * 0.09} ${y - lift} ${to} ${y + random.between(-swing, swing) * 0.3}`
  }
  return path(`${d} L${width} ${height} L0 ${height} Z`, fill)
}

function peaks(
  { width, height }: Canvas,
  y: number,
  rise: number,
  random: Random,
  fill: Color,
  snow: Color | null,
): Shape[] {
  const count = Math.max(3, Math.round(width / (rise * 1.5)))
  const shapes: Shape[] = []
  for (let at = -1; at <= count; at += 1) {
    const x = ((at + 0.5) / count) * width + random.between(-0.08, 0.08) * width
    const [top, half] = [y - rise * random.between(0.6, 1), rise * random.between(0.8, 1.05)]
    shapes.push(path(`M${x - half} ${y + 2} L${x} ${top} L${x + half} ${y + 2} Z`, fill))
    shapes.push(
      path(
        `M${x} ${top} L${x + half} ${y + 2} H${x + half * 0.18} L${x - half * 0.06} ${top + (y - top) * 0.5} Z`,
        shade(fill, -0.05),
      ),
    )
    const cap = (share: number, side: number) => `${x + half * share * side} ${top + (y - top) * share}`
    if (snow)
      shapes.push(
        path(
          `M${x} ${top} L${cap(0.26, 1)} L${x + half * 0.1} ${top + (y - top) * 0.2} L${x} ${top + (y - top) * 0.3} L${x - half * 0.1} ${top + (y - top) * 0.21} L${cap(0.25, -1)} Z`,
          snow,
        ),
      )
  }
  return [group([...shapes, rect(0, y, width, height - y, fill)])]
}

export function groundOf(canvas: Canvas, light: Light, setting: Setting, y: number): Shape[] {
  const { width, height, random, palette } = canvas
  const between = (share: number) => mix(light.far, light.near, share)
  const snow = light.isNight ? tone(palette.paper, 0.78, 1) : palette.paper
  // Without subjects, the scenery is larger.
  const tall = canvas.reading.subjects.length ? 1 : 1.7
  switch (setting) {
    case 'sea':
      return [...islands(canvas, light, y), ...water(canvas, light, y)]
    case 'beach':
      return [...islands(canvas, light, y), ...water(canvas, light, y), ...sand(canvas, light)]
    case 'mountains':
      return [
        ...peaks(canvas, y - height * 0.02, height * 0.4, random, between(0.15), snow),
        ...peaks(canvas, y + height * 0.05, height * 0.22, random, between(0.45), null),
        hills(canvas, y + height * 0.05, height * 0.05, random, between(0.75)),
        hills(canvas, y + height * 0.14, height * 0.05, random, light.near),
      ]
    case 'desert': {
      const dune = tone(mix(palette.accent, '#e0b070', 0.5), light.isNight ? 0.4 : 0.8)
      return [
        hills(canvas, y - height * 0.03, height * 0.06, random, shade(dune, -0.08)),
        hills(canvas, y + height * 0.06, height * 0.08, random, dune),
        hills(canvas, y + height * 0.18, height * 0.06, random, shade(dune, -0.05)),
      ]
    }
    case 'forest':
      return [
        ...trees(canvas, y - height * 0.1, 0.34, between(0.2), 15),
        ...trees(canvas, y - height * 0.03, 0.4, between(0.5), 11),
        hills(canvas, y, height * 0.03, random, between(0.8)),
        hills(canvas, y + height * 0.1, height * 0.03, random, light.near),
      ]
    case 'city':
      return [
        skyline(canvas, y, 0.34 * tall, between(0.05), null),
        skyline(canvas, y, 0.25 * tall, between(0.45), mix(light.glow, palette.paper, 0.2)),
        rect(0, y, width, height - y, light.near),
        rect(0, y, width, height * 0.012, shade(light.near, 0.12)),
      ]
    case 'space':
      return [
        ellipse(
          width / 2,
          height * 1.36,
          width * 0.86,
          height * 0.5,
          tone(mix(palette.main, palette.second, 0.5), 0.5),
        ),
        ellipse(width * 0.3, height * 0.95, width * 0.07, height * 0.018, tone(palette.main, 0.42)),
        ellipse(width * 0.66, height * 0.93, width * 0.045, height * 0.012, tone(palette.main, 0.42)),
      ]
    case 'snow':
      return [
        ...peaks(canvas, y, height * 0.24, random, between(0.1), snow),
        ...trees(canvas, y + height * 0.02, 0.16, between(0.7), 9),
        hills(canvas, y, height * 0.05, random, shade(snow, -0.06)),
        hills(canvas, y + height * 0.12, height * 0.05, random, snow),
      ]
    case 'deep':
      return [
        hills(canvas, height * 0.86, height * 0.05, random, tone(palette.main, 0.26, 0.6)),
        ...weeds(canvas),
        hills(canvas, height * 0.94, height * 0.03, random, tone(palette.ink, 0.2, 0.8)),
        ...Array.from({ length: 14 }, () =>
          circle(
            random.between(0, width),
            random.between(0, height * 0.8),
            random.between(3, 11) * (width / 1000),
            '#ffffff',
            { opacity: 0.22 },
          ),
        ),
      ]
    default:
      return [
        hills(canvas, y - height * 0.06, height * 0.07, random, between(0.12)),
        hills(canvas, y + height * 0.01, height * 0.06, random, between(0.4)),
        ...trees(canvas, y + height * 0.03, 0.1, between(0.62), 6),
        hills(canvas, y + height * 0.07, height * 0.05, random, between(0.7)),
        hills(canvas, y + height * 0.19, height * 0.04, random, light.near),
      ]
  }
}

function islands(canvas: Canvas, light: Light, y: number): Shape[] {
  const { width, height, random } = canvas
  const x = random.next() < 0.5 ? 0.12 : 0.88
  return [
    ellipse(width * x, y + height * 0.03, width * 0.3, height * 0.11, mix(light.far, light.near, 0.1)),
    ellipse(width * (x < 0.5 ? 0.42 : 0.6), y + height * 0.03, width * 0.2, height * 0.06, light.far),
  ]
}

function water(canvas: Canvas, light: Light, y: number): Shape[] {
  const { width, height, random } = canvas
  const fill: Gradient = {
    angle: 90,
    stops: [
      { at: 0, color: mix(light.water, light.low, 0.45) },
      { at: 1, color: shade(light.water, -0.12) },
    ],
  }
  const glints = Array.from({ length: 26 }, () => {
    const depth = random.next()
    const [x, at] = [random.between(0, width), y + height * (0.02 + depth * 0.36)]
    const length = width * (0.02 + depth * 0.07)
    return line(
      `M${x.toFixed(1)} ${at.toFixed(1)} h${length.toFixed(1)}`,
      mix(light.glow, '#ffffff', 0.3),
      (1.6 + depth * 3) * (width / 1000),
      { opacity: 0.4 },
    )
  })
  return [rect(0, y, width, height - y, fill), ...glints]
}

function sand(canvas: Canvas, light: Light): Shape[] {
  const { width, height } = canvas
  const fill = tone(mix(canvas.palette.paper, '#e9c88f', 0.75), light.isNight ? 0.42 : 0.87)
  const shore = (lift: number) =>
    `M0 ${height * (0.84 - lift)} C${width * 0.3} ${height * (0.76 - lift)} ${width * 0.6} ${height * (0.9 - lift)} ${width} ${height * (0.8 - lift)} V${height} H0 Z`
  return [
    path(shore(0.018), '#ffffff', { opacity: 0.65 }),
    path(shore(0), fill),
    path(shore(-0.07), shade(fill, -0.04)),
  ]
}

const PINE = 'M0 -100 L22 -62 H12 L32 -30 H18 L40 2 H-40 L-18 -30 H-32 L-12 -62 H-22 Z'

function trees(canvas: Canvas, y: number, size: number, fill: Color, count: number): Shape[] {
  const { width, height, random } = canvas
  return Array.from({ length: count }, (_, at) => {
    const x = ((at + random.between(0.1, 0.9)) / count) * width
    const scale = (height * size * random.between(0.7, 1.1)) / 100
    return group([path(PINE, fill)], { x, y: y + height * 0.08, scale })
  })
}

function skyline({ width, height, random }: Canvas, y: number, rise: number, fill: Color, lit: Color | null): Shape {
  const shapes: Shape[] = []
  for (let x = -width * 0.02; x < width; ) {
    const [w, h] = [width * random.between(0.05, 0.1), height * rise * random.between(0.45, 1)]
    shapes.push(rect(x, y - h, w - width * 0.006, h, fill))
    for (let wy = y - h + height * 0.02; lit && wy < y - height * 0.03; wy += height * 0.026)
      for (let wx = x + width * 0.01; wx < x + w - width * 0.018; wx += width * 0.016)
        if (random.next() < 0.5) shapes.push(rect(wx, wy, width * 0.008, height * 0.012, lit, { opacity: 0.85 }))
    x += w
  }
  return group(shapes)
}

function weeds({ width, height, random, palette }: Canvas): Shape[] {
  return Array.from({ length: 7 }, (_, at) => {
    const [x, h] = [((at + random.next()) / 7) * width, height * random.between(0.12, 0.3)]
    return line(
      `M${x} ${height} C${x - 30} ${height - h * 0.4} ${x + 30} ${height - h * 0.7} ${x} ${height - h}`,
      tone(mix(palette.second, '#2f9e7a', 0.5), 0.45),
      width * 0.014,
    )
  })
}
