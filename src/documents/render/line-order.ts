// @ts-expect-error: the types of pdfmake describe its main module only
import Renderer from 'pdfmake/js/Renderer.js'
import { asDrawn, inVisualOrder } from '../../fonts'

type Inline = { text: string; x: number; width: number; level?: number }
type Line = { inlines: Inline[]; leadingCut: number; trailingCut: number; ordered?: true }
type Drawing = { renderLine(line: Line, x: number, y: number): void }

/**
 * pdfmake sets the words of a line as they are spoken. Before a line is drawn, words from right to left take the places
 * in which they are read.
 */
export function orderLines(): void {
  const drawing = (Renderer as { prototype: Drawing }).prototype
  const draw = drawing.renderLine
  drawing.renderLine = function renderLine(line, x, y) {
    order(line)
    draw.call(this, line, x, y)
  }
}

function order(line: Line): void {
  const { inlines } = line
  // Headers are drawn once for each page.
  if (line.ordered || !inlines.some(({ level }) => level)) return
  line.ordered = true
  line.inlines = inVisualOrder(inlines, ({ level = 0 }) => level)
  const isTurned = line.inlines[0] !== inlines[0]
  let at = isTurned ? -line.trailingCut : -line.leadingCut
  for (const inline of line.inlines) {
    inline.text = asDrawn(inline.text, inline.level ?? 0)
    inline.x = at
    at += inline.width
  }
}
