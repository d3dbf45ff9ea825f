import { type Group, group } from '../model'
import { iconPicture } from '../motifs/icon-picture'
import type { Motif } from '../motifs/motif'
import type { Palette } from '../palette'
import type { Random } from '../random'
import type { Reading } from '../read'
import type { Subject } from '../subjects'

/** The input of every layout. */
export type Canvas = { width: number; height: number; palette: Palette; random: Random; reading: Reading }

/** Draws a motif of the given height. Its lower edge is at `y` and its centre at `x`. */
export const drawMotif = (
  motif: Motif,
  palette: Palette,
  at: { x: number; y: number; height: number; flip?: boolean },
): Group => {
  const scale = at.height / 100
  return group(motif.draw?.(palette) ?? [iconPicture(motif.name, palette)], {
    x: at.x + (at.flip ? 50 : -50) * scale,
    y: at.y - at.height,
    scale,
    ...(at.flip ? { flip: true } : {}),
  })
}

/** The palette for drawing a subject, with its own colour if the description gives one. */
export const paletteOf = ({ color }: Subject, palette: Palette): Palette =>
  color ? { ...palette, main: color, tint: color } : palette
