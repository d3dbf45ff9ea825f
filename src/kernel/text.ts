/** Removes what could act on a terminal or reorder a line: control characters, escapes, bidi overrides (dx 2.4). */
export const clean = (text: string): string =>
  Bun.stripANSI(text).replace(/[^\P{Cc}\t\n]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu, '·')

/** The first `max` characters, never half a surrogate pair, with an ellipsis when something was cut. */
export function shorten(text: string, max: number): string {
  if (text.length <= max) return text
  const cut = text.slice(0, max - 1)
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`
}
