import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { create, type Font } from 'fontkit'
import type { Span, Text } from '../blocks/model'

/** Roboto has Latin, Greek and Cyrillic; DejaVu has most other alphabets and signs, and letters of one width. */
const ROBOTO = dirname(fileURLToPath(import.meta.resolve('pdfmake/fonts/Roboto/Roboto-Regular.ttf')))
const DEJAVU = dirname(fileURLToPath(import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf')))

const roboto = (style: string) => join(ROBOTO, `Roboto-${style}.ttf`)
const dejavu = (style: string) => join(DEJAVU, `DejaVuSans${style}.ttf`)

/** Files of a family, as pdfmake wants them. */
export const FONTS = {
  Roboto: {
    normal: roboto('Regular'),
    bold: roboto('Medium'),
    italics: roboto('Italic'),
    bolditalics: roboto('MediumItalic'),
  },
  Wide: {
    normal: dejavu(''),
    bold: dejavu('-Bold'),
    italics: dejavu('-Oblique'),
    bolditalics: dejavu('-BoldOblique'),
  },
  Mono: {
    normal: dejavu('Mono'),
    bold: dejavu('Mono-Bold'),
    italics: dejavu('Mono-Oblique'),
    bolditalics: dejavu('Mono-BoldOblique'),
  },
}
type Family = keyof typeof FONTS

const opened = new Map<Family, Font>()

function has(family: Family, codePoint: number): boolean {
  let font = opened.get(family)
  if (!font) {
    font = create(readFileSync(FONTS[family].normal)) as Font
    opened.set(family, font)
  }
  return font.hasGlyphForCodePoint(codePoint)
}

/** Signs that change their neighbours and need no glyph of their own. */
const JOINED = /\p{M}|\p{Cf}|[\n\t]/u
const BASIC = /^[\x20-\x7e\n\u00a0-\u00ff\u2013\u2014\u2018-\u201d\u2022\u2026\u20ac]*$/

export type Piece = { text: string; family: Family; style: Omit<Span, 'text'> }

/** A text in stretches of one font each: the first one that has the letters. What none has is a box. */
export function inFonts(text: Text): Piece[] {
  return text.flatMap(({ text: words, ...style }) => {
    const wanted: Family = style.code ? 'Mono' : 'Roboto'
    return familiesOf(words, wanted).map((piece) => ({ ...piece, style }))
  })
}

function familiesOf(words: string, wanted: Family): { text: string; family: Family }[] {
  if (BASIC.test(words)) return [{ text: words, family: wanted }]
  const pieces: { text: string; family: Family }[] = []
  for (const letter of words) {
    const last = pieces.at(-1)
    const family = JOINED.test(letter) && last ? last.family : familyFor(letter, wanted, last?.family)
    if (last?.family === family) last.text += letter
    else pieces.push({ text: letter, family })
  }
  return pieces
}

function familyFor(letter: string, wanted: Family, before: Family | undefined): Family {
  const codePoint = letter.codePointAt(0)!
  // A blank stays with the word before it, so that words of one alphabet are one piece.
  if (letter === ' ' && before) return before
  if (has(wanted, codePoint)) return wanted
  return has('Wide', codePoint) ? 'Wide' : wanted
}
