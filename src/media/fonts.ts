import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import bidiFactory from 'bidi-js'
import { create, type Font } from 'fontkit'

const fileOf = (path: string): string => Bun.resolveSync(path, import.meta.dir)

/** Font files for characters that a Latin font lacks. `Wide` covers most other scripts and symbols. */
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

/** Characters that modify their neighbours and need no glyph of their own. */
const JOINED = /[\p{M}\p{Cf}\s]/u

/** Which font to try first for a letter, so that no font is opened needlessly. */
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

/** A run of text in one font and one direction, in logical order. */
export type Piece<Family extends string> = { text: string; family: Family | Fallback; level: number }

type Wanted<Family extends string> = { family: Family; has: (sign: string) => boolean }

const BASIC = /^[\x20-\x7e\n\u00a0-\u00ff\u2013\u2014\u2018-\u201d\u2022\u2026\u20ac]*$/
const EMOJI = /\p{Emoji_Presentation}|\ufe0f/u
const signs = new Intl.Segmenter('und', { granularity: 'grapheme' })

/**
 * Splits a paragraph into runs of one font and one direction. Each run uses the wanted font or the first fallback with
 * its characters. Characters that no font has stay with the wanted font.
 * @param wanted The preferred font, and whether it has a character.
 * @param levels The result of {@link levelsOf}.
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
    // A space stays with the word before it, so that words of one script form one run. The emoji space is too wide.
    const joins = segment === ' ' && last?.level === level && last.family !== 'Emoji'
    const isWanted = !EMOJI.test(segment) && wanted.has(segment)
    const family = joins ? last.family : isWanted ? wanted.family : (fallbackFor(segment) ?? wanted.family)
    if (last?.family === family && last.level === level) last.text += segment
    else pieces.push({ text: segment, family, level })
  }
  return pieces
}

/** The first fallback font that has a character, or null. */
export function fallbackFor(sign: string): Fallback | null {
  const found = FONT_FOR.filter(([, letters]) => letters.test(sign)).map(([family]) => family)
  const fonts: Fallback[] = [...found, 'Wide', ...(found.includes('Han') ? (['Korean'] as const) : []), 'Emoji']
  return fonts.find((family) => hasGlyphs(FALLBACK_FONTS[family].normal, sign)) ?? null
}

/** The graphemes of a text: letters with their marks, emoji of several parts. */
export const signsIn = (text: string): string[] => [...signs.segment(text)].map(({ segment }) => segment)

/** A Noto font family, whose files are named by weight. */
function noto(name: string) {
  const folder = name.replace(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()
  const weight = (of: string) => fileOf(`@expo-google-fonts/${folder}/${of}/${name}_${of}.ttf`)
  return { normal: weight('400Regular'), bold: weight('700Bold') }
}

/** These packages export only their module. The fonts are in a folder next to it. */
function eastAsian(module: string, name: string) {
  const weight = (of: string) => join(dirname(fileOf(module)), '../fonts', `${name}-${of}.otf`)
  return { normal: weight('Regular'), bold: weight('Bold') }
}

/** Opens a font once per thread. */
export const fontOf = (file: string): Font => opened.getOrInsertComputed(file, () => create(readFileSync(file)) as Font)

/** Whether a font has a glyph for each letter of a text. */
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

/** The direction of a paragraph, determined by its first letter. */
export const directionOf = (text: string): Direction => (FIRST_STRONG.test(text) ? 'rtl' : 'ltr')

/** The bidi level of each UTF-16 unit of a paragraph, odd for right-to-left text. Null if all levels are 0. */
export function levelsOf(text: string, direction: Direction): Uint8Array | null {
  if (direction === 'ltr' && !RIGHT_TO_LEFT.test(text)) return null
  return bidi.getEmbeddingLevels(text, direction).levels
}

/** The parts of a line in visual order from left to right, by the bidi level of each. */
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

/** Letters and digits that the font layout always reverses. */
const TURNED =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\u0660-\u0669\u06f0-\u06f9]/u

/**
 * Prepares a run of one direction for the font layout, which reverses right-to-left words by itself, including digits.
 * The layout does not reverse runs of symbols, so these are reversed and mirrored here.
 */
export function asDrawn(text: string, level: number): string {
  const isTurned = TURNED.test(text)
  if (isTurned === (level % 2 === 1)) return text
  const letters = [...text].reverse()
  return (isTurned ? letters : letters.map((letter) => bidi.getMirroredCharacter(letter) ?? letter)).join('')
}
