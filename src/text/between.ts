/** The text between two marks: its offsets including the marks (UTF-16), and the inner text. */
export type Between = { start: number; end: number; inner: string }

/**
 * The texts between a mark of `open` and the next mark of `close`, from left to right. Marks are single characters.
 * Takes one pass, unlike `["“]([^"”]+)["”]`, which reads to the end of the text from each unclosed mark.
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
