import { colorOf, mix, oklchOf, shade, tone, turned } from './color'
import type { Color } from './model'
import type { Random } from './random'

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
