/** Whether a unit is in the class; 0 until it was looked up. */
const IN = 1
const OUT = 2

/** Tells whether a UTF-16 unit matches `unit`, by a table: an expression takes many times as long. */
export function unitsOf(unit: RegExp): (code: number) => boolean {
  const kinds = new Uint8Array(1 << 16)
  return (code) => {
    kinds[code] ||= unit.test(String.fromCharCode(code)) ? IN : OUT
    return kinds[code] === IN
  }
}

/**
 * Finds runs of at least `least` units that match `unit`, as the expression `unit{least,}` would, and answers start and
 * end offsets as a flat list. Several times as fast as that expression: units are looked up in a table, and matches
 * make no objects.
 */
export function runsOf(unit: RegExp, min: number): (text: string) => number[] {
  const isOf = unitsOf(unit)
  return (text) => {
    const runs: number[] = []
    let start = 0
    while (start + min <= text.length) {
      // Backwards from the last unit of the shortest run: one outside the class rules out every start before it.
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
 * Caches the result for the last text, because the rules of a policy read the same text one after another. A result
 * is only ever returned for the same text, so nothing leaks between tenants.
 */
export function remember<Out>(read: (text: string) => Out): (text: string) => Out {
  let last: { text: string; out: Out } | undefined
  return (text) => {
    if (last?.text !== text) last = { text, out: read(text) }
    return last.out
  }
}

/**
 * Whether the underscores at `at` are marks of emphasis, as in `_word_`, and no part of a name such as `my_word`: on
 * their other side, to which `step` (1 or -1) leads, stands no letter and no digit.
 */
export function isEmphasis(text: string, at: number, step: 1 | -1): boolean {
  if (text[at] !== '_') return false
  let beyond = at + step
  while (text[beyond] === '_' && Math.abs(beyond - at) < 3) beyond += step
  return !/[\p{L}\p{N}\p{M}_]/u.test(text[beyond] ?? ' ')
}
