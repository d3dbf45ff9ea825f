import type { Color, Shape } from '../model'
import type { Palette } from '../palette'

/** Where a thing is found: it decides what it stands on. */
export type Place = 'ground' | 'sky' | 'water' | 'space' | 'table'

/** Something that can be drawn in a box of 100 by 100, standing on its lower edge, in the colours of a palette. */
export type Motif = {
  name: string
  /** What it is called in prompts, in the singular. */
  words: readonly string[]
  place: Place
  /** Its height as a share of the picture's shorter side, when it is the only subject. */
  size: number
  /** Its colour where the description gives neither it nor the picture one. */
  natural?: Color
  /** Without it, it is the picture of its name in the set. */
  draw?(palette: Palette): Shape[]
}

export const motif = (
  name: string,
  place: Place,
  size: number,
  more: readonly string[],
  draw: (palette: Palette) => Shape[],
  natural?: Color,
): Motif => ({ name, words: [name, ...more], place, size, draw, ...(natural ? { natural } : {}) })
