import { compose } from '../scenes'
import { mix, readableOn } from '../scenes/color'
import { group, type Paint, rect, type Scene, type Shape } from '../scenes/model'
import { paletteFor } from '../scenes/palette'
import { randomOf } from '../scenes/random'
import { readPrompt } from '../scenes/read'
import { fitted, widthOf } from '../scenes/typeface'
import type { Motion } from './motion'

export type FilmOrder = {
  prompt: string
  style: string | null
  width: number
  height: number
  seconds: number
}

type Layer = { shapes: readonly Shape[]; motion: Motion }

/** One picture that moves. It is drawn larger than the frame by `margin` on each side, so that it may drift. */
export type Shot = { seconds: number; background: Paint; layers: Layer[]; margin: number; title: string }

const SHOT_S = 5
const MIN_SHOT_S = 1.5
const MAX_SHOTS = 14
const MAX_WORDS = 12

/** The shots of a clip, by rules: a title card where there is time for one, then pictures. */
export function storyboard(input: FilmOrder): Shot[] {
  const { prompt, style, seconds } = input
  const { layout, lettering } = readPrompt(prompt, [], style)
  const parts = partsOf(prompt)
  // A story is told by its captions.
  const hasCard = seconds >= (parts.length > 1 ? 8 : 4) && layout !== 'poster'
  const card = hasCard ? Math.min(2.4, seconds * 0.35) : 0
  const notice = Math.min(parts.length, Math.floor((seconds - card) / MIN_SHOT_S))
  const count = Math.max(1, notice, Math.min(Math.round((seconds - card) / SHOT_S), MAX_SHOTS))
  const length = (seconds - card) / count
  const pictures = Array.from({ length: count }, (_, at) => {
    const part = parts[at % parts.length]!
    const caption = parts.length > 1 ? part : null
    return pictureShot(input, { prompt: part, variant: Math.floor(at / parts.length), caption, seconds: length })
  })
  return hasCard ? [titleCard(input, lettering[0] ?? titleOf(prompt), card), ...pictures] : pictures
}

/** The scenes that a description tells one after another; one, where it tells no more. */
function partsOf(prompt: string): string[] {
  const parts = prompt
    .split(/(?<=[.!?;])\s+|\n+|,?(?<!\s)\s+(?:and )?then\s+/i)
    .map((part) => part.trim().replace(/(?<![.;,])[.;,]+$/, ''))
    .filter((part) => part.split(/\s+/).length >= 2)
  return parts.length > 1 && !readPrompt(prompt, [], null).chart ? parts.slice(0, MAX_SHOTS) : [prompt]
}

function titleOf(prompt: string): string {
  const { words } = readPrompt(
    prompt.replace(
      /\b(?:an?|the)?\s*(?:short |animated ){0,4}(?:video|clip|film|movie|animation) (?:of|about|showing)\s+/i,
      '',
    ),
    [],
    null,
  )
  const shortened = words.replace(/:.*$/s, '').split(/\s+/).slice(0, MAX_WORDS).join(' ')
  return shortened.charAt(0).toUpperCase() + shortened.slice(1)
}

type Picture = { prompt: string; variant: number; caption: string | null; seconds: number }

function pictureShot(input: FilmOrder, { prompt, variant, caption, seconds }: Picture): Shot {
  const { layout } = readPrompt(prompt, [], input.style)
  const isDrawing = layout === 'chart' || layout === 'diagram'
  const margin = layout === 'picture' ? Math.round(input.width * 0.03) : 0
  const [width, height] = [input.width + 2 * margin, input.height + 2 * margin]
  // What is to be read stays clear of the mark.
  const room = isDrawing ? Math.round(height * 0.92) : height
  const scene = compose({ prompt, changes: [], style: input.style, width, height: room, variant })
  const layers = scene.shapes.flatMap((shape, at) => moving(shape, at, scene))
  const text = caption ? captionLayer(caption, { width, height, margin, seconds }) : []
  return { seconds, background: scene.background, layers: [...layers, ...text], margin, title: scene.title }
}

/** How a part of a picture moves, by what it is. */
function moving(shape: Shape, at: number, { shapes, height, width }: Scene): Layer[] {
  const name = shape.type === 'group' ? shape.name : undefined
  const one = (motion: Motion): Layer[] => [{ shapes: [shape], motion }]
  const nth = shapes.slice(0, at).filter((other) => other.type === 'group' && other.name === name).length
  switch (name) {
    case 'sky':
      return one({ drifts: { dx: -width * 0.012 } })
    case 'ground':
      return one({ drifts: { dx: -width * 0.02 } })
    case 'subject':
      return one({
        enters: { at: 0.1 + 0.2 * nth, seconds: 0.9, from: { dx: nth % 2 ? width * 0.08 : -width * 0.08 } },
        sways: { dy: height * 0.006, seconds: 2.6 + 0.3 * nth },
      })
    case 'bar':
      return one({ enters: { at: 0.3 + 0.22 * nth, seconds: 0.8, reveals: 'foot' } })
    case 'values':
    case 'labels':
      return one({ enters: { at: name === 'labels' ? 0.2 : 1.3, seconds: 0.5, from: { dy: height * 0.012 } } })
    case 'grid':
      return one({})
    case 'line':
      return one({ enters: { at: 0.3, seconds: 1.6, reveals: 'left' } })
    case 'title':
    case 'subtitle':
      return kinetic(shape, height, name === 'title' ? 0.15 : 0.9)
    default:
      return at === 0 ? one({}) : one({ enters: { at: Math.min(0.05 * at, 1), seconds: 0.5 } })
  }
}

/** The lines of a group one after another. */
function kinetic(shape: Shape, height: number, from: number): Layer[] {
  if (shape.type !== 'group') return [{ shapes: [shape], motion: {} }]
  return shape.children.map((child, at) => ({
    shapes: [{ ...shape, children: [child] }],
    motion: { enters: { at: from + 0.18 * at, seconds: 0.6, from: { dy: height * 0.05 } } },
  }))
}

function captionLayer(
  caption: string,
  { width, height, margin, seconds }: { width: number; height: number; margin: number; seconds: number },
): Layer[] {
  const max = height * 0.045
  const text = fitted(caption, { width: width * 0.7, height: max * 2.4 }, { weight: 600, max, lines: 2 })
  const { size, leading, lines } = text
  const pad = size * 0.7
  const wide = Math.max(...lines.map((line) => widthOf(line, text)), 1) + 2 * pad
  const tall = lines.length * size * leading + 1.2 * pad
  const [x, y] = [margin + height * 0.06, height - margin - height * 0.06 - tall]
  const shapes = [
    rect(x, y, wide, tall, '#101418', { radius: size * 0.35, opacity: 0.72 }),
    ...lines.map(
      (line, at): Shape => ({
        type: 'text',
        text: line,
        x: x + pad,
        y: y + pad * 0.6 + size * (0.82 + at * leading),
        size,
        weight: 600,
        anchor: 'start',
        fill: '#ffffff',
      }),
    ),
  ]
  const motion = { enters: { at: Math.min(0.5, seconds / 4), seconds: 0.6, from: { dx: -width * 0.05 } } }
  return [{ shapes: [group('caption', shapes)], motion }]
}

/** The title word by word, on a ground of the palette. */
function titleCard({ prompt, style, width, height }: FilmOrder, title: string, seconds: number): Shot {
  const palette = paletteFor(readPrompt(prompt, [], style).colors, randomOf(`${prompt}\n0`))
  const ink = readableOn(palette.ink, palette.paper, palette.ink)
  const background = {
    angle: 60,
    stops: [
      { at: 0, color: palette.ink },
      { at: 1, color: mix(palette.ink, palette.main, 0.45) },
    ],
  }
  const unit = Math.min(width, height)
  const edge = unit * 0.1
  const text = fitted(
    title,
    { width: width - 2 * edge, height: height * 0.55 },
    { weight: 800, tracking: -0.025, max: unit * 0.15 },
  )
  const { size, leading, lines } = text
  const top = height / 2 - (lines.length * size * leading) / 2
  const bar = rect(edge, top - size * 0.45, unit * 0.14, unit * 0.016, palette.accent, { radius: unit * 0.008 })
  const disc: Shape = {
    type: 'circle',
    x: width * 0.88,
    y: height * 0.16,
    r: unit * 0.36,
    fill: palette.main,
    opacity: 0.5,
  }
  const space = widthOf('n n', text) - widthOf('nn', text)
  const words = lines.flatMap((line, row) => {
    let x = edge
    return line.split(' ').map((word): Shape => {
      const shape: Shape = {
        ...{ type: 'text', text: word, x, y: top + size * (0.8 + row * leading), size, weight: 800, tracking: -0.025 },
        ...{ anchor: 'start', fill: ink },
      }
      x += widthOf(word, text) + space
      return shape
    })
  })
  const pace = Math.min(0.12, (seconds * 0.45) / Math.max(words.length, 1))
  const margin = Math.round(unit * 0.05)
  const inFrame = (shape: Shape): Shape => group('card', [shape], { x: margin, y: margin })
  return {
    seconds,
    background,
    margin,
    title,
    layers: [
      { shapes: [inFrame(disc)], motion: { drifts: { dx: -unit * 0.05, dy: unit * 0.03 } } },
      { shapes: [inFrame(bar)], motion: { enters: { at: 0.05, seconds: 0.5, reveals: 'left' } } },
      ...words.map((word, at) => ({
        shapes: [inFrame(word)],
        motion: { enters: { at: 0.12 + pace * at, seconds: 0.5, from: { dy: size * 0.5 } } },
      })),
    ],
  }
}

/** The mark of every clip, at the bottom on the right (contract 6). */
export function provenanceMark(width: number, height: number): Shape {
  const size = Math.max(12, Math.min(width, height) * 0.024)
  const text = { text: 'AI-generated', size, weight: 600 as const, tracking: 0.01 }
  const wide = widthOf(text.text, text) + size * 1.4
  const [x, y] = [width - wide - size, height - size * 2.9]
  return group('mark', [
    rect(x, y, wide, size * 1.9, '#000000', { radius: size * 0.95, opacity: 0.5 }),
    { type: 'text', x: x + size * 0.7, y: y + size * 1.3, anchor: 'start', fill: '#ffffff', ...text },
  ])
}
