import type { Line, Tone } from '../../../tui/draw/line'

const CELL = { width: 8.4, height: 18 }
/** For readers of dark and of light pages. */
export type Look = { paper: string; ink: string; tones: Readonly<Record<Tone, string>> }

const DARK_TONES: Look['tones'] = {
  good: '#56b6c2',
  warn: '#e5c07b',
  bad: '#ff6b6b',
  retry: '#d68fef',
  dim: '#8b93a1',
  strong: '#ffffff',
}

export const DARK: Look = { paper: '#16181d', ink: '#d7dae0', tones: DARK_TONES }
export const LIGHT: Look = {
  paper: '#fafafa',
  ink: '#24292f',
  tones: { good: '#0b6b78', warn: '#8a5a00', bad: '#b3261e', retry: '#8031a7', dim: '#5b6472', strong: '#000000' },
}

/** A picture of the dashboard as an SVG file, cell by cell as a terminal shows it. */
export function svgOf(rows: readonly Line[], columns: number, says: string, look: Look = DARK): string {
  const size = { width: Math.ceil(columns * CELL.width) + 24, height: rows.length * CELL.height + 24 }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" role="img" aria-label="${escaped(says)}">`,
    `<rect width="100%" height="100%" rx="8" fill="${look.paper}"/>`,
    `<g font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14">`,
    ...rows.flatMap((row, at) => rowOf(row, at, look)),
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}

function rowOf(row: Line, at: number, { paper, ink, tones }: Look): string[] {
  let cell = 0
  const y = 12 + at * CELL.height
  return row.flatMap(({ text, tone, inverse }) => {
    const start = cell
    cell += Bun.stringWidth(text)
    const color = tone ? tones[tone] : ink
    const bold = tone === 'strong' ? ' font-weight="700"' : ''
    const behind = inverse
      ? [
          `<rect x="${placeOf(start)}" y="${y}" width="${fixed(Bun.stringWidth(text))}" height="${CELL.height}" fill="${color}"/>`,
        ]
      : []
    // Blanks at the ends and next to one another are lost in an SVG, so each run of words has its place.
    const words = [...text.matchAll(/\S+(?: \S+)*/g)].map(({ 0: run, index }) => {
      const length = ` textLength="${fixed(Bun.stringWidth(run))}" lengthAdjust="spacingAndGlyphs"`
      const x = placeOf(start + Bun.stringWidth(text.slice(0, index)))
      return `<text x="${x}" y="${y + 13}" fill="${inverse ? paper : color}"${bold}${length}>${escaped(run)}</text>`
    })
    return [...behind, ...words]
  })
}

const fixed = (cells: number): string => (cells * CELL.width).toFixed(1)
const placeOf = (cell: number): string => (12 + cell * CELL.width).toFixed(1)
const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign]!)
