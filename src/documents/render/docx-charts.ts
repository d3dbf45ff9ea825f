import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate'
import { randomBase62 } from '../../kernel/crypto'
import type { Chart } from '../blocks/model'
import { CHART_RELATION, CHART_TYPE, officeChart } from '../charts/office'

/** The marks of one document. They are random, so that no text that somebody wrote is taken for one. */
export const newMarks = (): Marks => {
  const secret = randomBase62(16)
  return (number) => `\ue000${secret}-${number}\ue001`
}
/** Stands where a chart will be put, as the library has no element for charts. */
type Marks = (number: number) => string

const EMU = 12_700
const CHART_EMU = { cx: 454 * EMU, cy: 250 * EMU }

/** Puts charts in their places, as parts of their own. */
export function withCharts(bytes: Uint8Array, charts: readonly Chart[], markOf: Marks): Uint8Array {
  if (!charts.length) return bytes
  const files = unzipSync(bytes)
  const read = (name: string) => strFromU8(files[name]!)
  let body = read('word/document.xml')
  const relations: string[] = []
  const types: string[] = []
  charts.forEach((chart, at) => {
    const [number, id] = [at + 1, `rIdChart${at + 1}`]
    files[`word/charts/chart${number}.xml`] = strToU8(officeChart(chart))
    relations.push(`<Relationship Id="${id}" Type="${CHART_RELATION}" Target="charts/chart${number}.xml"/>`)
    types.push(`<Override PartName="/word/charts/chart${number}.xml" ContentType="${CHART_TYPE}"/>`)
    body = body.replace(new RegExp(`<w:r>(?:(?!<w:r>).)*?${markOf(number)}.*?</w:r>`, 's'), () => drawing(id, number))
  })
  files['word/document.xml'] = strToU8(body)
  const grow = (name: string, end: string, more: string[]) => {
    files[name] = strToU8(read(name).replace(end, () => more.join('') + end))
  }
  grow('word/_rels/document.xml.rels', '</Relationships>', relations)
  grow('[Content_Types].xml', '</Types>', types)
  return zipSync(files)
}

const drawing = (id: string, number: number): string =>
  `<w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" distT="0" distB="0" distL="0" distR="0"><wp:extent cx="${CHART_EMU.cx}" cy="${CHART_EMU.cy}"/><wp:effectExtent l="0" t="0" r="0" b="0"/><wp:docPr id="${9_000 + number}" name="Chart ${number}"/><wp:cNvGraphicFramePr/><a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/chart"><c:chart xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" r:id="${id}"/></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>`
