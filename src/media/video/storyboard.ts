import { compose } from '../scenes/compose'
import { circle, group, rect, type Scene, type Shape } from '../scenes/model'
import { mix, paletteFor, readableOn } from '../scenes/palette'
import { randomOf } from '../scenes/random'
import { readPrompt } from '../scenes/read'
import { fitted, lettered, widthOf } from '../scenes/typeface'

export type ClipInput = {
  prompt: string
  style: string | null
  width: number
  height: number
  seconds: number
}

/** A picture wider than the frame, which pans across it. `lettering` does not move. */
export type Shot = { seconds: number; picture: Scene; lettering: Shape[] }

/** How much wider than the frame a picture is. With text it is less, so that the text stays in the frame. */
const PAN = 0.06
const PAN_OVER_WORDS = 0.02
const SHOT_S = 5
const MIN_SHOT_S = 1.5
const MAX_SHOTS = 14
const MAX_WORDS = 12

/** The shots of a clip, by rules: a title card if there is time for one, then pictures. */
export function storyboard(input: ClipInput): Shot[] {
  const { prompt, style, seconds } = input
  const { layout, lettering } = readPrompt(prompt, [], style)
  const parts = partsOf(prompt)
  // A story has captions, so it needs a title card only if it is long.
  const hasCard = seconds >= (parts.length > 1 ? 8 : 4) && layout !== 'poster'
  const card = hasCard ? Math.min(2.4, seconds * 0.35) : 0
  const fitting = Math.min(parts.length, Math.floor((seconds - card) / MIN_SHOT_S))
  const count = Math.max(1, fitting, Math.min(Math.round((seconds - card) / SHOT_S), MAX_SHOTS))
  const length = (seconds - card) / count
  const pictures = Array.from({ length: count }, (_, at) => {
    const part = parts[at % parts.length]!
    const caption = parts.length > 1 ? part : null
    return pictureShot(input, { prompt: part, variant: Math.floor(at / parts.length), caption, seconds: length })
  })
  return hasCard ? [titleCard(input, lettering[0] ?? titleOf(prompt), card), ...pictures] : pictures
}

/** The scenes that a description tells one after another, or the whole description as one. */
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

function pictureShot({ style, height, ...input }: ClipInput, { prompt, variant, caption, seconds }: Picture): Shot {
  const { layout } = readPrompt(prompt, [], style)
  const width = Math.round(input.width * (1 + (layout === 'picture' ? PAN : PAN_OVER_WORDS)))
  // Text stays clear of the provenance mark.
  const room = layout === 'chart' || layout === 'diagram' ? Math.round(height * 0.92) : height
  const picture = compose({ prompt, changes: [], style, width, height: room, variant })
  return {
    seconds,
    picture: { ...picture, height },
    lettering: caption ? captioned(caption, input.width, height) : [],
  }
}

function captioned(caption: string, width: number, height: number): Shape[] {
  const max = height * 0.045
  const text = fitted(caption, { width: width * 0.7, height: max * 2.4 }, { weight: 600, max, lines: 2 })
  const { size, leading, lines } = text
  const pad = size * 0.7
  const wide = Math.max(...lines.map((line) => widthOf(line, text)), 1) + 2 * pad
  const tall = lines.length * size * leading + 1.2 * pad
  const [x, y] = [height * 0.06, height * 0.94 - tall]
  return [
    rect(x, y, wide, tall, '#101418', { radius: size * 0.35, opacity: 0.72 }),
    ...lettered(text, { x: x + pad, y: y + pad * 0.6 + size * 0.82, anchor: 'start', fill: '#ffffff' }),
  ]
}

/** The title on a background of the palette. */
function titleCard({ prompt, style, width, height }: ClipInput, title: string, seconds: number): Shot {
  const palette = paletteFor(readPrompt(prompt, [], style).colors, randomOf(`${prompt}\n0`))
  const ink = readableOn(palette.ink, palette.paper, palette.ink)
  const unit = Math.min(width, height)
  const edge = unit * 0.1
  const text = fitted(
    title,
    { width: width - 2 * edge, height: height * 0.55 },
    { weight: 800, tracking: -0.025, max: unit * 0.15 },
  )
  const { size, leading, lines } = text
  const top = height / 2 - (lines.length * size * leading) / 2
  return {
    seconds,
    picture: {
      width: Math.round(width * (1 + PAN)),
      height,
      title,
      background: {
        angle: 60,
        stops: [
          { at: 0, color: palette.ink },
          { at: 1, color: mix(palette.ink, palette.main, 0.45) },
        ],
      },
      shapes: [circle(width * 0.92, height * 0.16, unit * 0.36, palette.main, { opacity: 0.5 })],
    },
    lettering: [
      rect(edge, top - size * 0.45, unit * 0.14, unit * 0.016, palette.accent, { radius: unit * 0.008 }),
      ...lettered(text, { x: edge, y: top + size * 0.8, anchor: 'start', fill: ink }),
    ],
  }
}

/** The provenance mark of every clip, at the bottom right (docs/api.md 6). */
export function provenanceMark(width: number, height: number): Shape {
  const size = Math.max(12, Math.min(width, height) * 0.024)
  const text = { text: 'AI-generated', size, weight: 600 as const, tracking: 0.01 }
  const wide = widthOf(text.text, text) + size * 1.4
  const [x, y] = [width - wide - size, height - size * 2.9]
  return group([
    rect(x, y, wide, size * 1.9, '#000000', { radius: size * 0.95, opacity: 0.5 }),
    { type: 'text', x: x + size * 0.7, y: y + size * 1.3, anchor: 'start', fill: '#ffffff', ...text },
  ])
}
