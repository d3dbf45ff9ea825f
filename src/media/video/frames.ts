import { Resvg } from '@resvg/resvg-js'
import { group, rect, type Scene } from '../scenes/model'
import { toSvg } from '../scenes/svg'
import { type ClipInput, provenanceMark, type Shot, storyboard } from './storyboard'

/** Opaque RGBA. */
export type Frame = { width: number; height: number; pixels: Uint32Array }

/** Time of the still, as a share of the clip. */
const STILL_AT = 0.85

/** The frames of a clip in order: panned pictures with cuts between them. Yields the same buffer each time. */
export function* framesOf(input: ClipInput, fps: number): Generator<Frame> {
  const { width, height, seconds } = input
  const frame: Frame = { width, height, pixels: new Uint32Array(width * height) }
  const total = Math.round(seconds * fps)
  let [made, ends] = [0, 0]
  for (const [nth, shot] of storyboard(input).entries()) {
    const begins = made
    ends += shot.seconds
    const until = Math.min(total, Math.round(ends * fps))
    const picture = pixelsOf(shot.picture)
    const overlay = pixelsOf({
      ...{ width, height, background: '#00000000', title: '' },
      shapes: [...shot.lettering, provenanceMark(width, height)],
    })
    const lettered = overlay
      .keys()
      .filter((at) => overlay[at]! >>> 24 > 0)
      .toArray()
    for (; made < until; made++) {
      const left = panned(shot, width, nth, (made - begins) / (until - begins))
      for (let y = 0; y < height; y++) {
        const from = y * shot.picture.width + left
        frame.pixels.set(picture.subarray(from, from + width), y * width)
      }
      for (const at of lettered) frame.pixels[at] = over(overlay[at]!, frame.pixels[at]!)
      yield frame
    }
  }
}

/** A late frame of the clip as PNG. */
export function stillOf(input: ClipInput): Uint8Array {
  const { width, height, seconds } = input
  let begins = 0
  for (const [nth, shot] of storyboard(input).entries()) {
    const share = (seconds * STILL_AT - begins) / shot.seconds
    begins += shot.seconds
    if (share > 1) continue
    const { picture } = shot
    const ground = rect(0, 0, picture.width, picture.height, picture.background)
    const shapes = [
      group([ground, ...picture.shapes], { x: -panned(shot, width, nth, share) }),
      ...shot.lettering,
      provenanceMark(width, height),
    ]
    return rendered({ width, height, background: '#000000', shapes, title: '' }).asPng()
  }
  throw new Error('a clip without an end')
}

/** Pixels of the picture to the left of the frame. Consecutive shots pan in opposite directions. */
const panned = ({ picture }: Shot, width: number, nth: number, share: number): number =>
  Math.round((picture.width - width) * (nth % 2 ? 1 - share : share))

/** Renders a scene to pixels. */
export const rendered = (scene: Scene) => new Resvg(toSvg(scene), { font: { loadSystemFonts: false } }).render()

function pixelsOf(scene: Scene): Uint32Array {
  const { buffer, byteOffset, byteLength } = rendered(scene).pixels
  return new Uint32Array(buffer, byteOffset, byteLength / 4)
}

/** Blends a premultiplied pixel over an opaque one. */
function over(source: number, below: number): number {
  const rest = 255 - (source >>> 24)
  const channel = (shift: number) =>
    (((source >>> shift) & 0xff) + Math.round((((below >>> shift) & 0xff) * rest) / 255)) << shift
  return (0xff000000 | channel(16) | channel(8) | channel(0)) >>> 0
}

/** Converts a frame to the YUV planes that the encoder expects (BT.601, 4:2:0), and writes them to `planes`. */
export function toYuv({ width, height, pixels }: Frame, planes: Uint8Array): void {
  let luma = 0
  let blue = width * height
  let red = (blue * 5) / 4
  for (let y = 0; y < height; y++) {
    const isEven = (y & 1) === 0
    const row = y * width
    for (let x = 0; x < width; x++) {
      const pixel = pixels[row + x]!
      const r = pixel & 0xff
      const g = (pixel >>> 8) & 0xff
      const b = (pixel >>> 16) & 0xff
      planes[luma++] = (66 * r + 129 * g + 25 * b + 4_224) >> 8
      if (isEven && (x & 1) === 0) {
        planes[blue++] = (-38 * r - 74 * g + 112 * b + 32_896) >> 8
        planes[red++] = (112 * r - 94 * g - 18 * b + 32_896) >> 8
      }
    }
  }
}
