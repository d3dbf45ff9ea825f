import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { create, type Font } from 'fontkit'

const fileOf = (path: string): string => Bun.resolveSync(path, import.meta.dir)

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

/** Files of the fonts for what a Latin font does not have. The widest comes last: it has most other alphabets and signs. */
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

/** An opened font; a thread opens each once. */
export function fontOf(file: string): Font {
  const known = opened.get(file)
  if (known) return known
  const font = create(readFileSync(file)) as Font
  opened.set(file, font)
  return font
}

/** Signs that change their neighbours and need no glyph of their own. */
const JOINED = /[\p{M}\p{Cf}\s]/u

/** Whether a font has each letter of a text. */
export function hasGlyphs(file: string, text: string): boolean {
  const font = fontOf(file)
  for (const letter of text)
    if (!JOINED.test(letter) && !font.hasGlyphForCodePoint(letter.codePointAt(0)!)) return false
  return true
}
