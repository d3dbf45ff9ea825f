/** A picture as plain data, which a renderer draws. */

export type Color = `#${string}`

export type Gradient = {
  /** Degrees: 0 runs to the right, 90 downwards. */
  angle: number
  stops: readonly { at: number; color: Color }[]
}

export type Paint = Color | Gradient

export type Look = {
  fill?: Paint
  stroke?: Color
  strokeWidth?: number
  /** From 0 to 1. */
  opacity?: number
  cap?: 'round'
}

export type TextLook = Look & {
  /** Pixels of an em. */
  size: number
  weight: 400 | 600 | 800
  anchor: 'start' | 'middle' | 'end'
  /** Added between letters, in ems. */
  tracking?: number
}

export type Group = {
  type: 'group'
  children: readonly Shape[]
  x?: number
  y?: number
  scale?: number
  /** Mirrors the group horizontally, before it is moved. */
  flip?: boolean
  /** Degrees around the group's own origin. */
  rotate?: number
  opacity?: number
  /** Only the part inside this shape is drawn. */
  clip?: Shape
}

export type Shape =
  | ({ type: 'rect'; x: number; y: number; width: number; height: number; radius?: number } & Look)
  | ({ type: 'circle'; x: number; y: number; r: number } & Look)
  | ({ type: 'ellipse'; x: number; y: number; rx: number; ry: number } & Look)
  | ({ type: 'path'; d: string } & Look)
  /** `y` is the baseline. */
  | ({ type: 'text'; x: number; y: number; text: string } & TextLook)
  /** SVG markup of an icon with its own colours. Never from a caller. */
  | { type: 'icon'; body: string }
  | Group

export type Scene = {
  /** In pixels. */
  width: number
  height: number
  background: Paint
  shapes: readonly Shape[]
  /** What the picture shows, in words. */
  title: string
}

const round = (value: number) => Math.round(value * 100) / 100

export const rect = (
  x: number,
  y: number,
  width: number,
  height: number,
  fill: Paint,
  more: Look & { radius?: number } = {},
): Shape => ({
  type: 'rect',
  x: round(x),
  y: round(y),
  width: round(width),
  height: round(height),
  fill,
  ...more,
})

export const circle = (x: number, y: number, r: number, fill: Paint, more: Look = {}): Shape => ({
  type: 'circle',
  x: round(x),
  y: round(y),
  r: round(r),
  fill,
  ...more,
})

export const ellipse = (x: number, y: number, rx: number, ry: number, fill: Paint, more: Look = {}): Shape => ({
  type: 'ellipse',
  x: round(x),
  y: round(y),
  rx: round(rx),
  ry: round(ry),
  fill,
  ...more,
})

export const path = (d: string, fill: Paint, more: Look = {}): Shape => ({ type: 'path', d, fill, ...more })

/** A stroke without a fill. */
export const line = (d: string, stroke: Color, strokeWidth: number, more: Look = {}): Shape => ({
  type: 'path',
  d,
  stroke,
  strokeWidth,
  cap: 'round',
  ...more,
})

export const group = (children: readonly Shape[], more: Partial<Group> = {}): Group => ({
  type: 'group',
  children,
  ...more,
})
