/** A part of a frame, drawn once: premultiplied RGBA, and where it stands. */
export type Sprite = {
  x: number
  y: number
  width: number
  height: number
  pixels: Uint32Array
  /** Of each row the longest run of pixels that nothing shines through: where it begins and ends. */
  solid: Uint32Array
}

/** How a sprite is shown in one frame. */
export type Placement = {
  dx: number
  dy: number
  /** 0 to 1. */
  opacity: number
  /** The share of it that shows, from its foot or from its left edge. */
  shown?: { share: number; from: 'foot' | 'left' }
}

export type Frame = { width: number; height: number; pixels: Uint32Array }

/** Cuts what is drawn of a frame out of it; null when nothing is. */
export function spriteOf(rgba: Uint8Array, width: number, height: number): Sprite | null {
  const all = new Uint32Array(rgba.buffer, rgba.byteOffset, width * height)
  let [left, top, right, bottom] = [width, height, -1, -1]
  for (let y = 0; y < height; y++) {
    const row = y * width
    for (let x = 0; x < width; x++) {
      if (all[row + x]! >>> 24 === 0) continue
      if (x < left) left = x
      if (x > right) right = x
      if (top > y) top = y
      bottom = y
    }
  }
  if (right < 0) return null
  const [w, h] = [right - left + 1, bottom - top + 1]
  const pixels = new Uint32Array(w * h)
  for (let y = 0; y < h; y++) {
    const from = (top + y) * width + left
    pixels.set(all.subarray(from, from + w), y * w)
  }
  return { x: left, y: top, width: w, height: h, pixels, solid: solidIn(pixels, w, h) }
}

function solidIn(pixels: Uint32Array, width: number, height: number): Uint32Array {
  const solid = new Uint32Array(height * 2)
  for (let y = 0; y < height; y++) {
    let begins = 0
    for (let x = 0; x <= width; x++) {
      if (x < width && pixels[y * width + x]! >>> 24 === 255) continue
      if (x - begins > solid[2 * y + 1]! - solid[2 * y]!) {
        solid[2 * y] = begins
        solid[2 * y + 1] = x
      }
      begins = x + 1
    }
  }
  return solid
}

/** Draws a sprite over a frame. */
export function draw({ width, height, pixels }: Frame, sprite: Sprite, { dx, dy, opacity, shown }: Placement): void {
  const through = Math.round(Math.min(1, Math.max(0, opacity)) * 256)
  if (through === 0) return
  const share = shown ? Math.min(1, Math.max(0, shown.share)) : 1
  const firstRow = shown?.from === 'foot' ? Math.round(sprite.height * (1 - share)) : 0
  const lastColumn = shown?.from === 'left' ? Math.round(sprite.width * share) : sprite.width
  const x0 = sprite.x + Math.round(dx)
  const y0 = sprite.y + Math.round(dy)
  const fromX = Math.max(0, -x0)
  const toX = Math.min(lastColumn, width - x0)
  const { solid } = sprite
  for (let y = Math.max(firstRow, -y0); y < Math.min(sprite.height, height - y0); y++) {
    const to = (y0 + y) * width + x0
    const from = y * sprite.width
    const begins = through === 256 ? Math.max(fromX, solid[2 * y]!) : toX
    const ends = through === 256 ? Math.min(toX, solid[2 * y + 1]!) : toX
    if (ends <= begins) {
      blend(pixels, to, sprite.pixels, from, fromX, toX, through)
      continue
    }
    blend(pixels, to, sprite.pixels, from, fromX, begins, through)
    pixels.set(sprite.pixels.subarray(from + begins, from + ends), to + begins)
    blend(pixels, to, sprite.pixels, from, ends, toX, through)
  }
}

/** The pixels of a row between two columns. */
function blend(
  pixels: Uint32Array,
  to: number,
  sources: Uint32Array,
  from: number,
  begins: number,
  ends: number,
  through: number,
): void {
  for (let x = begins; x < ends; x++) {
    const source = sources[from + x]!
    const alpha = source >>> 24
    if (alpha === 255 && through === 256) pixels[to + x] = source
    else if (alpha !== 0) pixels[to + x] = over(source, pixels[to + x]!, through)
  }
}

/** A premultiplied pixel, seen through by `through` of 256, over an opaque one; two channels at a time. */
function over(source: number, below: number, through: number): number {
  const rest = 256 - (((source >>> 24) * through + 128) >> 8)
  const evens = ((source & 0xff00ff) * through + (below & 0xff00ff) * rest) >>> 8
  const odds = ((source >>> 8) & 0xff) * through + ((below >>> 8) & 0xff) * rest
  return (0xff000000 | (evens & 0xff00ff) | (Math.min(odds >> 8, 255) << 8)) >>> 0
}

/** A frame between two: 0 is the first, 1 the second, which is changed in place. */
export function fade(before: Uint32Array, frame: Frame, share: number): void {
  const through = Math.round(share * 256)
  const { pixels } = frame
  for (let at = 0; at < pixels.length; at++) {
    const one = before[at]!
    const two = pixels[at]!
    const evens = ((two & 0xff00ff) * through + (one & 0xff00ff) * (256 - through)) >>> 8
    const odds = ((two >>> 8) & 0xff) * through + ((one >>> 8) & 0xff) * (256 - through)
    pixels[at] = (0xff000000 | (evens & 0xff00ff) | ((odds >> 8) << 8)) >>> 0
  }
}

/** The frame as planes of brightness and colour (BT.601, 4:2:0), which the encoder takes; `planes` is filled. */
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
