/** Characters scanned between two turns of the event loop: some ten milliseconds of work. */
const PIECE_CHARS = 20_000
/** Overlap of neighbouring pieces, so that a sentence or two at a border is still found. */
const OVERLAP_CHARS = 1_000

/** A piece of a text, its start index, and the number of lines before it. */
export type Piece = { text: string; start: number; linesBefore: number }

/** Splits a text into overlapping pieces, at white space where possible. A short text is a single piece. */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = []
  let linesBefore = 0
  for (let start = 0; ; ) {
    const end = start + PIECE_CHARS < text.length ? cutBefore(text, start + PIECE_CHARS) : text.length
    pieces.push({ text: text.slice(start, end), start, linesBefore })
    if (end === text.length) return pieces
    const next = cutBefore(text, end - OVERLAP_CHARS)
    linesBefore += text.slice(start, next).split('\n').length - 1
    start = next
  }
}

/** The last white space before a place, if close enough; else the place itself, without splitting a surrogate pair. */
function cutBefore(text: string, index: number): number {
  const blank = Math.max(text.lastIndexOf(' ', index), text.lastIndexOf('\n', index))
  if (index - blank < OVERLAP_CHARS / 2) return blank
  return text.codePointAt(index - 1)! > 0xffff ? index - 1 : index
}
