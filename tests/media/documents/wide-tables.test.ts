import { expect, setDefaultTimeout, test } from 'bun:test'
import { renderDocx } from '../../../src/media/documents/render/docx'
import { renderPptx } from '../../../src/media/documents/render/pptx'
import { documentOf, hasOffice, opened } from './support'

// Another program opens the files, perhaps beside much else.
setDefaultTimeout(60_000)

const NAMES = [
  ...['Order no.', 'Ordered on', 'Delivered', 'Article', 'Quantity', 'Unit price', 'Discount', 'Net sum', 'Tax'],
  ...['Gross sum', 'Department', 'Buyer'],
]
const CELLS = [
  ...['BE-2026-417', '2026-05-11', '2026-05-29', 'Workbench', '1,250', '2,350.75', '7.5%', '2,711,804.69'],
  ...['515,242.89', '3,227,047.58', 'Maintenance', 'Rasmussen'],
]
const line = (cells: string[]) => `| ${cells.join(' | ')} |`

test.if(hasOffice).each(['docx', 'pptx'] as const)('breaks no word or number of twelve columns: %s', async (format) => {
  const table = [line(NAMES), line(NAMES.map(() => '---')), line(CELLS)].join('\n')
  const document = documentOf(`# Orders of May\n\n${table}\n`)
  const text = await opened(await { docx: renderDocx, pptx: renderPptx }[format](document), format)
  for (const word of [...NAMES.flatMap((name) => name.split(' ')), ...CELLS]) expect(text).toContain(word)
})
