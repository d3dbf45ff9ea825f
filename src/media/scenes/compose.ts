import { abstract } from './layouts/abstract'
import type { Canvas } from './layouts/canvas'
import { chart } from './layouts/chart'
import { diagram } from './layouts/diagram'
import { landscape } from './layouts/landscape'
import { nameplate } from './layouts/nameplate'
import { poster } from './layouts/poster'
import { icon, logo, pattern } from './layouts/signs'
import { studio } from './layouts/studio'
import { outlined } from './looks'
import type { Scene } from './model'
import { moods, paletteFor } from './palette'
import { randomOf } from './random'
import { type Reading, readPrompt } from './read'

export type SceneOrder = {
  prompt: string
  changes: readonly string[]
  style: string | null
  /** Pixels. */
  width: number
  height: number
  /** Counts the pictures of one prompt, which differ. */
  variant: number
}

/** A picture from a description, by rules: the same description always gives the same one. It knows a few dozen things. */
export function compose({ prompt, changes, style, width, height, variant }: SceneOrder): Scene {
  const reading = readPrompt(prompt, changes, style)
  // What changed a picture must not shuffle the rest of it.
  const random = randomOf(`${prompt}\n${variant}`)
  const base = paletteFor(reading.colors, random)
  const palette = reading.mood ? moods[reading.mood](base) : base
  const canvas: Canvas = { width, height, palette, random, reading }
  const { background, shapes } = laidOut(canvas)
  const name = nameOf(reading)
  const named = name ? [...shapes, nameplate(canvas, name)] : shapes
  const scene: Scene = { width, height, title: reading.words, background, shapes: named }
  const glows = reading.mood === 'neon'
  return reading.isOutlined || glows || reading.mood === 'blueprint' ? outlined(scene, palette, glows) : scene
}

/** What stands on a field of forms: what was asked for, unless that was forms. */
function nameOf({ layout, words, unknown }: Reading): string | null {
  if (layout !== 'abstract' || FORMS.test(words)) return null
  const name = unknown.length === 1 ? unknown[0]! : words
  return name.charAt(0).toUpperCase() + name.slice(1)
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
