import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import { strFromU8, unzipSync } from 'fflate'
import { createWorkerPool } from '../../../src/kernel/worker-pool'
import { readMarkdown } from '../../../src/media/documents/blocks-markdown'
import { renderCsv } from '../../../src/media/documents/render/csv'
import { renderDocx } from '../../../src/media/documents/render/docx'
import { renderPdf } from '../../../src/media/documents/render/pdf'
import { renderPptx } from '../../../src/media/documents/render/pptx'
import type { Rendered, RenderInput } from '../../../src/media/documents/render/render.worker.ts'
import { renderXlsx } from '../../../src/media/documents/render/xlsx'
import { createRendering } from '../../../src/media/documents/rendering'
import { documentOf, EVERYTHING, hasOffice, hasPdftotext, opened, pdfText } from './support'

const everything = documentOf(EVERYTHING)
const PATIENCE_MS = 120_000
// Fonts and other programs are opened for the first time, perhaps beside much else.
setDefaultTimeout(PATIENCE_MS)

if (!hasPdftotext) process.stdout.write('no pdftotext here: PDFs are not read back\n')
if (!hasOffice) process.stdout.write('no soffice here: Office files are not opened by another program\n')

/** Digests of PDFs that one process draws, one after the other. */
async function drawnIn(texts: readonly string[]): Promise<string[]> {
  const script = new URL('../../../src/media/documents/render/render.worker.ts', import.meta.url)
  const pool = createWorkerPool<RenderInput, Rendered>({ script, max: 1, idleMs: 0 })
  const about = {
    format: 'pdf',
    title: 'T',
    createdAt: 0,
    pictures: new Map(),
  } as const
  const limits = { timeoutMs: PATIENCE_MS, signal: new AbortController().signal }
  const drawn = await Promise.all(texts.map((markdown) => pool.run({ ...about, markdown }, limits)))
  return drawn.map(({ bytes }) => Bun.hash(bytes).toString(16))
}

test.each([
  ['docx', renderDocx],
  ['pptx', renderPptx],
  ['xlsx', renderXlsx],
] as const)('a %s has no character that XML has no place for', async (_, render) => {
  const odd = '\u0007\u000b\u001b\ufffe\uffff\ud800&#7;&#xFFFE;'
  const chart = `\`\`\`chart\ntype: bar\ntitle: T${odd}t\nx,y\na${odd}b,1\n\`\`\``
  const text = `# Ti${odd}tle\n\nFirst${odd} 😀 line\n\n- en${odd}try\n\n| a${odd} | b |\n|--|--|\n| x${odd}y | 1 |\n\n${chart}`
  for (const [name, bytes] of Object.entries(unzipSync(await render(documentOf(text))))) {
    if (!/\.(xml|rels)$/.test(name)) continue
    const xml = strFromU8(bytes)
    expect({
      name,
      xml: xml.match(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]|&#x?(7|fffe);/giu),
    }).toEqual({ name, xml: null })
  }
})

describe('a PDF', () => {
  test('has the bytes it would have alone, whatever its thread has drawn before', async () => {
    const texts = [EVERYTHING, '港口 **항구** بحر', 'Кириллица\u00a0р, *slanted*', 'A paragraph - of plain\u00adLatin.']
    const alone = await Promise.all(texts.map(async (text) => (await drawnIn([text]))[0]!))
    expect(await drawnIn(texts)).toEqual(alone)
    expect(await drawnIn(texts.toReversed())).toEqual(alone.toReversed())
  })

  test.if(hasPdftotext)('has the words of the document, page numbers and its title on later pages', async () => {
    const long = documentOf(`${EVERYTHING}\n\n${'A paragraph of some length. '.repeat(40)}\n\n`.repeat(4))
    const text = await pdfText(await renderPdf(long))
    const pages = text.split('\f')
    expect(pages.length).toBeGreaterThan(4)
    for (const words of [
      'Annual Report',
      'bold words',
      'Ελληνικά, Кириллица',
      '→ ✓',
      'nested entry two',
      '=SUM(A1:A3)',
    ]) {
      expect(pages[0]).toContain(words)
    }
    expect(text).toContain('def total(rows):\n')
    expect(text).toContain('1,310,500')
    expect(text).toContain('Revenue chart')
    expect(pages[1]).toContain('Annual Report')
    expect(pages[1]).toMatch(/2 ?\/ ?\d+/)
  })

  test.if(hasPdftotext)('takes any alphabet, signs without a glyph, and words without an end', async () => {
    const odd = documentOf(
      `# 漢字 😀\n\nשלום עולם مرحبا 漢字かな 한국어 👩‍👩‍👧 \u0301 \u202e ${'x'.repeat(3_000)}\n\n|${'c|'.repeat(20)}\n|${'-|'.repeat(20)}\n|${'cell|'.repeat(20)}`,
    )
    expect(await pdfText(await renderPdf(odd))).toContain('xxxxxxxx')
  })

  test('is the same for the same document, and says nothing of this machine', async () => {
    const [first, second] = [await renderPdf(everything), await renderPdf(everything)]
    expect(Buffer.from(first).equals(Buffer.from(second))).toBe(true)
    expect(Buffer.from(first).toString('latin1')).not.toContain(process.cwd())
  })

  test('opens no file and no address that a document names', async () => {
    const request = documentOf('![a](/etc/passwd) ![b](http://127.0.0.1:9/x.png) ![c](file:///etc/passwd)')
    const bytes = await renderPdf(request)
    if (hasPdftotext) expect(await pdfText(bytes)).toContain('[a]')
    expect(Buffer.from(bytes).toString('latin1')).not.toContain('root:')
  })
})

describe('Office files', () => {
  const words = [
    'bold words',
    'Ελληνικά, Кириллица',
    'nested entry two',
    '=SUM(A1:A3)',
    'Revenue chart',
    'The last words of it.',
  ]

  test.if(hasOffice).each([
    ['docx', renderDocx],
    ['pptx', renderPptx],
  ] as const)(
    'a %s opens in LibreOffice with all that was said',
    async (format, render) => {
      const text = await opened(await render(everything), format)
      for (const word of ['Annual Report', ...words]) expect(text).toContain(word)
      expect(text).toMatch(/def total\(rows\):/)
    },
    PATIENCE_MS,
  )

  test.if(hasOffice)(
    'an xlsx opens in LibreOffice with typed cells, and no text becomes a formula',
    async () => {
      const rows = parse(await opened(await renderXlsx(everything), 'xlsx')) as string[][]
      expect(rows[0]).toEqual(['Quarter', 'Revenue', 'Growth', 'Date', 'Comment'])
      expect(rows[2]).toEqual(['Q2 2026', '1,310,500', '-1.2%', '2026-06-30', '=SUM(A1:A3)'])
    },
    PATIENCE_MS,
  )

  test('no sheet has the name that spreadsheets keep for themselves', async () => {
    const files = unzipSync(await renderXlsx(documentOf('# History\n\n| a |\n|---|\n| 1 |\n')))
    expect(strFromU8(files['xl/workbook.xml']!)).toContain('name="History 2"')
  })

  test('a workbook has a sheet for each table, chart and the text, and counts with numbers', async () => {
    const files = unzipSync(await renderXlsx(everything))
    const sheet = strFromU8(files['xl/worksheets/sheet1.xml']!)
    expect(sheet).toContain('<v>1240000</v>')
    expect(sheet).toContain('<v>0.042</v>')
    expect(Object.values(files).some((bytes) => strFromU8(bytes).includes('<f>'))).toBe(false)
    const names = [...strFromU8(files['xl/workbook.xml']!).matchAll(/<sheet [^>]*name="([^"]*)"/g)].map(
      ([, name]) => name,
    )
    expect(names).toEqual(['Revenue by quarter', 'Revenue chart', 'Text'])
    expect(strFromU8(files['xl/charts/chart1.xml']!)).toContain('<c:f>&#39;Revenue chart&#39;!$B$2:$B$3</c:f>')
  })

  test('a text that looks like the mark of a chart is a text', async () => {
    const sly = '\ue000chart-1\ue001'
    const body = strFromU8(unzipSync(await renderDocx(documentOf(`${sly}\n\n${EVERYTHING}`)))['word/document.xml']!)
    expect(body.indexOf(sly)).toBeGreaterThan(0)
    expect(body.indexOf('r:id="rIdChart1"')).toBeGreaterThan(body.indexOf(sly))
  })

  test('charts are those of the program, with the numbers that were supplied', async () => {
    const docx = unzipSync(await renderDocx(everything))
    expect(strFromU8(docx['word/charts/chart1.xml']!)).toContain('<c:v>1310500</c:v>')
    expect(strFromU8(docx['word/charts/chart1.xml']!)).toContain('<c:min val="0"/>')
    expect(strFromU8(docx['word/document.xml']!)).not.toMatch(/[\ue000\ue001]/)
    const pptx = unzipSync(await renderPptx(everything))
    expect(Object.keys(pptx).filter((name) => /^ppt\/charts\/chart\d+\.xml$/.test(name))).toHaveLength(1)
  })
})

describe('numbers and words stay as they are written (issue 28)', () => {
  const tableOf = (header: string[], rows: string[][]) =>
    [header, header.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')
  const header =
    'Invoice number,Customer,Department,Order date,Delivery,Quantity,Unit price,Discount,Net amount,Tax,Gross amount,Remarks'
  const row =
    'RE-2026-110;Hallgren Timber;Purchasing;2026-03-04;2026-03-19;110;1,250.00;2.5%;146,250.00;27,787.50;174,037.50;paid in advance'
  const wide = (columns: number) => {
    const cells = (line: string[]) => Array.from({ length: columns }, (_, at) => line[at % 12]!)
    return tableOf(
      cells(header.split(',')),
      Array.from({ length: 30 }, () => cells(row.split(';'))),
    )
  }

  test.if(hasPdftotext).each([5, 8, 12, 16])('a table of %i columns breaks no word and no number', async (columns) => {
    const text = (await pdfText(await renderPdf(documentOf(`# Invoices\n\n${wide(columns)}`)))).split(/\s+/)
    for (const word of [...header.split(/[ ,]/), ...row.split(/[ ;]/)].slice(0, columns)) expect(text).toContain(word)
  })

  test('a page lies across only where an upright one is too narrow', async () => {
    const boxOf = async (markdown: string) =>
      /\/MediaBox \[([\d. ]+)\]/.exec(Buffer.from(await renderPdf(documentOf(markdown))).toString('latin1'))![1]
    expect(await boxOf(wide(4))).toStartWith('0 0 595')
    expect(await boxOf(wide(12))).toStartWith('0 0 841')
  })

  test.if(hasOffice)(
    'a workbook shows money and shares with their decimals',
    async () => {
      const rows = [
        ['$3.50', '12.5%', '1.50', '1250', '3.5', '+2.0%', '1815-12-10', '1.250,00 €'],
        ['$1,250.00', '3%', '2', '7', '0.125', '-1%', '1915-12-10', '3,5 €'],
        ['-$12.00', '84.50%', '1,000.25', '0', '2', '0.05%', '2026-01-02', '-7 €'],
      ]
      const shown = parse(await opened(await renderXlsx(documentOf(tableOf([...'abcdefgh'], rows))), 'xlsx'))
      expect(shown.slice(1)).toEqual([
        ['$3.50', '12.5%', '1.50', '1250', '3.5', '+2.0%', '1815-12-10', '1,250.00 €'],
        ['$1,250.00', '3%', '2', '7', '0.125', '-1%', '1915-12-10', '3.5 €'],
        ['-$12.00', '84.50%', '1,000.25', '0', '2', '0.05%', '2026-01-02', '-7 €'],
      ] as never)
    },
    PATIENCE_MS,
  )

  test('a value that nobody knows leaves the others numbers', async () => {
    const files = unzipSync(await renderXlsx(documentOf(tableOf(['a'], [['3.50'], ['n/a'], ['–'], ['12.00']]))))
    expect(strFromU8(files['xl/worksheets/sheet1.xml']!).match(/<v>(?:3\.5|12)<\/v>/g)).toHaveLength(2)
  })

  test('a link keeps its address where there are none, and an address is a link', async () => {
    const text =
      '| Item |\n|---|\n| [**Rye** bread](https://mill.example/rye) |\n| https://mill.example/oats |\n| [Ada](mailto:ada@mill.example) |'
    const csv = new TextDecoder().decode(renderCsv(documentOf(text)))
    expect(csv.trim().split(/\r?\n/).slice(1)).toEqual([
      'Rye bread (https://mill.example/rye)',
      'https://mill.example/oats',
      'Ada (ada@mill.example)',
    ])
    expect(readMarkdown('See https://mill.example/oats, not mill.example.')).toEqual([
      {
        type: 'paragraph',
        text: [
          { text: 'See ' },
          { text: 'https://mill.example/oats', link: 'https://mill.example/oats' },
          { text: ', not mill.example.' },
        ],
      },
    ])
  })

  test.if(hasOffice)(
    'the sheet of a chart shows its numbers as they are written',
    async () => {
      const chart =
        '```chart\ntype: bar\nItem,Price,Share\nChisel,$3.50,4.2%\nBench,"$1,250.00",12%\nRefund,-$12.00,0%\n```'
      expect(parse(await opened(await renderXlsx(documentOf(chart)), 'xlsx')).slice(1)).toEqual([
        ['Chisel', '$3.50', '4.2%'],
        ['Bench', '$1,250.00', '12%'],
        ['Refund', '-$12.00', '0%'],
      ] as never)
    },
    PATIENCE_MS,
  )

  const slidesIn = async (markdown: string) => {
    const files = unzipSync(await renderPptx(documentOf(markdown)))
    const textOf = (xml: string) => [...xml.matchAll(/<a:t>([^<]*)<\/a:t>/g)].map(([, text]) => text).join('')
    const names = Object.keys(files).filter((name) => /^ppt\/slides\/slide\d+\.xml$/.test(name))
    return names.map((name) => strFromU8(files[name]!).split('</a:p>').map(textOf))
  }

  test.each([
    'a **bold** word',
    'a `code` word',
    'a [link](https://desk.example/help) in it',
    '**all bold**',
    '*it* and **bo** `co`',
    '[x](https://a.example)~~y~~ z',
  ])('a list item with %s is one item of a slide', async (item) => {
    const message = item.replace(/\[(\w+)\]\([^)]*\)/g, '$1').replace(/[*`~]/g, '')
    const [, slide] = await slidesIn(`## Duty\n\n- ${item}\n- next\n\n1. ${item}\n2. last`)
    expect(slide!.filter((text) => text === message)).toHaveLength(2)
    for (const word of ['next', 'last']) expect(slide).toContain(word)
  })

  test('a heading without content has a slide', async () => {
    const slides = await slidesIn('# Part 1\n\n## Rye\n\nSow.\n\n## Questions')
    expect(slides).toHaveLength(4)
    for (const [at, heading] of ['Part 1', 'Rye', 'Questions'].entries()) expect(slides[at + 1]).toContain(heading)
  })

  test('a few lines of code stand with the line before them, many have a slide', async () => {
    const code = (lines: number) =>
      `\`\`\`\n${Array.from({ length: lines }, (_, at) => `run ${at}`).join('\n')}\n\`\`\``
    const items = (count: number) => Array.from({ length: count }, (_, at) => `- item ${at}`).join('\n')
    for (const count of [1, 5, 12, 13]) {
      const slides = await slidesIn(`## Reset\n\n${items(count)}\n- Type both lines\n\n${code(2)}\n\nWait.`)
      const found = slides.filter((slide) => slide.some((text) => text.startsWith('run 0')))
      expect(found).toHaveLength(1)
      expect(found[0]).toContain('Type both lines')
    }
    expect(await slidesIn(`## Reset\n\n- Type\n\n${code(9)}`)).toHaveLength(3)
  })

  test('records in a fence are rows of a workbook', async () => {
    const input = { title: 't', createdAt: 0, pictures: new Map() }
    const markdown = '## People\n\n```json\n[{"name": "Ada *B*", "parcel": "0042"}]\n```'
    const { bytes } = await createRendering().render(
      { ...input, markdown, format: 'csv' },
      { signal: new AbortController().signal, who: 'a' },
    )
    expect(new TextDecoder().decode(bytes)).toBe('name,parcel\r\nAda *B*,0042\r\n')
  })
})

describe('CSV', () => {
  const csvOf = (markdown: string) =>
    parse(new TextDecoder().decode(renderCsv(documentOf(markdown))), { relax_column_count: true })

  test('is the table, where no cell starts a formula (F7)', () => {
    expect(csvOf('Words.\n\n| a | b |\n|---|---|\n| =1+1 | -3 |\n| "x", | @y |')).toEqual([
      ['a', 'b'],
      ["'=1+1", '-3'],
      ['"x",', "'@y"],
    ])
  })

  test.each(['<br>', '<br/>', '<BR />'])('has a new line in a cell for %s, and the mark where it is code', (mark) => {
    expect(csvOf(`| Steps | Code |\n|---|---|\n| one${mark}two | \`${mark}\` |`)).toEqual([
      ['Steps', 'Code'],
      ['one\ntwo', mark],
    ])
  })

  test('joins tables of one header, and has the text by section where there is none', () => {
    expect(csvOf('|a|b|\n|-|-|\n|1|2|\n\n## x\n\n|a|b|\n|-|-|\n|3|4|')).toEqual([
      ['a', 'b'],
      ['1', '2'],
      ['3', '4'],
    ])
    expect(csvOf('# One\n\nFirst.\n\n- entry')).toEqual([
      ['Section', 'Text'],
      ['One', 'First.'],
      ['One', 'entry'],
    ])
  })
})

test('a paragraph of a slide says how it looks once, at its beginning', async () => {
  const text =
    '# Talk\n\n- Bring your **badge** and [this](https://a.example)\n- Then *go*\n\n| **a** b | c |\n|---|---|\n| d `e` | f |'
  const slides = Object.entries(unzipSync(await renderPptx(documentOf(text)))).filter(([name]) =>
    /^ppt\/slides\/slide\d+\.xml$/.test(name),
  )
  const paragraphs = slides.flatMap(([, xml]) => strFromU8(xml).match(/<a:p>.*?<\/a:p>/gs) ?? [])
  expect(paragraphs.filter((xml) => xml.lastIndexOf('<a:pPr') > '<a:p>'.length)).toEqual([])
  const [badge = ''] = paragraphs.filter((xml) => xml.includes('Bring your'))
  expect({ isWhole: badge.includes('badge') && badge.includes('this'), isMarked: badge.includes('<a:buChar') }).toEqual(
    {
      isWhole: true,
      isMarked: true,
    },
  )
})

test('a numbered list within another begins with its own number in a DOCX', async () => {
  const files = unzipSync(await renderDocx(documentOf('- Steps\n\n  7. seventh\n  8. eighth\n')))
  expect(strFromU8(files['word/numbering.xml']!)).toMatch(/<w:lvl w:ilvl="1"[^>]*><w:start w:val="7"\/>/)
})
