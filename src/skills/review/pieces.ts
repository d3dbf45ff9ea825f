/** Of a long text, so much is looked at between two turns of the event loop: some ten milliseconds of work. */
const PIECE_CHARS = 20_000
/** So far pieces reach into each other: what is found stands in a sentence or two. */
const OVERLAP_CHARS = 1_000

/** A stretch of a text, where it begins, and how many lines stand before it. */
export type Piece = { text: string; start: number; linesBefore: number }

/** A text in pieces that overlap, cut between words where there are any; a short one is its own only piece. */
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

/** The nearest blank before a place, else the place itself, but never between the halves of one character. */
function cutBefore(text: string, place: number): number {
  const blank = Math.max(text.lastIndexOf(' ', place), text.lastIndexOf('\n', place))
  if (place - blank < OVERLAP_CHARS / 2) return blank
  return text.codePointAt(place - 1)! > 0xffff ? place - 1 : place
}
