import { type Color, circle, group, type Paint, path, rect, type Shape } from '../model'
import { mix, readableOn } from '../palette'
import type { Canvas } from './canvas'

/** A tile with one geometric shape, 100 units wide and high. */
function tile(kind: number, [one, two]: [Color, Color]): Shape[] {
  switch (kind) {
    case 0:
      return [path('M0 0 A100 100 0 0 1 100 100 L0 100 Z', one)]
    case 1:
      return [path('M100 0 A100 100 0 0 0 0 100 L100 100 Z', one), path('M100 50 A50 50 0 0 0 50 100 L100 100 Z', two)]
    case 2:
      return [circle(50, 50, 50, one), circle(50, 50, 24, two)]
    case 3:
      return [path('M0 0 L100 0 L0 100 Z', one)]
    case 4:
      return [path('M0 50 A50 50 0 0 1 100 50 Z', one), path('M0 100 A50 50 0 0 1 100 100 Z', two)]
    case 5:
      return [0, 1, 2, 3].map((at) => rect(0, at * 25 + 3, 100, 13, at % 2 ? two : one))
    case 6:
      return [path('M0 0 A100 100 0 0 0 100 100 A100 100 0 0 0 0 0 Z', one)]
    default:
      return [0, 1, 2, 3, 4, 5, 6, 7, 8].map((at) => circle(18 + (at % 3) * 32, 18 + Math.floor(at / 3) * 32, 8, one))
  }
}

/** A grid of geometric tiles, for subjects that cannot be drawn. */
export function tiles({ width, height, palette, random }: Canvas, columns: number): Shape[] {
  const size = width / columns
  const rows = Math.ceil(height / size)
  const { paper, ink, main, second, accent } = palette
  const grounds: Color[] = [paper, mix(paper, second, 0.5), main, second, ink]
  const shapes: Shape[] = []
  for (let at = 0; at < columns * rows; at += 1) {
    const ground = random.pick(grounds)
    const inks = [main, second, accent, ink, paper].filter((color) => color !== ground)
    const pair: [Color, Color] = [random.pick(inks), readableOn(ground, ...inks)]
    const [x, y] = [(at % columns) * size, Math.floor(at / columns) * size]
    shapes.push(rect(x, y, size + 0.5, size + 0.5, ground))
    const turn = Math.floor(random.next() * 4)
    const corner = [
      [0, 0],
      [size, 0],
      [size, size],
      [0, size],
    ][turn]!
    shapes.push(
      group(tile(Math.floor(random.next() * 8), pair), {
        x: x + corner[0]!,
        y: y + corner[1]!,
        scale: size / 100,
        rotate: turn * 90,
      }),
    )
  }
  return shapes
}

export function abstract(canvas: Canvas): { background: Paint; shapes: Shape[] } {
  const { width, height, palette } = canvas
  return { background: palette.paper, shapes: [group(tiles(canvas, width >= height ? 6 : 4))] }
}
