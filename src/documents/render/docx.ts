import * as word from 'docx'
import type { Block, Chart, Document, List, Picture, Table, Text } from '../blocks/model'
import { newMarks, withCharts } from './docx-charts'
import { directed, isFromRight, runs } from './docx-runs'
import { ACCENT, bullets, INDENT, MOST_LEVELS, numbers, QUIET, RULE, STYLES, TINT } from './docx-styles'
import { fitAny, fitsUpright, OTHER_FONT, ofPage } from './table-fit'

/** In twentieths of a point: A4 and its margins at the sides. */
const [SHORT, LONG, MARGIN] = [11_906, 16_838, 1_418]
const POINT = 20
/** Pixels at 96 an inch. */
const TEXT_PIXELS = 600
const MOST_PICTURE_PIXELS = 560

type Child = word.Paragraph | word.Table
type Context = {
  document: Document
  charts: Chart[]
  markOf: ReturnType<typeof newMarks>
  numbered: number[]
  width: number
}

/** A document as DOCX, whose headings, lists, tables and charts are those of a word processor. */
export async function renderDocx(document: Document): Promise<Uint8Array> {
  const isUpright = fitsUpright(document.blocks, (SHORT - 2 * MARGIN) / POINT)
  /** Points of the text from side to side. */
  const width = ((isUpright ? SHORT : LONG) - 2 * MARGIN) / POINT
  const context: Context = { document, charts: [], markOf: newMarks(), numbered: [], width }
  const children = [...masthead(document), ...document.blocks.flatMap((block) => childrenOf(block, context))]
  const file = new word.Document({
    title: document.title,
    creator: 'svc',
    lastModifiedBy: 'svc',
    styles: STYLES,
    numbering: { config: [bullets, ...context.numbered.map(numbers)] },
    features: { updateFields: false },
    sections: [
      {
        properties: {
          titlePage: true,
          page: {
            size: {
              width: SHORT,
              height: LONG,
              orientation: isUpright ? word.PageOrientation.PORTRAIT : word.PageOrientation.LANDSCAPE,
            },
            margin: { top: MARGIN, right: MARGIN, bottom: 1_304, left: MARGIN },
          },
        },
        headers: { first: new word.Header({ children: [] }), default: header(document.title) },
        footers: { first: footer(), default: footer() },
        children,
      },
    ],
  })
  const bytes = await word.Packer.toBuffer(file)
  return withCharts(new Uint8Array(bytes), context.charts, context.markOf)
}

const HEADINGS = [
  word.HeadingLevel.HEADING_1,
  word.HeadingLevel.HEADING_2,
  word.HeadingLevel.HEADING_3,
  word.HeadingLevel.HEADING_4,
] as const

const header = (title: string) =>
  new word.Header({
    children: [new word.Paragraph({ children: [new word.TextRun({ text: title, size: 16, color: QUIET })] })],
  })

function footer() {
  const look = { size: 16, color: QUIET }
  const children = [word.PageNumber.CURRENT, ' / ', word.PageNumber.TOTAL_PAGES].map(
    (part) => new word.TextRun({ children: [part], ...look }),
  )
  return new word.Footer({ children: [new word.Paragraph({ alignment: word.AlignmentType.RIGHT, children })] })
}

function masthead({ title, subtitle }: Document): Child[] {
  const border = { bottom: { style: word.BorderStyle.SINGLE, size: 10, color: ACCENT, space: 8 } }
  const said = subtitle ? [new word.TextRun({ text: subtitle, color: QUIET, size: 20 })] : []
  return [
    new word.Paragraph({
      heading: word.HeadingLevel.TITLE,
      ...directed([{ text: title }]),
      children: runs([{ text: title }]),
    }),
    new word.Paragraph({ children: said, border, spacing: { after: 280 } }),
  ]
}

type Nested = { level: number; reference: string } | null

function childrenOf(block: Block, context: Context, nested: Nested = null): Child[] {
  const inside = nested ? { indent: { left: INDENT * (nested.level + 1) } } : {}
  switch (block.type) {
    case 'heading':
      return [
        new word.Paragraph({
          heading: HEADINGS[block.level - 1]!,
          ...directed(block.text),
          children: runs(block.text),
        }),
      ]
    case 'paragraph':
      return [new word.Paragraph({ ...inside, ...directed(block.text), children: runs(block.text) })]
    case 'list':
      return listOf(block, context, nested)
    case 'table':
      return [tableOf(block, context.width), new word.Paragraph({ children: [], spacing: { after: 120 } })]
    case 'chart':
      context.charts.push(block)
      return [new word.Paragraph({ children: [new word.TextRun(context.markOf(context.charts.length))] })]
    case 'image':
      return pictureOf(block, context.document)
    case 'code':
      return [codeOf(block.text)]
    case 'quote':
      return block.blocks.flatMap((one) =>
        one.type === 'paragraph' ? [quoted(one.text)] : childrenOf(one, context, nested),
      )
    case 'rule': {
      const border = { bottom: { style: word.BorderStyle.SINGLE, size: 6, color: RULE, space: 1 } }
      return [new word.Paragraph({ children: [], border })]
    }
  }
}

const quoted = (text: Text) =>
  new word.Paragraph({
    ...directed(text),
    children: runs(text, { color: QUIET }),
    indent: { left: 240 },
    border: { left: { style: word.BorderStyle.SINGLE, size: 18, color: RULE, space: 10 } },
  })

function listOf({ ordered, start, items }: List, context: Context, outer: Nested): Child[] {
  const level = Math.min(MOST_LEVELS - 1, outer ? outer.level + 1 : 0)
  if (ordered) context.numbered.push(start)
  const reference = ordered ? `numbers-${context.numbered.length - 1}` : 'bullets'
  const nested = { level, reference }
  return items.flatMap((blocks) => {
    const [first, ...rest] = blocks
    const isText = first?.type === 'paragraph'
    const entry = new word.Paragraph({
      numbering: { reference, level },
      style: 'ListParagraph',
      ...(isText ? directed(first.text) : {}),
      children: isText ? runs(first.text) : [],
    })
    const others = isText ? rest : blocks
    return [entry, ...others.flatMap((block) => childrenOf(block, context, nested))]
  })
}

const ALIGN = {
  start: word.AlignmentType.START,
  left: word.AlignmentType.LEFT,
  center: word.AlignmentType.CENTER,
  right: word.AlignmentType.RIGHT,
}

function tableOf(table: Table, width: number): word.Table {
  const fit = fitAny(table, width, { ...ofPage(table), wider: OTHER_FONT })
  const widths = fit.widths.map((one) => Math.floor((one + 2 * fit.padding) * POINT))
  const side = fit.padding * POINT
  const size = Math.floor(2 * fit.fontSize)
  const isTurned = table.header.some(isFromRight)
  const row = (cells: readonly Text[], isHeader: boolean) =>
    new word.TableRow({
      tableHeader: isHeader,
      cantSplit: true,
      children: cells.map(
        (text, at) =>
          new word.TableCell({
            width: { size: widths[at] ?? 0, type: word.WidthType.DXA },
            margins: { top: 70, bottom: 70, left: side, right: side },
            ...(isHeader ? { shading: { type: word.ShadingType.CLEAR, fill: TINT } } : {}),
            borders: isHeader ? { bottom: { style: word.BorderStyle.SINGLE, size: 10, color: ACCENT } } : {},
            children: [
              new word.Paragraph({
                alignment: isTurned && table.align[at] !== 'center' ? ALIGN.start : ALIGN[table.align[at] ?? 'left'],
                ...(isTurned ? { bidirectional: true } : {}),
                spacing: { after: 0, line: 250, lineRule: word.LineRuleType.AUTO },
                children: runs(text, isHeader ? { bold: true, color: ACCENT, size } : { size }),
              }),
            ],
          }),
      ),
    })
  const none = { style: word.BorderStyle.NONE, size: 0, color: 'auto' }
  const line = { style: word.BorderStyle.SINGLE, size: 4, color: RULE }
  return new word.Table({
    width: { size: width * POINT, type: word.WidthType.DXA },
    columnWidths: widths,
    ...(isTurned ? { visuallyRightToLeft: true } : {}),
    layout: word.TableLayoutType.FIXED,
    borders: { top: none, left: none, right: none, bottom: line, insideVertical: none, insideHorizontal: line },
    rows: [row(table.header, true), ...table.rows.map((cells) => row(cells, false))],
  })
}

function pictureOf({ source, alt }: Picture, { images }: Document): Child[] {
  const image = images.get(source)
  const words = alt
    ? [new word.TextRun({ text: image ? alt : `[${alt}]`, color: QUIET, size: 17, italics: !image })]
    : []
  const caption = words.length ? [new word.Paragraph({ children: words })] : []
  if (!image) return caption
  const scale = Math.min(1, TEXT_PIXELS / image.width, MOST_PICTURE_PIXELS / image.height)
  const drawn = new word.ImageRun({
    type: image.format === 'png' ? 'png' : 'jpg',
    data: image.bytes,
    transformation: { width: Math.round(image.width * scale), height: Math.round(image.height * scale) },
    altText: { name: alt || 'image', title: alt, description: alt },
  })
  return [new word.Paragraph({ children: [drawn], keepNext: caption.length > 0 }), ...caption]
}

function codeOf(code: string): Child {
  const edge = { style: word.BorderStyle.SINGLE, size: 4, color: TINT, space: 6 }
  return new word.Paragraph({
    shading: { type: word.ShadingType.CLEAR, fill: TINT },
    border: { top: edge, bottom: edge, left: edge, right: edge },
    spacing: { after: 200, line: 260, lineRule: word.LineRuleType.AUTO },
    children: code
      .split('\n')
      .map((text, at) => new word.TextRun({ text, font: 'Consolas', size: 18, ...(at ? { break: 1 } : {}) })),
  })
}
