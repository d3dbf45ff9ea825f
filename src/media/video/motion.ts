import type { Placement } from './raster'

/** How a layer moves in a shot, by the seconds since the shot began. Where a member is missing, it does not. */
export type Motion = {
  /** When it comes, and how long that takes. */
  enters?: { at: number; seconds: number; from?: { dx?: number; dy?: number }; reveals?: 'foot' | 'left' }
  /** Pixels that it drifts through the whole shot, half of them before its place. */
  drifts?: { dx?: number; dy?: number }
  /** Swings about its place. */
  sways?: { dx?: number; dy?: number; seconds: number }
}

/** Where a layer is at a moment of a shot of this length, in seconds. */
export function placed({ enters, drifts, sways }: Motion, at: number, length: number): Placement {
  // Begins fast and ends softly.
  const come = enters ? 1 - (1 - Math.min(1, Math.max(0, (at - enters.at) / enters.seconds))) ** 3 : 1
  const along = at / length - 0.5
  const swing = sways ? Math.sin((2 * Math.PI * at) / sways.seconds) : 0
  const on = (axis: 'dx' | 'dy') =>
    (enters?.from?.[axis] ?? 0) * (1 - come) + (drifts?.[axis] ?? 0) * along + (sways?.[axis] ?? 0) * swing
  return {
    dx: on('dx'),
    dy: on('dy'),
    opacity: enters && !enters.reveals ? come : 1,
    ...(enters?.reveals ? { shown: { share: come, from: enters.reveals } } : {}),
  }
}
