import { type Column, isNumeric } from './columns'

type Room = {
  /** Columns of the terminal. Null leaves every cell whole (a pipe). */
  width: number | null
  /** True if columns may be omitted when even cut cells do not fit. */
  mayDrop: boolean
}

/** Indexes of the shown columns, and the width of each column. */
export type Layout = { shown: readonly number[]; widths: readonly number[] }

const GAP = 2
/** A text cut below this width is useless. */
const NARROWEST = 8

/**
 * Makes lines fit. Cuts texts, the widest first. Then omits the least important columns, the last first. Ids, numbers
 * and times are shown whole or not at all, because a part of them cannot be used (docs/operating.md 2.4).
 */
export function layOut(columns: readonly Column[], widths: readonly number[], { width, mayDrop }: Room): Layout {
  const shown = columns.map((_, at) => at)
  if (width === null) return { shown, widths }
  const narrowest = columns.map((column, at) =>
    column.keep === true || column.kind === 'time' || isNumeric(column)
      ? widths[at]!
      : Math.min(widths[at]!, NARROWEST),
  )
  while (mayDrop && shown.length > 1 && lineOf(shown.map((at) => narrowest[at]!)) > width) {
    shown.splice(
      shown.findLastIndex((at) => columns[at]!.min),
      1,
    )
  }
  const fitted = [...widths]
  while (lineOf(shown.map((at) => fitted[at]!)) > width) {
    const spare = shown.filter((at) => fitted[at]! > narrowest[at]!)
    if (!spare.length) break
    fitted[spare.reduce((widest, at) => (fitted[at]! > fitted[widest]! ? at : widest))]! -= 1
  }
  return { shown, widths: fitted }
}

const lineOf = (widths: readonly number[]): number =>
  widths.reduce((sum, width) => sum + width, GAP * (widths.length - 1))

/** The widest cell of each column. */
export const widthsOf = (columns: readonly Column[], lines: readonly (readonly string[])[]): number[] =>
  columns.map((_, at) => Math.max(0, ...lines.map((line) => Bun.stringWidth(line[at] ?? ''))))

/** Formatted cells as lines: two spaces between columns, numbers right-aligned, no boxes (docs/operating.md 2.4). */
export const linesOf = (
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  layout: Layout,
  cut: string,
): string[] =>
  rows.map((row) =>
    layout.shown
      .map((at) => {
        const [text, width] = [row[at] ?? '', layout.widths[at]!]
        const shown =
          Bun.stringWidth(text) > width ? `${Bun.sliceAnsi(text, 0, Math.max(0, width - cut.length))}${cut}` : text
        const pad = ' '.repeat(Math.max(0, width - Bun.stringWidth(shown)))
        return isNumeric(columns[at]!) ? pad + shown : shown + pad
      })
      .join(' '.repeat(GAP))
      .trimEnd(),
  )

/** `NAME   value` lines for one record. */
export function record(pairs: readonly (readonly [string, string])[]): string[] {
  const widest = Math.max(0, ...pairs.map(([name]) => Bun.stringWidth(name)))
  return pairs.map(([name, value]) => `${name}${' '.repeat(widest - Bun.stringWidth(name) + GAP)}${value}`.trimEnd())
}
