import type { Color } from './model'
import type { Random } from './random'

/** Lightness from 0 to 1, chroma from 0 to about 0.37, hue in degrees. */
type Oklch = { l: number; c: number; h: number }

/** The linear red, green and blue of a colour, each from 0 to 1. */
const channels = (color: Color) =>
  [...Uint8Array.fromHex(color.slice(1))]
    .map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)) as [number, number, number]

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

function hexOf(parts: readonly number[]): Color {
  const encoded = parts
    .map((part) => Math.min(1, Math.max(0, part)))
    .map((part) => (part <= 0.0031308 ? part * 12.92 : 1.055 * part ** (1 / 2.4) - 0.055))
  return `#${Uint8Array.from(encoded, (part) => Math.round(part * 255)).toHex()}`
}

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

/** The colours of one picture. */
export type Palette = {
  /** The lightest colour. */
  paper: Color
  /** The darkest colour. */
  ink: Color
  main: Color
  second: Color
  accent: Color
  /** For shapes with their own colours: the requested colour, the mood, and whether it is night. */
  tint?: Color
  mood?: Mood | null
  isNight?: boolean
}

const of = (paper: Color, ink: Color, main: Color, second: Color, accent: Color): Palette => ({
  paper,
  ink,
  main,
  second,
  accent,
})

/** Palettes chosen by hand. Each has a light, a dark, two similar colours and a contrasting one. */
const CHOSEN = {
  warm: of('#fbf3e4', '#22223b', '#e07a5f', '#3d5a80', '#f2cc8f'),
  coast: of('#f1faee', '#1d3557', '#457b9d', '#a8dadc', '#e63946'),
  forest: of('#f4f1e8', '#1b2e28', '#3a7d5c', '#a3b18a', '#e9a23b'),
  plum: of('#fff5f0', '#2b1b3d', '#7b4b94', '#e27396', '#f7b267'),
  ocean: of('#f0f7fa', '#0b2545', '#13618f', '#8dc6d9', '#ffb703'),
  clay: of('#faf0e6', '#3b2a25', '#b5523b', '#d9a679', '#4f7c6a'),
  candy: of('#fff7fb', '#3a2449', '#f25f9c', '#6ac4dc', '#ffd166'),
  slate: of('#f5f6f8', '#1f2933', '#486581', '#9fb3c8', '#f0b429'),
  dusk: of('#fff1e0', '#2e1a47', '#f26b5e', '#7a3e8e', '#ffc15e'),
  mint: of('#f3fbf6', '#12372a', '#2fa37c', '#bfe3cf', '#ff7a59'),
} as const

const COLORS: Record<string, Color> = {
  red: '#d7263d',
  crimson: '#b3122f',
  orange: '#f3722c',
  amber: '#f6a821',
  yellow: '#f9c74f',
  gold: '#d4a017',
  golden: '#d4a017',
  lime: '#9bc53d',
  green: '#2f9e5b',
  emerald: '#12876b',
  olive: '#7a7f34',
  mint: '#7fd8be',
  teal: '#14837f',
  turquoise: '#2ab7b0',
  cyan: '#2bb3d6',
  blue: '#2467c9',
  navy: '#16325c',
  azure: '#3a9ad9',
  indigo: '#3f3d9e',
  purple: '#7b3fb5',
  violet: '#8454c9',
  lavender: '#b9a4e0',
  magenta: '#c2298c',
  pink: '#f28ab2',
  rose: '#e4677f',
  coral: '#ff7f6b',
  peach: '#ffb48f',
  brown: '#855a3b',
  beige: '#d9c6a5',
  tan: '#c9a06f',
  silver: '#aeb7c2',
  gray: '#7d8590',
  grey: '#7d8590',
  black: '#23252b',
  white: '#f4f4f1',
}

export const colorNamed = (word: string): Color | null => (Object.hasOwn(COLORS, word) ? COLORS[word]! : null)

export const COLOR_WORDS: readonly string[] = Object.keys(COLORS)

/** A palette for the given colours, or one of the palettes chosen by hand if there are none. */
export function paletteFor(colors: readonly Color[], random: Random): Palette {
  const base = random.pick(Object.values(CHOSEN))
  const [main, second, third] = colors
  if (!main) return base
  const { l, c } = oklchOf(main)
  const isGrey = c < 0.03
  return {
    paper: l > 0.9 ? '#fbfbf8' : tone(main, 0.965, isGrey ? 1 : 0.16),
    ink: tone(main, 0.24, isGrey ? 1 : 0.5),
    main: l > 0.9 ? shade(main, -0.12) : main,
    second: second ?? colorOf({ l: Math.min(0.82, l + 0.18), c: Math.max(c * 0.7, 0.02), h: oklchOf(main).h + 14 }),
    accent: third ?? (isGrey ? '#f0b429' : colorOf({ l: 0.78, c: 0.15, h: oklchOf(turned(main, 165)).h })),
  }
}

/** The same palette in another mood. */
export const moods = {
  pastel: ({ paper, ink, main, second, accent }: Palette): Palette => ({
    paper: mix(paper, '#ffffff', 0.4),
    ink: tone(ink, 0.38, 0.8),
    main: tone(main, 0.8, 0.55),
    second: tone(second, 0.86, 0.6),
    accent: tone(accent, 0.84, 0.6),
  }),
  mono: ({ main }: Palette): Palette => ({
    paper: tone(main, 0.97, 0),
    ink: tone(main, 0.2, 0),
    main: tone(main, 0.42, 0),
    second: tone(main, 0.72, 0),
    accent: tone(main, 0.58, 0),
  }),
  retro: ({ main, second, accent }: Palette): Palette => ({
    paper: '#f3e6cb',
    ink: '#3a2a24',
    main: mix(tone(main, 0.55, 0.85), '#b5523b', 0.25),
    second: mix(tone(second, 0.6, 0.7), '#4f7c6a', 0.35),
    accent: mix(tone(accent, 0.75, 0.9), '#e3a23b', 0.4),
  }),
  neon: ({ main, second, accent }: Palette): Palette => ({
    paper: '#12101f',
    ink: '#f5f3ff',
    main: tone(main, 0.72, 1.6),
    second: tone(second, 0.8, 1.8),
    accent: tone(accent, 0.86, 1.5),
  }),
  blueprint: (): Palette => ({
    paper: '#12407a',
    ink: '#eef6ff',
    main: '#1d549b',
    second: '#1a4c8d',
    accent: '#8fc1ff',
  }),
} satisfies Record<string, (palette: Palette) => Palette>

export type Mood = keyof typeof moods
