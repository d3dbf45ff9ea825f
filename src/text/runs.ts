/** Whether a unit is in the class. 0 until the first lookup. */
const IN = 1
const OUT = 2

/** Whether a UTF-16 unit matches `unit`, using a table because a regular expression is many times slower. */
export function unitsOf(unit: RegExp): (code: number) => boolean {
  const kinds = new Uint8Array(1 << 16)
  return (code) => {
    kinds[code] ||= unit.test(String.fromCharCode(code)) ? IN : OUT
    return kinds[code] === IN
  }
}

/**
 * Finds runs of at least `min` units that match `unit`, as the expression `unit{min,}` would, and returns start and end
 * offsets as a flat list. Several times faster than that expression, because units are looked up in a table, and
 * matches create no objects.
 */
export function runsOf(unit: RegExp, min: number): (text: string) => number[] {
  const isOf = unitsOf(unit)
  return (text) => {
    const runs: number[] = []
    let start = 0
    while (start + min <= text.length) {
      // Backwards from the end of the shortest run, because one unit outside the class rules out all starts before it.
      let at = start + min - 1
      while (at >= start && isOf(text.charCodeAt(at))) at--
      if (at >= start) {
        start = at + 1
        continue
      }
      let end = start + min
      while (end < text.length && isOf(text.charCodeAt(end))) end++
      runs.push(start, end)
      start = end + 1
    }
    return runs
  }
}

/**
 * Caches the result for the last text, because the rules of a policy read the same text one after another. A result is
 * only ever returned for the same text, so nothing leaks between tenants.
 */
export function remember<Out>(read: (text: string) => Out): (text: string) => Out {
  let last: { text: string; out: Out } | undefined
  return (text) => {
    if (last?.text !== text) last = { text, out: read(text) }
    return last.out
  }
}

/**
 * Whether the underscores at `at` mark emphasis, as in `_word_`, and are not part of a name such as `my_word`: there is
 * no letter or digit on their other side, in the direction of `step` (1 or -1).
 */
export function isEmphasis(text: string, at: number, step: 1 | -1): boolean {
  if (text[at] !== '_') return false
  let beyond = at + step
  while (text[beyond] === '_' && Math.abs(beyond - at) < 3) beyond += step
  return !/[\p{L}\p{N}\p{M}_]/u.test(text[beyond] ?? ' ')
}

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
