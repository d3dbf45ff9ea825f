import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  asDrawn,
  type Direction,
  directionOf,
  FALLBACK_FONTS,
  type Fallback,
  hasGlyphs,
  inVisualOrder,
  levelsOf,
  piecesOf,
  type Piece as Stretch,
} from '../../fonts'
import { plain, type Span, type Text } from '../blocks-model'

/** Roboto covers Latin, Greek and Cyrillic. DejaVu Mono is monospaced. */
const ROBOTO = dirname(fileURLToPath(import.meta.resolve('pdfmake/fonts/Roboto/Roboto-Regular.ttf')))
const DEJAVU = dirname(fileURLToPath(import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf')))

const roboto = (style: string) => join(ROBOTO, `Roboto-${style}.ttf`)
const dejavu = (style: string) => join(DEJAVU, `DejaVuSans${style}.ttf`)

type Files = { normal: string; bold: string; italics: string; bolditalics: string }

/** Uses upright fonts for italics, because italic fonts lack letters and most scripts have no italics. */
const upright = ({ normal, bold }: { normal: string; bold: string }): Files => ({
  normal,
  bold,
  italics: normal,
  bolditalics: bold,
})

const fallbacks = Object.fromEntries(
  Object.entries(FALLBACK_FONTS).map(([family, files]) => [family, upright(files)]),
) as Record<Fallback, Files>

/** Font files by family, in the format of pdfmake. */
export const FONTS = {
  ...fallbacks,
  Roboto: {
    normal: roboto('Regular'),
    bold: roboto('Medium'),
    italics: roboto('Italic'),
    bolditalics: roboto('MediumItalic'),
  },
  Mono: upright({ normal: dejavu('Mono'), bold: dejavu('Mono-Bold') }),
}

export type Piece = Stretch<'Roboto' | 'Mono'> & { style: Omit<Span, 'text'> }

/** Splits a paragraph into runs of one font, direction and style. Letters that no font has appear as boxes. */
export function inFonts(text: Text, direction: Direction = directionOf(plain(text))): Piece[] {
  const levels = levelsOf(plain(text), direction)
  let at = 0
  return text.flatMap(({ text: words, ...style }) => {
    const family = style.code ? 'Mono' : 'Roboto'
    const own = levels?.subarray(at, at + words.length) ?? null
    at += words.length
    const has = (sign: string) => hasGlyphs(FONTS[family].normal, sign)
    return piecesOf(words, { family, has }, own).flatMap(({ text: words, ...piece }) =>
      words.split(LONG).flatMap((part) => (part ? [{ ...piece, text: part, style }] : [])),
    )
  })
}

/** pdfmake measures the rest of a word again for each line. Splitting long words makes this linear. */
const LONG = /([^ \t\n]{100}(?=[^ \t\n\p{M}\u200d])|[ \t]{100}(?=[ \t]))/u

/** One line of plain text in visual order, for places where pdfmake does not order the words. */
export function shownInOrder(text: string): { text: string; family: string }[] {
  const pieces = inVisualOrder(inFonts([{ text }]), ({ level }) => level)
  return pieces.map(({ text, family, level }) => ({ family, text: asDrawn(text, level) }))
}
