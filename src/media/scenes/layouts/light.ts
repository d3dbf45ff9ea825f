import { isDark, mix, tone } from '../color'
import type { Color } from '../model'
import type { Canvas } from './canvas'

/** Colours of sky and land, from the palette and the time of day. */
export type Light = { top: Color; low: Color; glow: Color; far: Color; near: Color; water: Color; isNight: boolean }

export function lightOf({ palette, reading }: Canvas): Light {
  const { main, second, accent, paper, ink } = palette
  const isNight = reading.time === 'night' || reading.setting === 'space' || isDark(paper)
  const cool = mix(second, '#7db8d8', 0.35)
  if (isNight) {
    const top = tone(mix(ink, '#14204a', 0.55), 0.2, 1.1)
    return {
      top,
      low: tone(mix(main, '#33407e', 0.6), 0.38, 0.9),
      glow: mix(accent, '#ffffff', 0.6),
      far: tone(mix(main, top, 0.55), 0.34),
      near: tone(mix(main, top, 0.6), 0.2),
      water: tone(mix(second, top, 0.6), 0.3),
      isNight,
    }
  }
  if (reading.time === 'dusk') {
    return {
      top: tone(mix(main, '#6a3d8f', 0.6), 0.46),
      low: tone(mix(accent, '#ffb26b', 0.6), 0.84),
      glow: '#ffe2a8',
      far: tone(mix(main, '#7a4b85', 0.5), 0.56, 0.8),
      near: tone(mix(main, '#3d2352', 0.6), 0.3),
      water: tone(mix(second, '#a4577a', 0.5), 0.5),
      isNight,
    }
  }
  return {
    top: tone(cool, 0.8, 0.9),
    low: mix(paper, tone(accent, 0.93, 0.5), 0.5),
    glow: mix(tone(accent, 0.88), '#ffd66b', 0.65),
    far: tone(mix(second, main, 0.35), 0.74, 0.75),
    near: tone(main, 0.5, 0.95),
    water: tone(mix(cool, main, 0.35), 0.62, 1.1),
    isNight,
  }
}
