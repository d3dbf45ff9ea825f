import pdfmake from 'pdfmake'
import type { Content, Style, TDocumentDefinitions } from 'pdfmake/interfaces'
// @ts-expect-error: the types of pdfmake describe its main module only
import PdfDocument from 'pdfmake/js/PDFDocument.js'
// @ts-expect-error: the types of pdfmake describe its main module only
import Renderer from 'pdfmake/js/Renderer.js'
import { asDrawn, directionOf, inVisualOrder } from '../../fonts'
import { type Block, type Document, type List, type Picture, plain, type Table, type Text } from '../blocks-model'
import { CHART_SIZE, chartSvg } from '../charts-svg'
import { FONTS, inFonts } from './fonts'
import { fitAny, fitsUpright, isWholeNumber } from './table-fit'

type Embedded = { name: string; font: object; constructor: new (document: Drawn, font: object, id: string) => Embedded }

type Drawn = {
  fontCache: Record<string, Record<string, Embedded>>
  _fontFamilies: Record<string, Embedded>
  _fontCount: number
  getFontType(bold: boolean, italics: boolean): string
  getFontFile(family: string, bold: boolean, italics: boolean): string | null
  provideFont(family: string, bold: boolean, italics: boolean): Embedded
  validateLocalFile(file: string): void
}

type Inline = { text: string; x: number; width: number; level?: number }

type Line = { inlines: Inline[]; leadingCut: number; trailingCut: number; ordered?: true }

const RULE = '#d5dae1'

const TINT = '#f3f5f8'

type Frame = { fill: string | null; bar: string | null; whole?: boolean }

const INK = '#1f2937'
const ACCENT = '#1e4e8c'
const QUIET = '#6b7280'

/** In points: margins of 2.3 cm on a page of 210 × 297 mm. */
const MARGIN = 64
const UPRIGHT = 595.28 - 2 * MARGIN
const ACROSS = 841.89 - 2 * MARGIN
const MAX_PICTURE_HEIGHT = 420

pdfmake.setFonts(FONTS)
orderLines()
rememberFonts()
// A document shows only its own content. Blocks all addresses and files except the fonts.
pdfmake.setUrlAccessPolicy(() => false)
const fontFiles = new Set(Object.values(FONTS).flatMap((family) => Object.values(family)))
pdfmake.setLocalAccessPolicy((path) => fontFiles.has(path))

/** Context for rendering blocks: the pictures of the document, and the text width in points. */
type Page = { images: Document['images']; width: number }

/** Renders a document as PDF, in landscape if a table is too wide for portrait. */
export async function renderPdf(document: Document): Promise<Uint8Array> {
  const { title, createdAt, images, blocks } = document
  const isUpright = fitsUpright(blocks, UPRIGHT)
  const page: Page = { images, width: isUpright ? UPRIGHT : ACROSS }
  const definition: TDocumentDefinitions = {
    pageSize: 'A4',
    pageOrientation: isUpright ? 'portrait' : 'landscape',
    pageMargins: [MARGIN, 68, MARGIN, 64],
    info: { title, creator: 'svc', producer: 'svc', creationDate: new Date(createdAt), modDate: new Date(createdAt) },
    displayTitle: true,
    compress: true,
    defaultStyle: { font: 'Roboto', fontSize: 10.5, lineHeight: 1.32, color: INK },
    header: (number) => (number === 1 ? null : furniture([{ text: pieces([{ text: title }]), alignment: 'left' }], 30)),
    footer: (number, pages) => furniture([{ text: `${number} / ${pages}`, alignment: 'right' }], 22),
    pageBreakBefore: ({ headlineLevel }, nodes) =>
      headlineLevel === 1 && nodes.getFollowingNodesOnPage().length === 0 && nodes.getNodesOnNextPage().length > 0,
    content: [...masthead(title, page), ...blocks.map((block) => contentOf(block, page))],
  }
  return new Uint8Array(await pdfmake.createPdf(definition).getBuffer())
}

const furniture = (columns: Content[], top: number): Content => ({
  columns: columns.map((column) => ({ ...(column as object), fontSize: 8, color: QUIET })) as Content[],
  margin: [MARGIN, top, MARGIN, 0],
})

function masthead(title: string, page: Page): Content[] {
  return [
    { ...paragraph([{ text: title }]), fontSize: 24, bold: true, color: ACCENT, lineHeight: 1.15, outline: true },
    rule(page, 1.5, ACCENT, [0, 8, 0, 16]),
  ] as Content[]
}

const below = (points: number): [number, number, number, number] => [0, 0, 0, points]

const rule = (page: Page, lineWidth: number, lineColor: string, margin: [number, number, number, number]): Content => ({
  canvas: [{ type: 'line', x1: 0, y1: 0, x2: page.width, y2: 0, lineWidth, lineColor }],
  margin,
})

const HEADINGS: Record<1 | 2 | 3 | 4, Style> = {
  1: { fontSize: 17, color: ACCENT, margin: [0, 16, 0, 6] },
  2: { fontSize: 14, color: ACCENT, margin: [0, 13, 0, 5] },
  3: { fontSize: 11.5, margin: [0, 10, 0, 3] },
  4: { fontSize: 10.5, color: QUIET, margin: [0, 8, 0, 2] },
}

function contentOf(block: Block, page: Page): Content {
  switch (block.type) {
    case 'heading': {
      const look = { ...HEADINGS[block.level], bold: true, lineHeight: 1.2 }
      const named = { outline: true, outlineText: plain(block.text), headlineLevel: 1 }
      return { ...paragraph(block.text, true), ...look, ...named } as Content
    }
    case 'paragraph':
      return { ...paragraph(block.text), margin: below(8) }
    case 'list':
      return listOf(block, page)
    case 'table':
      return tableOf(block, page)
    case 'chart':
      return { svg: chartSvg(block), width: Math.min(page.width, CHART_SIZE.width), margin: [0, 6, 0, 14] }
    case 'image':
      return pictureOf(block, page)
    case 'code':
      return codeOf(block.text)
    case 'quote':
      return framed(
        { stack: block.blocks.map((inner) => contentOf(inner, page)), color: QUIET },
        { fill: null, bar: RULE },
      )
    case 'rule':
      return rule(page, 0.75, RULE, [0, 8, 0, 12])
  }
}

const isFromRight = (text: Text): boolean => directionOf(plain(text)) === 'rtl'

/** A paragraph that starts with an Arabic or Hebrew letter is aligned right. */
const paragraph = (text: Text, isBold = false) => ({
  text: pieces(text, isBold),
  ...(isFromRight(text) ? { alignment: 'right' as const } : {}),
})

/** Fonts with built-in space above and below the letters. */
const TALL = new Set(['Devanagari', 'Bengali', 'Gujarati', 'Tamil', 'Telugu', 'Thai'])

/** Runs of one font, direction and style. */
function pieces(text: Text, isBold = false): Content[] {
  return inFonts(text).map(({ text: words, family, level, style }) => ({
    text: words.replaceAll('\t', '    '),
    font: family,
    ...(level ? { level } : {}),
    ...(TALL.has(family) ? { lineHeight: 1 } : {}),
    ...(style.bold || isBold ? { bold: true } : {}),
    ...(style.italic ? { italics: true } : {}),
    ...(style.strike ? { decoration: 'lineThrough' as const } : {}),
    ...(style.code ? { fontSize: 9, background: TINT } : {}),
    ...(style.link ? { link: style.link, color: ACCENT, decoration: 'underline' as const } : {}),
  }))
}

function listOf({ ordered, start, items }: List, page: Page): Content {
  const entries = items.map((blocks) => {
    const inner = blocks.map((block) =>
      block.type === 'paragraph' ? { ...paragraph(block.text), margin: below(3) } : contentOf(block, page),
    ) as Content[]
    return inner.length === 1 ? inner[0]! : { stack: inner }
  })
  const margin: [number, number, number, number] = [4, 0, 0, 6]
  const [first] = items[0] ?? []
  if (first?.type === 'paragraph' && isFromRight(first.text)) return listFromRight(entries, ordered ? start : null)
  return ordered ? { ol: entries, start, margin } : { ul: entries, margin, markerColor: ACCENT }
}

/** A right-to-left list with its marks at the right, because pdfmake supports only left-to-right lists. */
const listFromRight = (entries: readonly Content[], start: number | null): Content => ({
  stack: entries.map((entry, at) => {
    const mark = start === null ? '•' : `.${start + at}`
    return {
      columns: [
        { stack: [entry], width: '*' },
        { text: mark, width: 16, alignment: 'right', color: ACCENT },
      ],
    }
  }),
  margin: [0, 0, 4, 6],
})

function tableOf(table: Table, page: Page): Content {
  const { fontSize, padding, widths } = fitAny(table, page.width)
  const turned = table.header.some(isFromRight)
  const inOrder = <Cell>(cells: Cell[]): Cell[] => (turned ? cells.reverse() : cells)
  const cell = (text: Text, at: number, look: Style = {}) =>
    ({
      text: pieces(text, look.bold),
      alignment: turned && table.align[at] !== 'center' ? 'right' : (table.align[at] ?? 'left'),
      fontSize,
      lineHeight: 1.2,
      ...(isWholeNumber(text) ? { noWrap: true } : {}),
      ...look,
    }) as Content
  return {
    table: {
      headerRows: 1,
      dontBreakRows: true,
      keepWithHeaderRows: 1,
      widths: inOrder(widths),
      body: [
        inOrder(table.header.map((text, at) => cell(text, at, { bold: true, color: ACCENT }))),
        ...table.rows.map((row) => inOrder(row.map((text, at) => cell(text, at)))),
      ],
    },
    layout: {
      hLineWidth: (row, node) => (row === 1 ? 1 : row === 0 || row === node.table.body.length ? 0 : 0.5),
      vLineWidth: () => 0,
      hLineColor: (row) => (row === 1 ? ACCENT : RULE),
      fillColor: (row) => (row === 0 ? TINT : null),
      paddingLeft: () => padding,
      paddingRight: () => padding,
      paddingTop: () => 4.5,
      paddingBottom: () => 3.5,
    },
    margin: [0, 4, 0, 14],
  }
}

function pictureOf({ source, alt }: Picture, { images, width }: Page): Content {
  const image = images.get(source)
  if (!image)
    return { ...paragraph([{ text: alt ? `[${alt}]` : '[image]' }]), italics: true, color: QUIET, margin: below(8) }
  const type = image.format === 'png' ? 'image/png' : 'image/jpeg'
  const data = `data:${type};base64,${Buffer.from(image.bytes).toString('base64')}`
  const natural = (image.width * 72) / 96
  const scale = Math.min(1, width / natural, MAX_PICTURE_HEIGHT / ((image.height * 72) / 96))
  const caption = alt ? [{ ...paragraph([{ text: alt }]), fontSize: 8.5, color: QUIET, margin: [0, 4, 0, 0] }] : []
  return { stack: [{ image: data, width: natural * scale }, ...caption] as Content[], margin: [0, 4, 0, 12] }
}

/** Code with more lines may be split across pages. */
const SHORT_LINES = 20

function codeOf(code: string): Content {
  const whole = code.split('\n').length <= SHORT_LINES
  const text = inFonts([{ text: code, code: true }]).map(({ text, family }) => ({
    text: text.replaceAll('\t', '    '),
    font: family,
  }))
  return framed(
    { text, fontSize: 8.5, lineHeight: 1.25, preserveLeadingSpaces: true },
    { fill: TINT, bar: null, whole },
  )
}

/** Content with a background or a side bar. `whole` content is not split across pages. */
function framed(content: Content, { fill, bar, whole = false }: Frame): Content {
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

/**
 * pdfmake places the words of a line in logical order. This moves right-to-left words to their visual positions before
 * a line is drawn.
 */
function orderLines(): void {
  const drawing = (Renderer as { prototype: { renderLine(line: Line, x: number, y: number): void } }).prototype
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

/**
 * pdfmake parses its fonts for each document, up to 10 MB for Chinese. This caches them once per thread. It must use
 * private parts of pdfmake, which has no public font cache. tests/media/documents/font-memory.test.ts fails when a
 * release changes these parts.
 */
function rememberFonts(): void {
  const drawn = (PdfDocument as { prototype: Drawn }).prototype
  const provide = drawn.provideFont
  const parsed = new Map<string, Pick<Embedded, 'font' | 'constructor'>>()

  drawn.provideFont = function provideFont(family, bold, italics) {
    const type = this.getFontType(bold, italics)
    const file = this.getFontFile(family, bold, italics)
    const own = this.fontCache[family]?.[type]
    if (own || file === null) return own ?? provide.call(this, family, bold, italics)
    this.validateLocalFile(file)
    let font = this._fontFamilies[file]
    if (!font) {
      const { font: tables, constructor: Font } = parsedOf(this, file, [family, bold, italics])
      // The font tables are shared. Each document has its own glyphs, because a glyph remembers its first character.
      const view = Object.assign(Object.create(tables) as object, { _glyphs: {} })
      font = this._fontFamilies[file] = new Font(this, view, `F${++this._fontCount}`)
    }
    this._fontFamilies[font.name] ??= font
    this.fontCache[family] = { ...this.fontCache[family], [type]: font }
    return font
  }

  function parsedOf(document: Drawn, file: string, wanted: Parameters<Drawn['provideFont']>) {
    return parsed.getOrInsertComputed(file, () => {
      // A stand-in, so that the real document only gets the view.
      const own = { fontCache: {}, _fontFamilies: {}, _fontCount: 0 }
      const { font, constructor: Font } = provide.call(Object.assign(Object.create(document) as Drawn, own), ...wanted)
      return { font, constructor: Font }
    })
  }
}
