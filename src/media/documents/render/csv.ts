import { CSV_BEGIN, csvLines } from '../../../kernel/csv'
import { type Block, type Document, flatBlocks, plain, withAddresses } from '../blocks-model'

type Records = string[][]

/**
 * Renders a document as CSV: its tables, joined if they have the same header, else its chart data, else its text by
 * section. No cell starts a formula (docs/attacks.md F7).
 */
export function renderCsv({ blocks }: Document): Uint8Array {
  const all = flatBlocks(blocks)
  const tables = all.flatMap((block) =>
    block.type === 'table' ? [[block.header, ...block.rows].map((row) => row.map(withAddresses))] : [],
  )
  const charts = all
    .filter((block) => block.type === 'chart')
    .map(({ labels, series }) => [
      ['', ...series.map(({ name }) => name)],
      ...labels.map((label, at) => [label, ...series.map(({ values }) => String(values[at] ?? ''))]),
    ])
  const parts = tables.length || charts.length ? joined(tables.length ? tables : charts) : [sections(all)]
  return new TextEncoder().encode(CSV_BEGIN + parts.map(csvLines).join('\r\n'))
}

/** Joins tables with the same header. */
function joined(tables: readonly Records[]): Records[] {
  const parts: Records[] = []
  for (const [header = [], ...rows] of tables) {
    const same = parts.find(
      ([first]) => first!.length === header.length && first!.every((name, at) => name === header[at]),
    )
    if (same) same.push(...rows)
    else parts.push([header, ...rows])
  }
  return parts
}

/** Each paragraph with the heading above it. */
function sections(all: readonly Block[]): Records {
  const rows: Records = [['Section', 'Text']]
  let section = ''
  for (const block of all) {
    if (block.type === 'heading') section = plain(block.text)
    else if (block.type === 'paragraph') rows.push([section, withAddresses(block.text)])
    else if (block.type === 'code') rows.push([section, block.text])
  }
  return rows
}
