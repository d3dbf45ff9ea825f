import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import bidiFactory from 'bidi-js'
import { create, type Font } from 'fontkit'

const fileOf = (path: string): string => Bun.resolveSync(path, import.meta.dir)

/** Font files for what a Latin font lacks. The widest comes last: it has most other alphabets and signs. */
export const FALLBACK_FONTS = {
  Emoji: noto('NotoEmoji'),
  Hebrew: noto('NotoSansHebrew'),
  Devanagari: noto('NotoSansDevanagari'),
  Bengali: noto('NotoSansBengali'),
  Gujarati: noto('NotoSansGujarati'),
  Tamil: noto('NotoSansTamil'),
  Telugu: noto('NotoSansTelugu'),
  Thai: noto('NotoSansThai'),
  Han: eastAsian('@embedpdf/fonts-sc', 'NotoSansHans'),
  Korean: eastAsian('@embedpdf/fonts-kr', 'NotoSansKR'),
  Wide: {
    normal: fileOf('dejavu-fonts-ttf/ttf/DejaVuSans.ttf'),
    bold: fileOf('dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf'),
  },
} as const

export type Fallback = keyof typeof FALLBACK_FONTS

const opened = new Map<string, Font>()

/** Signs that change their neighbours and need no glyph of their own. */
const JOINED = /[\p{M}\p{Cf}\s]/u

/** Which font is asked first for a letter, so that no font is opened for nothing. */
const FONT_FOR: readonly (readonly [Fallback, RegExp])[] = [
  ['Emoji', /\p{Emoji_Presentation}|\ufe0f/u],
  ['Hebrew', /\p{Script=Hebrew}/u],
  ['Devanagari', /[\p{Script=Devanagari}\u0964\u0965]/u],
  ['Bengali', /\p{Script=Bengali}/u],
  ['Gujarati', /\p{Script=Gujarati}/u],
  ['Tamil', /\p{Script=Tamil}/u],
  ['Telugu', /\p{Script=Telugu}/u],
  ['Thai', /\p{Script=Thai}/u],
  ['Korean', /\p{Script=Hangul}/u],
  ['Han', /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\u3000-\u303f\u30fc\uff00-\uffef]/u],
]

/** A stretch of a text in one font and one direction; the text runs as it is spoken. */
export type Piece<Family extends string> = { text: string; family: Family | Fallback; level: number }

type Wanted<Family extends string> = { family: Family; has: (sign: string) => boolean }

const BASIC = /^[\x20-\x7e\n\u00a0-\u00ff\u2013\u2014\u2018-\u201d\u2022\u2026\u20ac]*$/
const EMOJI = /\p{Emoji_Presentation}|\ufe0f/u
const signs = new Intl.Segmenter('und', { granularity: 'grapheme' })

/**
 * A paragraph in stretches of one font and direction each: the wanted font, or the first one that has the letters. What
 * none has stays with the wanted one.
 * @param wanted The font that is asked first, and whether it has a sign.
 * @param levels Those of {@link levelsOf}.
 */
export function piecesOf<Family extends string>(
  text: string,
  wanted: Wanted<Family>,
  levels: Uint8Array | null,
): Piece<Family>[] {
  if (!levels && BASIC.test(text)) return [{ text, family: wanted.family, level: 0 }]
  const pieces: Piece<Family>[] = []
  for (const { segment, index } of signs.segment(text)) {
    const last = pieces.at(-1)
    const level = levels?.[index] ?? 0
    // A blank stays with the word before it, so that words of one alphabet are one piece; that of emoji is too wide.
    const joins = segment === ' ' && last?.level === level && last.family !== 'Emoji'
    const family = joins ? last.family : familyFor(segment, wanted)
    if (last?.family === family && last.level === level) last.text += segment
    else pieces.push({ text: segment, family, level })
  }
  return pieces
}

function familyFor<Family extends string>(sign: string, wanted: Wanted<Family>): Family | Fallback {
  if (!EMOJI.test(sign) && wanted.has(sign)) return wanted.family
  return fallbackFor(sign) ?? wanted.family
}

/** The first other font that has a sign; null where none does. */
export const fallbackFor = (sign: string): Fallback | null =>
  fallbacksFor(sign).find((family) => hasGlyphs(FALLBACK_FONTS[family].normal, sign)) ?? null

/** The signs of a text: letters with their marks, emoji of several parts. */
export const signsIn = (text: string): string[] => [...signs.segment(text)].map(({ segment }) => segment)

/** The fonts to look into for a letter, or a group of them that is one sign, that the usual font lacks. */
function fallbacksFor(sign: string): Fallback[] {
  const found = FONT_FOR.filter(([, letters]) => letters.test(sign)).map(([family]) => family)
  return [...found, 'Wide', ...(found.includes('Han') ? (['Korean'] as const) : []), 'Emoji']
}

/** A family of the Noto fonts, whose files are named by weight. */
function noto(name: string) {
  const folder = name.replace(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()
  const weight = (of: string) => fileOf(`@expo-google-fonts/${folder}/${of}/${name}_${of}.ttf`)
  return { normal: weight('400Regular'), bold: weight('700Bold') }
}

/** These packages let nothing but their module be resolved; the fonts lie beside its folder. */
function eastAsian(module: string, name: string) {
  const weight = (of: string) => join(dirname(fileOf(module)), '../fonts', `${name}-${of}.otf`)
  return { normal: weight('Regular'), bold: weight('Bold') }
}

/** An opened font; a thread opens each once. */
export function fontOf(file: string): Font {
  const known = opened.get(file)
  if (known) return known
  const font = create(readFileSync(file)) as Font
  opened.set(file, font)
  return font
}

/** Whether a font has each letter of a text. */
export function hasGlyphs(file: string, text: string): boolean {
  const font = fontOf(file)
  for (const letter of text)
    if (!JOINED.test(letter) && !font.hasGlyphForCodePoint(letter.codePointAt(0)!)) return false
  return true
}

const bidi = bidiFactory()

const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\u200f\u202b\u202e\u2067]/u
const FIRST_STRONG = /^\P{L}*[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u

export type Direction = 'ltr' | 'rtl'

/** Where a paragraph begins: by its first letter. */
export const directionOf = (text: string): Direction => (FIRST_STRONG.test(text) ? 'rtl' : 'ltr')

/** The level of each UTF-16 unit of a paragraph, odd where it runs from right to left; null where all are 0. */
export function levelsOf(text: string, direction: Direction): Uint8Array | null {
  if (direction === 'ltr' && !RIGHT_TO_LEFT.test(text)) return null
  return bidi.getEmbeddingLevels(text, direction).levels
}

/** The parts of one line as they are seen from left to right, by the level of each. */
export function inVisualOrder<Part>(parts: readonly Part[], levelOf: (part: Part) => number): Part[] {
  const order = [...parts]
  const highest = order.reduce((max, part) => Math.max(max, levelOf(part)), 0)
  for (let level = highest; level > 0; level--) {
    for (let from = 0; from < order.length; from++) {
      if (levelOf(order[from]!) < level) continue
      let end = from
      while (end < order.length && levelOf(order[end]!) >= level) end++
      order.splice(from, end - from, ...order.slice(from, end).reverse())
      from = end
    }
  }
  return order
}

/** Letters and digits that a font's own layout turns, whatever they are in. */
const TURNED =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\u0660-\u0669\u06f0-\u06f9]/u

/**
 * A stretch of one direction as it is given to the layout of a font, which turns words from right to left by itself,
 * and does it to digits too. Signs alone it does not turn; their brackets look the other way.
 */
export function asDrawn(text: string, level: number): string {
  const isTurned = TURNED.test(text)
  if (isTurned === (level % 2 === 1)) return text
  const letters = [...text].reverse()
  return (isTurned ? letters : letters.map((letter) => bidi.getMirroredCharacter(letter) ?? letter)).join('')
}
