/** Scripts that none of the fonts of a PDF has, by a word for them. Office programs bring fonts of their own. */
const WITHOUT_GLYPHS: readonly (readonly [string, RegExp])[] = [
  ['Chinese or Japanese', /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}/u],
  ['Korean', /\p{Script=Hangul}/u],
  ['Thai', /\p{Script=Thai}/u],
  ['Indian', /\p{Script=Devanagari}|\p{Script=Bengali}|\p{Script=Tamil}|\p{Script=Telugu}|\p{Script=Gujarati}/u],
]

/** What a reader of a PDF of this text will miss: a sentence, or none. */
export function missingIn(text: string): string[] {
  const missing = WITHOUT_GLYPHS.filter(([, letters]) => letters.test(text)).map(([name]) => name)
  if (!missing.length) return []
  return [
    `The fonts of PDFs here have no ${missing.join(', ')} letters, so these are boxes. Ask for docx or pptx, which show them.`,
  ]
}
