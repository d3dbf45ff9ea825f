import { abstract } from './layouts/abstract'
import { type Canvas, drawMotif, paletteOf } from './layouts/canvas'
import { chart } from './layouts/chart'
import { groundOf } from './layouts/ground'
import { poster } from './layouts/poster'
import { icon, logo, pattern } from './layouts/signs'
import { deepWater, type Light, lightOf, skyOf, weatherOf } from './layouts/sky'
import {
  type Color,
  circle,
  ellipse,
  type Gradient,
  group,
  type Look,
  line,
  type Paint,
  path,
  rect,
  type Scene,
  type Shape,
} from './model'
import { repainted } from './motifs/icon-picture'
import { contrast, isDark, mix, moods, type Palette, paletteFor, readableOn, shade, tone } from './palette'
import { randomOf } from './random'
import { readPrompt, type Setting } from './read'
import { fitted, lettered, widthOf } from './typeface'

const HORIZON: Partial<Record<Setting, number>> = {
  sea: 0.6,
  beach: 0.56,
  mountains: 0.74,
  city: 0.84,
  space: 0.9,
  desert: 0.66,
  forest: 0.8,
}

/** Dims the colours at night. Light sources keep theirs. */
const inLight = (palette: Palette, light: Light): Palette =>
  light.isNight
    ? { ...palette, isNight: true, paper: mix(palette.paper, '#b9c4e6', 0.35), main: shade(palette.main, 0.04) }
    : palette

const flat = (paint: Paint): Color => (typeof paint === 'string' ? paint : paint.stops[0]!.color)

export type SceneInput = {
  prompt: string
  changes: readonly string[]
  style: string | null
  /** In pixels. */
  width: number
  height: number
  /** Number of the picture, so that several pictures of one prompt differ. */
  variant: number
}

/** Draws a picture from a description by rules. The same input always gives the same picture. */
export function compose({ prompt, changes, style, width, height, variant }: SceneInput): Scene {
  const reading = readPrompt(prompt, changes, style)
  // The seed ignores the changes, so that a change does not rearrange the rest of the picture.
  const random = randomOf(`${prompt}\n${variant}`)
  const base = paletteFor(reading.colors, random)
  const palette = { ...(reading.mood ? moods[reading.mood](base) : base), mood: reading.mood }
  const canvas: Canvas = { width, height, palette, random, reading }
  const { background, shapes } = laidOut(canvas)
  const { layout, words, unknown } = reading
  // An abstract picture names the requested subject, unless the prompt asks for abstract art.
  const isNamed = layout === 'abstract' && !FORMS.test(words)
  const named = isNamed ? [...shapes, nameplate(canvas, unknown.length === 1 ? unknown[0]! : words)] : shapes
  const scene: Scene = { width, height, title: words, background, shapes: named }
  const glows = reading.mood === 'neon'
  return reading.isOutlined || glows || reading.mood === 'blueprint' ? outlined(scene, palette, glows) : scene
}

const FORMS = /\b(?:abstract|geometr\p{L}*|shapes|forms|mosaic|tiles|background|composition|art)\b/iu

function laidOut(canvas: Canvas): Pick<Scene, 'background' | 'shapes'> {
  const { layout, chart: data, setting } = canvas.reading
  switch (layout) {
    case 'chart':
      return chart(canvas, data!)
    case 'diagram':
      return diagram(canvas)
    case 'poster':
      return poster(canvas)
    case 'logo':
      return logo(canvas)
    case 'icon':
      return icon(canvas)
    case 'pattern':
      return pattern(canvas)
    case 'abstract':
      return abstract(canvas)
    default:
      return setting ? landscape(canvas) : studio(canvas)
  }
}

/** The name of an unknown subject, in the middle of the abstract picture that represents it. */
function nameplate({ width, height, palette }: Canvas, name: string): Shape {
  const unit = Math.min(width, height)
  const text = fitted(
    name.charAt(0).toUpperCase() + name.slice(1),
    { width: width * 0.72, height: height * 0.3 },
    { weight: 800, tracking: -0.02, max: unit * 0.085, lines: 3 },
  )
  const { size, leading, lines } = text
  const wide = Math.max(...lines.map((line) => widthOf(line, text)), 1) + size * 1.6
  const tall = lines.length * size * leading + size * 1.1
  const [x, y] = [(width - wide) / 2, (height - tall) / 2]
  return group([
    group([rect(x, y, wide, tall, palette.paper, { radius: size * 0.3 })]),
    ...lettered(text, {
      x: width / 2,
      y: y + size * 1.28,
      fill: readableOn(palette.paper, palette.ink, palette.main),
    }),
  ])
}

/** Redraws a scene as outlines: fills every shape with the background colour and strokes its edge. */
function outlined(scene: Scene, palette: Palette, glows: boolean): Scene {
  const ground = palette.paper
  const draw = (look: Look, isText: boolean, scale: number): Look => {
    const own = flat(look.fill ?? look.stroke ?? palette.ink)
    const bright = glows ? tone(own, Math.max(0.68, isDark(ground) ? 0.72 : 0.5), 1.4) : palette.ink
    if (isText || !look.fill) return { ...look, ...(look.fill ? { fill: bright } : { stroke: bright }) }
    const isFaint = (look.opacity ?? 1) < 0.3
    if (isFaint) return { ...look, opacity: 0 }
    const filled = glows ? mix(ground, own, 0.22) : contrast(own, ground) > 7 ? mix(ground, palette.ink, 0.16) : ground
    return {
      ...look,
      fill: filled,
      stroke: bright,
      strokeWidth: ((scene.width / 1000) * (glows ? 4 : 2.6)) / scale,
      opacity: 1,
    }
  }
  const visit = (shape: Shape, scale: number): Shape => {
    if (shape.type === 'icon')
      return {
        ...shape,
        body: repainted(shape.body, (fill) => {
          const look = draw({ fill }, false, scale)
          return `${flat(look.fill!)}" stroke="${look.stroke}" stroke-width="${look.strokeWidth}`
        }),
      }
    if (shape.type === 'group')
      return { ...shape, children: shape.children.map((child) => visit(child, scale * (shape.scale ?? 1))) }
    return { ...shape, ...draw(shape, shape.type === 'text', scale) } as Shape
  }
  return {
    ...scene,
    background: glows ? shade(ground, -0.02) : ground,
    shapes: scene.shapes.map((shape) => visit(shape, 1)),
  }
}

/** A diagram of steps in boxes with arrows between them. */
function diagram(canvas: Canvas): { background: Paint; shapes: Shape[] } {
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
      { weight: 600, max: unit * 0.05, leading: 1.15, lines: 4 },
    )
    const middle = y + h / 2 - ((text.lines.length - 1) / 2) * text.size * 1.15 + text.size * 0.36
    shapes.push(
      group([
        rect(x, y + unit * 0.008, w, h, shade(fill, isDark(fill) ? -0.1 : -0.14), { radius: unit * 0.03 }),
        rect(x, y, w, h, fill, { radius: unit * 0.03 }),
        ...lettered(text, { x: x + w / 2, y: middle, fill: ink }),
      ]),
    )
    if (at === count - 1) continue
    const [ax, ay] = isWide ? [x + w + step * gap * 0.14, height / 2] : [width / 2, y + h + step * gap * 0.14]
    const length = step * gap * 0.62
    const arrow = palette.accent
    shapes.push(
      group(
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

/** Subjects without a setting: on a plain background, in front of one large shape. */
function studio(canvas: Canvas): { background: Paint; shapes: Shape[] } {
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
  const shapes: Shape[] = [group(reading.isMinimal ? [] : backdrop(canvas, form, unit))]
  const singles = reading.subjects
    .flatMap((subject) => Array.from({ length: subject.count }, (_, copy) => ({ subject, copy })))
    .slice(0, 7)
  const many = singles.length
  const step = Math.min(0.34, 0.78 / Math.max(1, many)) * width
  for (const [at, { subject, copy }] of singles.entries()) {
    const size =
      many === 1
        ? unit * Math.max(0.5, subject.motif.size) * 1.12
        : Math.min(unit * subject.motif.size, step * (subject.motif.draw ? 1.18 : 0.95)) * (1 + (at % 2) * 0.06)
    const x = width / 2 + (at - (many - 1) / 2) * step
    const flies = subject.motif.place === 'sky' || subject.motif.place === 'space'
    const y = flies ? height / 2 + size / 2 : floor + (at % 2 ? unit * 0.02 : 0)
    const own = paletteOf(subject, palette)
    // A second colour that equals the background form would make the subject invisible.
    const visible = own.second === form ? { ...own, second: shade(own.second, -0.16) } : own
    shapes.push(
      ellipse(x, flies ? floor + unit * 0.04 : y, size * (flies ? 0.26 : 0.46), size * 0.045, '#000000', {
        opacity: flies ? 0.08 : 0.14,
      }),
    )
    shapes.push(
      drawMotif(subject.motif, visible, {
        x,
        y,
        height: size,
        flip: copy % 2 === 1 && random.next() < 0.9,
      }),
    )
  }
  return { background, shapes }
}

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

/** A setting with its subjects: sky, and layers of land that darken towards the viewer. */
function landscape(canvas: Canvas): { background: Gradient; shapes: Shape[] } {
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
      group(skyOf(canvas, light, setting, horizon)),
      group(groundOf(canvas, light, setting, horizon)),
      ...placed(canvas, light, setting, horizon),
      ...weatherOf(canvas, light),
    ],
  }
}

/** Places the subjects: flying ones in the air, swimming ones on the water, the others on the ground. */
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
      drawMotif(subject.motif, inLight(paletteOf(subject, palette), light), {
        x,
        y: Math.min(y, height * 0.95),
        height: size,
        flip: copy % 2 === 1,
      }),
    )
  }
  const onLand = setting === 'beach' ? height * 0.93 : horizon + (height - horizon) * 0.62
  for (const [at, { subject, copy }] of rest.entries()) {
    const swims = subject.motif.place === 'water' && (setting === 'sea' || setting === 'beach')
    const size =
      Math.min(unit * subject.motif.size * (rest.length === 1 ? 1.04 : shrink), width * (rest.length === 1 ? 1 : 0.3)) *
      (copy ? random.between(0.74, 0.92) : 1)
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
      drawMotif(subject.motif, dressed, { x, y: y + (swims ? size * 0.03 : 0), height: size, flip: copy % 2 === 1 }),
    )
  }
  return shapes
}
