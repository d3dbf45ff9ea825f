import { FALLBACK_FONTS, type Fallback, hasGlyphs } from './families'
import { fallbacksFor } from './scripts'

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
