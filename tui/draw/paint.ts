import type { Line, Tone } from './line'

const CODES: Readonly<Record<Tone, string>> = { good: '36', warn: '33', bad: '91', retry: '95', dim: '2', strong: '1' }

/** How lines become text for the terminal. */
type Look = { color: boolean; ascii: boolean }

/** One row with its colours; without colour the choice is still inverse, which is none (dx 3.1). */
export function paint(spans: Line, { color, ascii }: Look): string {
  return spans
    .map(({ text, tone, inverse }) => {
      const codes = [color && tone ? CODES[tone] : null, inverse ? '7' : null].filter((code) => code !== null)
      const shown = ascii ? toAscii(text) : text
      return codes.length && shown ? `\u001b[${codes.join(';')}m${shown}\u001b[0m` : shown
    })
    .join('')
}

/** Each of our own signs in one cell of ASCII, so that nothing moves; what others wrote becomes `?`. */
const SIGNS: Readonly<Record<string, string>> = Object.fromEntries(
  ['✓+', '◐~', '….', '✗x', '↻^', '●*', '○o', '▸>', '─-', '│|', '█#', '░.', '·.', '–-', '→>', '¢c', '▼v', '▲^'].map(
    (pair) => [...pair],
  ),
)
const MORE: Readonly<Record<string, string>> = {
  '↑': '^',
  '↓': 'v',
  '⏎': '<',
  '⇥': '>',
  '“': '"',
  '”': '"',
  '’': "'",
  '∞': '-',
  '▾': 'v',
  '┤': '+',
  '├': '+',
  '┌': '+',
  '┐': '+',
  '└': '+',
  '┘': '+',
  '┬': '+',
  '┴': '+',
  '┼': '+',
}
const LEVELS = ' .:-=+*#'
const EIGHTHS = '▁▂▃▄▅▆▇█'
const PARTS = '▏▎▍▌▋▊▉'

const toAscii = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: everything that is not ASCII
  text.replace(/[^\x00-\x7f]/gu, (sign) => {
    const known = SIGNS[sign] ?? MORE[sign]
    if (known) return known
    if (EIGHTHS.includes(sign)) return LEVELS[EIGHTHS.indexOf(sign)]!
    if (PARTS.includes(sign)) return '='
    return '?'.repeat(Math.max(1, Bun.stringWidth(sign)))
  })
