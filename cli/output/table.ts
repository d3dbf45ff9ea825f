import { type Column, isNumeric } from './columns'

type Layout = {
  headers: boolean
  /** Cells are cut with `…` to fit; null leaves them whole (output to a pipe). */
  width: number | null
}

const GAP = '  '
const NARROWEST = 6

/** Formats cells as lines: two spaces between columns, numbers right-aligned, no boxes (dx 2.4). */
export function table(columns: readonly Column[], rows: readonly string[][], { headers, width }: Layout): string[] {
  const lines = headers ? [columns.map(({ header }) => header), ...rows] : [...rows]
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => Bun.stringWidth(line[at] ?? '')), 0))
  const fitted = width === null ? widths : fit(widths, width)
  return lines.map((line) =>
    columns
      .map((column, at) => place(line[at] ?? '', fitted[at]!, isNumeric(column)))
      .join(GAP)
      .trimEnd(),
  )
}

/** `NAME   value` lines for one record. */
export function record(pairs: readonly (readonly [string, string])[]): string[] {
  const widest = Math.max(0, ...pairs.map(([name]) => Bun.stringWidth(name)))
  return pairs.map(([name, value]) => `${place(name, widest, false)}${GAP}${value}`.trimEnd())
}

/** Narrows the widest column until the line fits or all columns have their minimal width. */
function fit(widths: readonly number[], room: number): number[] {
  const fitted = [...widths]
  const total = () => fitted.reduce((sum, width) => sum + width, 0) + GAP.length * (fitted.length - 1)
  while (total() > room) {
    const widest = fitted.indexOf(Math.max(...fitted))
    if (fitted[widest]! <= NARROWEST) break
    fitted[widest]! -= 1
  }
  return fitted
}

function place(text: string, width: number, right: boolean): string {
  const shown = Bun.stringWidth(text) > width ? `${Bun.sliceAnsi(text, 0, width - 1)}…` : text
  const pad = ' '.repeat(Math.max(0, width - Bun.stringWidth(shown)))
  return right ? pad + shown : shown + pad
}
