/** A word, and whether a blank stands before it when both share a line. */
type Word = { text: string; isApart: boolean }

/** Alphabets that write words without blanks between them. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
const segments = new Intl.Segmenter('und', { granularity: 'word' })

/** The words of a text, between which a line may end. */
export const wordsIn = (text: string): Word[] =>
  text
    .split(/\s+/)
    .filter(Boolean)
    .flatMap((word) => {
      const parts: string[] = []
      for (const { segment, isWordLike } of UNSPACED.test(word)
        ? segments.segment(word)
        : [{ segment: word, isWordLike: true }]) {
        // No line begins with a comma.
        if (isWordLike || !parts.length) parts.push(segment)
        else parts[parts.length - 1] += segment
      }
      return parts.map((part, at) => ({ text: part, isApart: at === 0 }))
    })

/** Words in lines; one that fits no line has one of its own. */
export function linesOf(words: readonly Word[], fits: (line: string) => boolean): string[] {
  const lines: string[] = []
  for (const { text, isApart } of words) {
    const last = lines.at(-1)
    const longer = last === undefined ? text : `${last}${isApart ? ' ' : ''}${text}`
    if (last !== undefined && fits(longer)) lines[lines.length - 1] = longer
    else lines.push(text)
  }
  return lines
}
