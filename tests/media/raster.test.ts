import { describe, expect, test } from 'bun:test'
import { placed } from '../../src/media/video/motion'
import { draw, type Frame, fade, spriteOf, toYuv } from '../../src/media/video/raster'

const RED = 0xff0000ff
const WHITE = 0xffffffff
/** White at half its strength, premultiplied. */
const HALF = 0x80808080
const PLAIN = { dx: 0, dy: 0, opacity: 1 }

const frameOf = (width: number, height: number, color: number): Frame => ({
  width,
  height,
  pixels: new Uint32Array(width * height).fill(color),
})
/** A sprite of 2 × 2 at (1, 1) of a picture of 4 × 4. */
const square = (color: number) => {
  const pixels = new Uint32Array(16)
  for (const at of [5, 6, 9, 10]) pixels[at] = color
  return spriteOf(new Uint8Array(pixels.buffer), 4, 4)!
}
const lit = ({ pixels }: Frame, color: number) => [...pixels.keys()].filter((at) => pixels[at] === color >>> 0)

describe('sprites', () => {
  test('are cut out of what is drawn; nothing drawn is none', () => {
    expect(square(RED)).toMatchObject({ x: 1, y: 1, width: 2, height: 2 })
    expect(spriteOf(new Uint8Array(64), 4, 4)).toBeNull()
  })

  test('stand where they are placed, and end at the edges', () => {
    const frame = frameOf(4, 4, WHITE)
    draw(frame, square(RED), PLAIN)
    expect(lit(frame, RED)).toEqual([5, 6, 9, 10])
    const corner = frameOf(4, 4, WHITE)
    draw(corner, square(RED), { ...PLAIN, dx: 2, dy: -2 })
    expect(lit(corner, RED)).toEqual([3])
    const outside = frameOf(4, 4, WHITE)
    draw(outside, square(RED), { ...PLAIN, dx: 9 })
    expect(lit(outside, RED)).toEqual([])
  })

  test('show a share of themselves from their foot or from the left', () => {
    const foot = frameOf(4, 4, WHITE)
    draw(foot, square(RED), { ...PLAIN, shown: { share: 0.5, from: 'foot' } })
    expect(lit(foot, RED)).toEqual([9, 10])
    const left = frameOf(4, 4, WHITE)
    draw(left, square(RED), { ...PLAIN, shown: { share: 0.5, from: 'left' } })
    expect(lit(left, RED)).toEqual([5, 9])
  })

  test('that are half there let half of what is below through', () => {
    const frame = frameOf(4, 4, 0xff000000)
    draw(frame, square(HALF), PLAIN)
    expect(frame.pixels[5]! & 0xff).toBeCloseTo(0x80, -1)
    const faded = frameOf(4, 4, 0xff000000)
    draw(faded, square(WHITE), { ...PLAIN, opacity: 0.5 })
    expect(faded.pixels[5]! & 0xff).toBeCloseTo(0x80, -1)
    const white = frameOf(4, 4, WHITE)
    draw(white, square(HALF), PLAIN)
    draw(white, square(WHITE), { ...PLAIN, opacity: 0.5 })
    expect(white.pixels[5]! & 0xff).toBeGreaterThan(0xfc)
  })
})

test('a fade goes from one frame to the other', () => {
  const frame = frameOf(1, 1, WHITE)
  fade(new Uint32Array([0xff000000]), frame, 0.25)
  expect({ red: frame.pixels[0]! & 0xff, alpha: frame.pixels[0]! >>> 24 }).toEqual({ red: 63, alpha: 255 })
})

test('colours become brightness and colour of BT.601', () => {
  const planes = new Uint8Array(6)
  toYuv(frameOf(2, 2, RED), planes)
  expect([...planes]).toEqual([82, 82, 82, 82, 90, 240])
})

describe('motion', () => {
  test('comes in from where it enters, and then stays', () => {
    const motion = { enters: { at: 1, seconds: 1, from: { dx: -100 } } }
    expect(placed(motion, 0, 5)).toEqual({ dx: -100, dy: 0, opacity: 0 })
    expect(placed(motion, 2, 5)).toEqual({ dx: 0, dy: 0, opacity: 1 })
    const half = placed(motion, 1.5, 5)
    expect(half.opacity).toBeGreaterThan(0.5)
  })

  test('drifts evenly about its place, and builds up from its foot', () => {
    expect(placed({ drifts: { dx: 10 } }, 0, 4).dx).toBe(-5)
    expect(placed({ drifts: { dx: 10 } }, 4, 4).dx).toBe(5)
    const built = placed({ enters: { at: 0, seconds: 1, reveals: 'foot' } }, 2, 4)
    expect(built).toEqual({ dx: 0, dy: 0, opacity: 1, shown: { share: 1, from: 'foot' } })
  })
})
