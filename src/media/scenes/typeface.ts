import { readFileSync } from 'node:fs'
import { type Font, type PathCommand, parse } from 'opentype.js'

type Weight = 400 | 600 | 800

/** Alphabets, each in a file of its own; a letter is taken from the first that has it. */
const ALPHABETS = ['latin', 'latin-ext', 'cyrillic', 'greek', 'vietnamese', 'cyrillic-ext', 'greek-ext'] as const

type Glyph = { commands: readonly PathCommand[]; advance: number }

const fonts = new Map<string, Font>()
const glyphs = new Map<string, Glyph | null>()

function fontOf(alphabet: string, weight: Weight): Font {
  const name = `${alphabet}-${weight}`
  const known = fonts.get(name)
  if (known) return known
  const file = Bun.resolveSync(`@fontsource/inter/files/inter-${name}-normal.woff`, import.meta.dir)
  const { buffer, byteOffset, byteLength } = readFileSync(file)
  const font = parse(buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer)
  fonts.set(name, font)
  return font
}

/** The outline of a letter, an em being 1; null for one that the typeface does not have. */
function glyphOf(letter: string, weight: Weight): Glyph | null {
  const name = `${weight} ${letter}`
  const known = glyphs.get(name)
  if (known !== undefined) return known
  const font = ALPHABETS.map((alphabet) => fontOf(alphabet, weight)).find((one) => one.charToGlyphIndex(letter) > 0)
  const glyph = font?.charToGlyph(letter)
  const made = glyph
    ? { commands: glyph.getPath(0, 0, 1).commands, advance: (glyph.advanceWidth ?? 0) / font!.unitsPerEm }
    : null
  glyphs.set(name, made)
  return made
}

type Setting = { size: number; weight: Weight; tracking?: number }

/** What of a text the typeface can write; letters that it lacks are left out. */
export const writable = (text: string): string =>
  [...text].filter((letter) => /\s/.test(letter) || glyphOf(letter, 800)).join('')

/** The width of a line in pixels. */
export function widthOf(text: string, { size, weight, tracking = 0 }: Setting): number {
  let width = 0
  for (const letter of text) width += (glyphOf(letter, weight)?.advance ?? 0) + tracking
  return Math.max(0, width - tracking) * size
}

/** A line as an outline that starts at `x` on the baseline `y`. */
export function outlineOf(text: string, x: number, y: number, { size, weight, tracking = 0 }: Setting): string {
  const parts: string[] = []
  let at = x
  for (const letter of text) {
    const glyph = glyphOf(letter, weight)
    if (!glyph) continue
    for (const command of glyph.commands) parts.push(written(command, at, y, size))
    at += (glyph.advance + tracking) * size
  }
  return parts.join('')
}

function written(command: PathCommand, x: number, y: number, size: number): string {
  const at = (px: number, py: number) => `${(x + px * size).toFixed(1)} ${(y + py * size).toFixed(1)}`
  switch (command.type) {
    case 'M':
    case 'L':
      return `${command.type}${at(command.x, command.y)}`
    case 'Q':
      return `Q${at(command.x1, command.y1)} ${at(command.x, command.y)}`
    case 'C':
      return `C${at(command.x1, command.y1)} ${at(command.x2, command.y2)} ${at(command.x, command.y)}`
    default:
      return 'Z'
  }
}

export type Box = { width: number; height: number }

/** Lines that fit a box in the largest size up to `most`, broken between words; the rest is cut with an ellipsis. */
export function fitted(
  text: string,
  box: Box,
  {
    weight,
    tracking = 0,
    most,
    leading = 1.08,
    lines: mostLines = 4,
  }: { weight: Weight; tracking?: number; most: number; leading?: number; lines?: number },
) {
  const words = writable(text).split(/\s+/).filter(Boolean)
  for (let size = most; ; size *= 0.92) {
    const lines = broken(words, box.width, { size, weight, tracking })
    const fits = lines.length <= mostLines && lines.length * size * leading <= box.height
    const wide = lines.some((one) => widthOf(one, { size, weight, tracking }) > box.width)
    if ((fits && !wide) || size < 9) return { size, lines: lines.slice(0, mostLines), leading, weight, tracking }
  }
}

function broken(words: readonly string[], width: number, setting: Setting): string[] {
  const lines: string[] = []
  for (const word of words) {
    const last = lines.at(-1)
    const longer = last === undefined ? word : `${last} ${word}`
    if (last !== undefined && widthOf(longer, setting) <= width) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines
}
