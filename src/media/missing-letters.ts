/** Scripts that at least one installed font covers. */
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

/** Names of the scripts in a text that no font here covers. Linear. */
export function missingIn(text: string): string[] {
  const missing = new Set<string>()
  for (const [letter] of text.matchAll(/\p{L}/gu)) {
    if (!COVERED.test(letter)) missing.add(NAMES.find(([, letters]) => letters.test(letter))?.[0] ?? 'some other')
  }
  return [...missing]
}
