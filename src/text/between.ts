/** What is between two marks: where it begins and ends with its marks, in UTF-16 offsets, and what is inside. */
export type Between = { start: number; end: number; inner: string }

/**
 * The texts between a mark of `open` and the next mark of `close`, from left to right; marks are single characters. One
 * pass: `["“]([^"”]+)["”]` reads on to the end of the text from each mark that is never closed.
 */
export function* between(text: string, open: string, close: string, min = 1): Generator<Between> {
  let closed = 0
  for (let at = 0; at < text.length; at++) {
    if (!open.includes(text[at]!)) continue
    while (closed <= at || !close.includes(text[closed]!)) if (++closed >= text.length) return
    if (closed - at - 1 < min) continue
    yield { start: at, end: closed + 1, inner: text.slice(at + 1, closed) }
    at = closed
  }
}
