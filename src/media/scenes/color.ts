import type { Color } from './model'

/** Lightness from 0 to 1, chroma from 0 to about 0.37, hue in degrees. */
type Oklch = { l: number; c: number; h: number }

const toLinear = (value: number) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
const toGamma = (value: number) => (value <= 0.0031308 ? value * 12.92 : 1.055 * value ** (1 / 2.4) - 0.055)

const channels = (color: Color): [number, number, number] => {
  const value = Number.parseInt(color.slice(1), 16)
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255].map((part) => toLinear(part / 255)) as [
    number,
    number,
    number,
  ]
}

/** Converts a colour to OKLCH, where equal steps of lightness look equal for every hue. */
export function oklchOf(color: Color): Oklch {
  const [r, g, b] = channels(color)
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
  const a = 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s
  const bb = 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s
  const lightness = 0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s
  return { l: lightness, c: Math.hypot(a, bb), h: (Math.atan2(bb, a) * 180) / Math.PI }
}

/** The nearest colour that a screen can show. Reduces chroma to keep the lightness. */
export function colorOf({ l, c, h }: Oklch): Color {
  for (let chroma = c; ; chroma *= 0.92) {
    const parts = linearOf(l, chroma, h)
    if (chroma < 0.002 || parts.every((part) => part >= -0.0005 && part <= 1.0005)) return hexOf(parts)
  }
}

function linearOf(lightness: number, chroma: number, hue: number): number[] {
  const angle = (hue * Math.PI) / 180
  const [a, b] = [chroma * Math.cos(angle), chroma * Math.sin(angle)]
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ]
}

const hexOf = (parts: readonly number[]): Color =>
  `#${parts
    .map((part) =>
      Math.round(toGamma(Math.min(1, Math.max(0, part))) * 255)
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`

/** Lighter for a positive `by`, darker for a negative one. 1 is the distance from black to white. */
export function shade(color: Color, by: number): Color {
  const { l, c, h } = oklchOf(color)
  return colorOf({ l: Math.min(0.99, Math.max(0.06, l + by)), c, h })
}

/** Sets the lightness of a colour and multiplies its chroma. */
export function tone(color: Color, l: number, chroma = 1): Color {
  const { c, h } = oklchOf(color)
  return colorOf({ l, c: c * chroma, h })
}

export function turned(color: Color, degrees: number): Color {
  const { l, c, h } = oklchOf(color)
  return colorOf({ l, c, h: h + degrees })
}

/** Mixes two colours: 0 is the first, 1 the second. */
export function mix(from: Color, to: Color, share: number): Color {
  const [a, b] = [channels(from), channels(to)]
  return hexOf(a.map((part, at) => part + (b[at]! - part) * share))
}

const luminance = (color: Color): number => {
  const [r, g, b] = channels(color)
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

/** The contrast of two colours, from 1 to 21 (WCAG 2). */
export function contrast(one: Color, other: Color): number {
  const [a, b] = [luminance(one), luminance(other)]
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
}

/** The colour with the highest contrast to the background. */
export const readableOn = (ground: Color, ...inks: Color[]): Color =>
  inks.toSorted((a, b) => contrast(b, ground) - contrast(a, ground))[0]!

export const isDark = (color: Color): boolean => luminance(color) < 0.18
