import type { Content } from 'pdfmake/interfaces'

export const RULE = '#d5dae1'
export const TINT = '#f3f5f8'

type Frame = { fill: string | null; bar: string | null; whole?: boolean }

/** Content on a ground, or beside a bar. `whole` is not broken over pages. */
export function framed(content: Content, { fill, bar, whole = false }: Frame): Content {
  return {
    unbreakable: whole,
    table: { widths: ['*'], body: [[content]] },
    layout: {
      hLineWidth: () => 0,
      vLineWidth: (column) => (bar && column === 0 ? 2.5 : 0),
      vLineColor: () => bar ?? RULE,
      fillColor: () => fill,
      paddingLeft: () => 10,
      paddingRight: () => 10,
      paddingTop: () => (fill ? 8 : 2),
      paddingBottom: () => (fill ? 6 : 0),
    },
    margin: [0, 2, 0, 12],
  }
}
