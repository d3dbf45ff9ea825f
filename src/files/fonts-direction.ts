import bidiFactory from 'bidi-js'

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

/** Letters and digits that a font's own layout turns, whatever they stand in. */
const TURNED =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\u0660-\u0669\u06f0-\u06f9]/u

/**
 * A stretch of one direction as it is given to the layout of a font, which turns words from right to left by itself, and
 * does it to digits too. Signs alone it does not turn; their brackets look the other way.
 */
export function asDrawn(text: string, level: number): string {
  const isTurned = TURNED.test(text)
  if (isTurned === (level % 2 === 1)) return text
  const letters = [...text].reverse()
  return (isTurned ? letters : letters.map((letter) => bidi.getMirroredCharacter(letter) ?? letter)).join('')
}
