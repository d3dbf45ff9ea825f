import * as word from 'docx'
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate'
import { randomBase62 } from '../../../kernel/crypto'
import { directionOf } from '../../fonts'
import {
  type Block,
  type Chart,
  type Document,
  type List,
  type Picture,
  plain,
  type Table,
  type Text,
} from '../blocks-model'
import { CHART_RELATION, CHART_TYPE, officeChart } from '../charts-office'
import { fitAny, fitsUpright, OTHER_FONT, ofPage } from './table-fit'

const INK = '1F2937'

const ACCENT = '1E4E8C'

const QUIET = '6B7280'

const RULE = 'D5DAE1'

const TINT = 'F3F5F8'

/** In twentieths of a point. */
const INDENT = 360

const MAX_LEVELS = 6

const STYLES: word.IStylesOptions = {
  default: {
    document: {
      run: { font: 'Calibri', size: 22, color: INK },
      paragraph: { spacing: { after: 140, line: 290, lineRule: word.LineRuleType.AUTO } },
    },
    title: { run: { size: 52, bold: true, color: ACCENT, font: 'Calibri' }, paragraph: { spacing: { after: 60 } } },
    heading1: heading(34, ACCENT, 340),
    heading2: heading(28, ACCENT, 280),
    heading3: heading(24, INK, 220),
    heading4: heading(22, QUIET, 180),
    hyperlink: { run: { color: ACCENT, underline: {} } },
    listParagraph: { paragraph: { spacing: { after: 60 } } },
  },
}

const levels = (
  of: (level: number) => {
    format: (typeof word.LevelFormat)[keyof typeof word.LevelFormat]
    text: string
    start?: number
  },
) =>
  Array.from({ length: MAX_LEVELS }, (_, level) => ({
    level,
    alignment: word.AlignmentType.LEFT,
    style: { paragraph: { indent: { left: INDENT * (level + 1), hanging: INDENT } } },
    ...of(level),
  }))

const bullets = {
  reference: 'bullets',
  levels: levels((level) => ({ format: word.LevelFormat.BULLET, text: ['•', '◦', '▪'][level % 3]! })),
}

/** Each numbered list has its own counter and first number. */
const numbers = (start: number, at: number) => ({
  reference: `numbers-${at}`,
  levels: levels((level) => ({
    format: [word.LevelFormat.DECIMAL, word.LevelFormat.LOWER_LETTER, word.LevelFormat.LOWER_ROMAN][level % 3]!,
    text: `%${level + 1}.`,
    start,
  })),
})

/** Placeholder marks of one document. They are random, so that no user text can match one. */
const newMarks = (): Marks => {
  const secret = randomBase62(16)
  return (number) => `\ue000${secret}-${number}\ue001`
}

/** Returns the placeholder of a chart, because the library has no chart element. */
type Marks = (number: number) => string

const EMU = 12_700

const CHART_EMU = { cx: 454 * EMU, cy: 250 * EMU }

const drawing = (id: string, number: number): string =>
  `<w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" distT="0" distB="0" distL="0" distR="0"><wp:extent cx="${CHART_EMU.cx}" cy="${CHART_EMU.cy}"/><wp:effectExtent l="0" t="0" r="0" b="0"/><wp:docPr id="${9_000 + number}" name="Chart ${number}"/><wp:cNvGraphicFramePr/><a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/chart"><c:chart xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" r:id="${id}"/></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>`

const isFromRight = (text: Text): boolean => directionOf(plain(text)) === 'rtl'

const directed = (text: Text) => (isFromRight(text) ? { bidirectional: true } : {})

/** In twentieths of a point: a page of 210 × 297 mm and its side margins. */
const [SHORT, LONG, MARGIN] = [11_906, 16_838, 1_418]
const POINT = 20
/** Pixels at 96 per inch. */
const TEXT_PIXELS = 600
const MAX_PICTURE_PIXELS = 560

type Child = word.Paragraph | word.Table
type Context = {
  document: Document
  charts: Chart[]
  markOf: ReturnType<typeof newMarks>
  numbered: number[]
  width: number
}

/** Renders a document as DOCX, with native headings, lists, tables and charts. */
export async function renderDocx(document: Document): Promise<Uint8Array> {
  const isUpright = fitsUpright(document.blocks, (SHORT - 2 * MARGIN) / POINT)
  /** Width of the text in points. */
  const width = ((isUpright ? SHORT : LONG) - 2 * MARGIN) / POINT
  const context: Context = { document, charts: [], markOf: newMarks(), numbered: [], width }
  const children = [...masthead(document.title), ...document.blocks.flatMap((block) => childrenOf(block, context))]
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
        headers: {
          first: new word.Header({ children: [] }),
          default: new word.Header({
            children: [
              new word.Paragraph({ children: [new word.TextRun({ text: document.title, size: 16, color: QUIET })] }),
            ],
          }),
        },
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

function footer() {
  const look = { size: 16, color: QUIET }
  const children = [word.PageNumber.CURRENT, ' / ', word.PageNumber.TOTAL_PAGES].map(
    (part) => new word.TextRun({ children: [part], ...look }),
  )
  return new word.Footer({ children: [new word.Paragraph({ alignment: word.AlignmentType.RIGHT, children })] })
}

function masthead(title: string): Child[] {
  const border = { bottom: { style: word.BorderStyle.SINGLE, size: 10, color: ACCENT, space: 8 } }
  const text = [{ text: title }]
  return [
    new word.Paragraph({ heading: word.HeadingLevel.TITLE, ...directed(text), children: runs(text) }),
    new word.Paragraph({ children: [], border, spacing: { after: 280 } }),
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
  const level = Math.min(MAX_LEVELS - 1, outer ? outer.level + 1 : 0)
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
  const scale = Math.min(1, TEXT_PIXELS / image.width, MAX_PICTURE_PIXELS / image.height)
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

/** Converts a text to Word runs with their styles. */
function runs(text: Text, look: { bold?: boolean; color?: string; size?: number } = {}): word.ParagraphChild[] {
  return text.flatMap<word.ParagraphChild>(({ text: words, bold, italic, strike, code, link }) => {
    const run = words.split('\n').map(
      (line, at) =>
        new word.TextRun({
          text: line,
          ...look,
          ...(isFromRight([{ text: line }]) ? { rightToLeft: true } : {}),
          ...(at ? { break: 1 } : {}),
          ...(bold ? { bold } : {}),
          ...(italic ? { italics: true } : {}),
          ...(strike ? { strike } : {}),
          ...(code ? { font: 'Consolas', size: 19, shading: { type: word.ShadingType.CLEAR, fill: TINT } } : {}),
          ...(link ? { style: 'Hyperlink' } : {}),
        }),
    )
    return link ? [new word.ExternalHyperlink({ link, children: run })] : run
  })
}

/** Replaces placeholders by charts, as separate parts of the file. */
function withCharts(bytes: Uint8Array, charts: readonly Chart[], markOf: Marks): Uint8Array {
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

function heading(size: number, color: string, before: number) {
  return {
    run: { size, bold: true, color, font: 'Calibri' },
    paragraph: { spacing: { before, after: 90 }, keepNext: true },
  }
}
