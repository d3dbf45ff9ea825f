import type { Fallback } from './families'

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

/** The fonts to look into for a letter, or a group of them that is one sign, that the usual font lacks. */
export function fallbacksFor(sign: string): Fallback[] {
  const found = FONT_FOR.filter(([, letters]) => letters.test(sign)).map(([family]) => family)
  return [...found, 'Wide', ...(found.includes('Han') ? (['Korean'] as const) : []), 'Emoji']
}

/** Alphabets that some font here has. */
const COVERED =
  /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gujarati}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Thai}\p{Script=Lao}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Hangul}\p{Script=Common}\p{Script=Inherited}]/u

const NAMES: readonly (readonly [string, RegExp])[] = [
  ['Kannada', /\p{Script=Kannada}/u],
  ['Malayalam', /\p{Script=Malayalam}/u],
  ['Punjabi', /\p{Script=Gurmukhi}/u],
  ['Odia', /\p{Script=Oriya}/u],
  ['Sinhala', /\p{Script=Sinhala}/u],
  ['Khmer', /\p{Script=Khmer}/u],
  ['Burmese', /\p{Script=Myanmar}/u],
  ['Tibetan', /\p{Script=Tibetan}/u],
  ['Ethiopic', /\p{Script=Ethiopic}/u],
  ['Mongolian', /\p{Script=Mongolian}/u],
]

/** Alphabets of a text that no font here has, by a word for each; in linear time. */
export function missingIn(text: string): string[] {
  const missing = new Set<string>()
  for (const [letter] of text.matchAll(/\p{L}/gu)) {
    if (!COVERED.test(letter)) missing.add(NAMES.find(([, letters]) => letters.test(letter))?.[0] ?? 'some other')
  }
  return [...missing]
}
