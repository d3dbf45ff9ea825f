import type { Glyph as FontGlyph } from 'fontkit'
import {
  asDrawn,
  directionOf,
  FALLBACK_FONTS,
  fallbackFor,
  fontOf,
  inVisualOrder,
  levelsOf,
  piecesOf,
  signsIn,
} from '../fonts'
import type { Color, Shape, TextLook } from './model'

/** A word, and whether a space separates it from the word before on the same line. */
type Word = { text: string; isApart: boolean }

/** Scripts that write words without spaces between them. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

const segments = new Intl.Segmenter('und', { granularity: 'word' })

/** The words of a text, between which a line may break. */
const wordsIn = (text: string): Word[] =>
  text
    .split(/\s+/)
    .filter(Boolean)
    .flatMap((word) => {
      const parts: string[] = []
      for (const { segment, isWordLike } of UNSPACED.test(word)
        ? segments.segment(word)
        : [{ segment: word, isWordLike: true }]) {
        // Punctuation stays with the word before, so that no line begins with a comma.
        if (isWordLike || !parts.length) parts.push(segment)
        else parts[parts.length - 1] += segment
      }
      return parts.map((part, at) => ({ text: part, isApart: at === 0 }))
    })

type Weight = 400 | 600 | 800

/** Subsets of the font, each in its own file. A letter is taken from the first subset that has it. */
const ALPHABETS = ['latin', 'latin-ext', 'cyrillic', 'greek', 'vietnamese', 'cyrillic-ext', 'greek-ext'] as const

/** An outline in ems with y pointing down, and the distance to the next glyph. */
type Glyph = {
  commands: readonly { letter: string; points: readonly (readonly [number, number])[] }[]
  advance: number
  /** The font layout determines its position. */
  isShaped?: true
}

/** Outline commands and their SVG letters. */
const LETTERS = { moveTo: 'M', lineTo: 'L', quadraticCurveTo: 'Q', bezierCurveTo: 'C', closePath: 'Z' }

function outlined({ path }: FontGlyph, em: number, dx = 0, dy = 0): Glyph['commands'] {
  return (path.commands as { command: keyof typeof LETTERS; args: number[] }[]).map(({ command, args }) => ({
    letter: LETTERS[command],
    points: Array.from(
      { length: args.length / 2 },
      (_, at) => [(args[2 * at]! + dx) / em, -(args[2 * at + 1]! + dy) / em] as const,
    ),
  }))
}

const glyphs = new Map<string, Glyph | null>()

/** The outline of a letter, or null if the typeface lacks it. */
function glyphOf(letter: string, weight: Weight): Glyph | null {
  return glyphs.getOrInsertComputed(`${weight} ${letter}`, () => {
    const code = letter.codePointAt(0)!
    const font = ALPHABETS.map((alphabet) => `@fontsource/inter/files/inter-${alphabet}-${weight}-normal.woff`)
      .map((path) => fontOf(Bun.resolveSync(path, import.meta.dir)))
      .find((one) => one.hasGlyphForCodePoint(code))
    if (!font) return null
    const glyph = font.glyphForCodePoint(code)
    return { commands: outlined(glyph, font.unitsPerEm), advance: glyph.advanceWidth / font.unitsPerEm }
  })
}

const MAX_KNOWN = 1_000
const shaped = new Map<string, Glyph[]>()

/** Glyphs of words in another script, shaped by the font's layout. */
function foreignGlyphs(words: string, file: string): Glyph[] {
  const name = `${file} ${words}`
  const known = shaped.get(name)
  if (known) return known
  const font = fontOf(file)
  const em = font.unitsPerEm
  const { glyphs, positions } = font.layout(words)
  const made = glyphs.map((glyph, at): Glyph => {
    const { xAdvance, xOffset, yOffset } = positions[at]!
    return { commands: outlined(glyph, em, xOffset, yOffset), advance: xAdvance / em, isShaped: true }
  })
  if (shaped.size >= MAX_KNOWN) shaped.clear()
  shaped.set(name, made)
  return made
}

type Setting = { size: number; weight: Weight; tracking?: number }

/** Removes the letters of a text that no font has. */
export const writable = (text: string): string =>
  signsIn(text)
    .filter((sign) => /\s/.test(sign) || hasAll(sign, 800) || fallbackFor(sign))
    .join('')

const hasAll = (text: string, weight: Weight): boolean => [...text].every((letter) => glyphOf(letter, weight))

/** The glyphs of a line from left to right. */
function glyphsOf(text: string, weight: Weight): Glyph[] {
  const usual = [...text].map((letter) => glyphOf(letter, weight))
  if (usual.every((glyph, at) => glyph || /\s/.test(text[at] ?? ''))) return usual.filter((glyph) => glyph !== null)
  const has = (sign: string) => hasAll(sign, weight)
  const pieces = piecesOf(text, { family: 'Inter', has }, levelsOf(text, directionOf(text)))
  return inVisualOrder(pieces, ({ level }) => level).flatMap(({ text, family, level }) => {
    const words = asDrawn(text, level)
    if (family === 'Inter') return [...words].flatMap((letter) => glyphOf(letter, weight) ?? [])
    return foreignGlyphs(words, FALLBACK_FONTS[family][weight > 400 ? 'bold' : 'normal'])
  })
}

/** The width of a line in pixels. */
export function widthOf(text: string, { size, weight, tracking = 0 }: Setting): number {
  const drawn = glyphsOf(text, weight)
  return (
    Math.max(
      0,
      drawn.reduce((width, glyph) => width + glyph.advance + spaceAfter(glyph, tracking), -tracking),
    ) * size
  )
}

/** Shaped letters keep their own distances. */
const spaceAfter = ({ isShaped }: Glyph, tracking: number): number => (isShaped ? 0 : tracking)

/** A line as an outline that starts at `x` on the baseline `y`. */
export function outlineOf(text: string, x: number, y: number, { size, weight, tracking = 0 }: Setting): string {
  const parts: string[] = []
  let at = x
  for (const glyph of glyphsOf(text, weight)) {
    for (const { letter, points } of glyph.commands)
      parts.push(
        letter + points.map(([px, py]) => `${(at + px * size).toFixed(1)} ${(y + py * size).toFixed(1)}`).join(' '),
      )
    at += (glyph.advance + spaceAfter(glyph, tracking)) * size
  }
  return parts.join('')
}

export type Box = { width: number; height: number }

/** Breaks a text into lines that fit a box in the largest size up to `max`. Cuts the rest with an ellipsis. */
export function fitted(
  text: string,
  box: Box,
  {
    weight,
    tracking = 0,
    max,
    leading = 1.08,
    lines: maxLines = 4,
  }: { weight: Weight; tracking?: number; max: number; leading?: number; lines?: number },
) {
  const words = wordsIn(writable(text))
  for (let size = max; ; size *= 0.92) {
    const lines = linesOf(words, (line) => widthOf(line, { size, weight, tracking }) <= box.width)
    const fits = lines.length <= maxLines && lines.length * size * leading <= box.height
    const wide = lines.some((one) => widthOf(one, { size, weight, tracking }) > box.width)
    if ((fits && !wide) || size < 9) return { size, lines: lines.slice(0, maxLines), leading, weight, tracking }
  }
}

/** Fitted lines as shapes, the first on the baseline `y`. */
export const lettered = (
  { lines, size, leading, weight, tracking }: ReturnType<typeof fitted>,
  { x, y, anchor = 'middle', fill }: { x: number; y: number; anchor?: TextLook['anchor']; fill: Color },
): Shape[] =>
  lines.map((text, at) => ({
    type: 'text',
    ...{ text, x, y: y + at * size * leading, size, weight, tracking, anchor, fill },
  }))

/** Breaks words into lines. A word that does not fit gets its own line. */
function linesOf(words: readonly Word[], fits: (line: string) => boolean): string[] {
  const lines: string[] = []
  for (const { text, isApart } of words) {
    const last = lines.at(-1)
    const longer = last === undefined ? text : `${last}${isApart ? ' ' : ''}${text}`
    if (last !== undefined && fits(longer)) lines[lines.length - 1] = longer
    else lines.push(text)
  }
  return lines
}
