import type { Line, Tone } from '../../../tui/draw/line'

const CELL = { width: 8.4, height: 18 }
const COLORS: Readonly<Record<Tone, string>> = {
  good: '#56b6c2',
  warn: '#e5c07b',
  bad: '#ff6b6b',
  retry: '#d68fef',
  dim: '#8b93a1',
  strong: '#ffffff',
}
const [PAPER, INK] = ['#16181d', '#d7dae0']

/** A picture of the dashboard as an SVG file, cell by cell as a terminal shows it. */
export function svgOf(rows: readonly Line[], columns: number, says: string): string {
  const size = { width: Math.ceil(columns * CELL.width) + 24, height: rows.length * CELL.height + 24 }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" role="img" aria-label="${escaped(says)}">`,
    `<rect width="100%" height="100%" rx="8" fill="${PAPER}"/>`,
    `<g font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14">`,
    ...rows.flatMap((row, at) => rowOf(row, at)),
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}

function rowOf(row: Line, at: number): string[] {
  let cell = 0
  const y = 12 + at * CELL.height
  return row.flatMap(({ text, tone, inverse }) => {
    const start = cell
    cell += Bun.stringWidth(text)
    const color = tone ? COLORS[tone] : INK
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
      return `<text x="${x}" y="${y + 13}" fill="${inverse ? PAPER : color}"${bold}${length}>${escaped(run)}</text>`
    })
    return [...behind, ...words]
  })
}

const fixed = (cells: number): string => (cells * CELL.width).toFixed(1)
const placeOf = (cell: number): string => (12 + cell * CELL.width).toFixed(1)
const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign]!)
