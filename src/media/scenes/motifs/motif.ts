import type { Color, Shape } from '../model'
import type { Palette } from '../palette'

/** Where a thing is found, which determines what it stands on. */
export type Place = 'ground' | 'sky' | 'water' | 'space' | 'table'

/** Something that can be drawn in a box of 100 by 100, on its lower edge, in the colours of a palette. */
export type Motif = {
  name: string
  /** Its names in prompts, in the singular. */
  words: readonly string[]
  place: Place
  /** Height as a share of the picture's shorter side, when it is the only subject. */
  size: number
  /** Colour if the description gives no colour for the subject or the picture. */
  natural?: Color
  /** Without it, the icon with the same name is drawn. */
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
