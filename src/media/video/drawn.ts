import { Resvg } from '@resvg/resvg-js'
import { toSvg } from '../scenes'
import type { Color, Paint, Shape } from '../scenes/model'
import { placed } from './motion'
import { draw, type Frame, fade, type Sprite, spriteOf } from './raster'
import { type FilmOrder, provenanceMark, type Shot, storyboard } from './storyboard'

const FADE_S = 0.4
const NOTHING: Color = '#00000000'

type Painted = { sprite: Sprite; motion: Shot['layers'][number]['motion'] }

/** The frames of a clip, in order; the same memory each time. */
export function* framesOf(input: FilmOrder, fps: number): Generator<Frame> {
  const { width, height, seconds } = input
  const frame: Frame = { width, height, pixels: new Uint32Array(width * height) }
  const mark = spriteIn([provenanceMark(width, height)], NOTHING, { width, height, margin: 0 })!
  const total = Math.round(seconds * fps)
  let last: Uint32Array | null = null
  let [made, ends] = [0, 0]
  for (const [nth, shot] of storyboard(input).entries()) {
    const begins = ends
    ends += shot.seconds
    const until = Math.min(total, Math.round(ends * fps))
    const view = { width, height, margin: shot.margin }
    const ground = groundOf(shot, view)
    const layers = shot.layers.flatMap(({ shapes, motion }): Painted[] => {
      const sprite = spriteIn(shapes, NOTHING, view)
      return sprite ? [{ sprite, motion }] : []
    })
    for (; made < until; made++) {
      const at = made / fps - begins
      frame.pixels.set(ground)
      for (const { sprite, motion } of layers) draw(frame, sprite, placed(motion, at, shot.seconds))
      if (nth > 0 && last && at < FADE_S) fade(last, frame, (at + 1 / fps) / FADE_S)
      draw(frame, mark, { dx: 0, dy: 0, opacity: 1 })
      yield frame
    }
    last = Uint32Array.from(frame.pixels)
  }
}

type View = { width: number; height: number; margin: number }

/** What is drawn on a transparent ground of the size of the shot, placed in the frame. */
function spriteIn(shapes: readonly Shape[], background: Paint, { width, height, margin }: View): Sprite | null {
  const [wide, tall] = [width + 2 * margin, height + 2 * margin]
  const svg = toSvg({ width: wide, height: tall, background, shapes, title: '' })
  const sprite = spriteOf(new Resvg(svg, { font: { loadSystemFonts: false } }).render().pixels, wide, tall)
  return sprite && { ...sprite, x: sprite.x - margin, y: sprite.y - margin }
}

function groundOf({ background }: Shot, view: View): Uint32Array {
  const frame: Frame = { ...view, pixels: new Uint32Array(view.width * view.height) }
  const sprite = spriteIn([], background, view)
  if (sprite) draw(frame, sprite, { dx: 0, dy: 0, opacity: 1 })
  return frame.pixels
}
