import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate'
import PptxGenJS from 'pptxgenjs'
import { directionOf } from '../../fonts'
import { type Chart, type Document, type Picture, plain, type Table, type Text } from '../blocks-model'
import { PALETTE, startsAtZero } from '../charts'
import { heightOf, type Line, type Slide, slidesOf, type Visual } from './slides'
import { fitAny, OTHER_FONT, SMALLER } from './table-fit'

const INK = '1F2937'
const ACCENT = '1E4E8C'
const QUIET = '6B7280'
const RULE = 'D5DAE1'
const TINT = 'F3F5F8'
const FONT = 'Calibri'

/** In inches: a 16:9 slide, and the area below its title. */
const SLIDE = { w: 13.333, h: 7.5 }
const BODY = { x: 0.7, y: 1.55, w: 11.93, h: 5.2 }
const GAP = 0.4
const POINTS_PER_INCH = 72
const NONE = { type: 'none' }

type Place = { x: number; y: number; w: number; h: number }
type Deck = PptxGenJS
type Page = PptxGenJS.Slide
type Run = PptxGenJS.TextProps

/** Renders a document as PPTX, with tables and charts that presentation programs can edit. */
export async function renderPptx(document: Document): Promise<Uint8Array> {
  const deck = new PptxGenJS()
  deck.layout = 'LAYOUT_WIDE'
  deck.title = document.title
  deck.author = 'svc'
  deck.company = 'svc'
  deck.theme = { headFontFace: FONT, bodyFontFace: FONT }
  cover(deck, document.title)
  const slides = slidesOf(document.title, document.blocks)
  slides.forEach((slide, at) => {
    page(deck, document, slide, at + 2)
  })
  const files = unzipSync(new Uint8Array((await deck.write({ outputType: 'nodebuffer' })) as Uint8Array))
  for (const name of Object.keys(files)) {
    if (!/^ppt\/slides\/slide\d+\.xml$/.test(name)) continue
    // The library writes paragraph properties for each run, but only those at the start of a paragraph are valid.
    const once = strFromU8(files[name]!).replace(
      /(<a:p>)?<a:pPr(?:\s[^<>]*)?(?:\/>|>(?:[^<]|<(?!\/?a:pPr))*<\/a:pPr>)/g,
      (properties, begin) => (begin ? properties : ''),
    )
    files[name] = strToU8(once)
  }
  return zipSync(files)
}

function cover(deck: Deck, title: string): void {
  const page = deck.addSlide()
  page.background = { color: ACCENT }
  const size = title.length > 60 ? 32 : 44
  page.addText(title, {
    x: 0.9,
    y: 2.1,
    w: 11.5,
    h: 1.9,
    fontSize: size,
    bold: true,
    valign: 'bottom',
    fit: 'shrink',
    ...fromRight(title),
    fontFace: FONT,
    color: 'FFFFFF',
  })
  page.addShape('rect', { x: 0.95, y: 4.2, w: 1.6, h: 0.06, fill: { color: 'FFFFFF' } })
}

function page(deck: Deck, document: Document, slide: Slide, number: number): void {
  const page = deck.addSlide()
  page.background = { color: 'FFFFFF' }
  const title: Run[] = [
    { text: slide.title, options: {} },
    ...(slide.continued ? [{ text: '  (continued)', options: { color: QUIET, fontSize: 16, bold: false } }] : []),
  ]
  const named = { x: BODY.x, y: 0.45, w: BODY.w, h: 0.8, fontFace: FONT, bold: true, color: ACCENT }
  page.addText(title, {
    ...named,
    fontSize: slide.title.length > 70 ? 22 : 28,
    valign: 'middle',
    margin: 0,
    fit: 'shrink',
    ...fromRight(slide.title),
  })
  page.addShape('line', { x: BODY.x, y: 1.3, w: BODY.w, h: 0, line: { color: RULE, width: 1 } })
  const look = { y: 7.0, h: 0.3, fontSize: 10, color: QUIET, fontFace: FONT, margin: 0 }
  page.addText(document.title, { ...look, x: BODY.x, w: 9 })
  page.addText(String(number), { ...look, x: SLIDE.w - 1.7, w: 1, align: 'right' })
  const { lines, visual } = slide
  const half = (BODY.w - GAP) / 2
  const [left, right] = visual && lines.length ? [half, half] : [BODY.w, BODY.w]
  if (lines.length) words(page, lines, { ...BODY, w: left })
  if (visual) show(page, visual, { ...BODY, x: BODY.x + BODY.w - right, w: right }, document)
}

/** Uses larger letters for fewer lines. */
function words(page: Page, lines: readonly Line[], place: Place): void {
  const height = heightOf(lines, place.w > 7 ? 92 : 42)
  const size = height <= 6 ? 20 : height <= 10 ? 18 : 16
  page.addText(
    lines.flatMap((line, at) => lineRuns(line, size, at === lines.length - 1)),
    { ...place, valign: 'top', fontFace: FONT, color: INK, margin: 0, paraSpaceAfter: 7, fit: 'shrink' },
  )
}

const fromRight = (text: string) => (directionOf(text) === 'rtl' ? { rtlMode: true, align: 'right' as const } : {})

function lineRuns({ text, depth, mark, heading }: Line, fontSize: number, isLast: boolean): Run[] {
  const numbered = { type: 'number' as const, numberStartAt: Number(mark), indent: 22 }
  const marked = mark === 'bullet' ? { bullet: { indent: 16 } } : typeof mark === 'number' ? { bullet: numbered } : {}
  const look = mark === 'quote' ? { italic: true, color: QUIET } : heading ? { bold: true, color: ACCENT } : {}
  const size = depth ? fontSize - 2 : fontSize
  const shared = { ...fromRight(plain(text)), ...look, fontSize: size, indentLevel: depth }
  // The library starts a new paragraph at each run with a mark, and at each hard line break.
  const parts = runsOf(text).flatMap(({ text: words = '', options }) =>
    words
      .split('\n')
      .map((one, at) => ({ text: one, options: { ...options, ...(at ? { softBreakBefore: true } : {}) } })),
  )
  return parts.map((run, at) => ({
    text: run.text,
    options: {
      ...shared,
      ...(at ? {} : marked),
      ...run.options,
      ...(at === parts.length - 1 && !isLast ? { breakLine: true } : {}),
    },
  }))
}

const runsOf = (text: Text): Run[] =>
  (text.length ? text : [{ text: '' }]).map(({ text: words, bold, italic, strike, code, link }) => ({
    text: words,
    options: {
      ...(bold ? { bold } : {}),
      ...(italic ? { italic } : {}),
      ...(strike ? { strike: 'sngStrike' as const } : {}),
      ...(code ? { fontFace: 'Consolas' } : {}),
      ...(link ? { hyperlink: { url: link } } : {}),
    },
  }))

function show(page: Page, visual: Visual, place: Place, document: Document): void {
  switch (visual.type) {
    case 'table':
      table(page, visual, place)
      break
    case 'chart':
      chart(page, visual, place)
      break
    case 'code':
      code(page, visual.text, place)
      break
    case 'image':
      picture(page, visual, place, document)
  }
}

function code(page: Page, text: string, place: Place): void {
  page.addShape('rect', { ...place, fill: { color: TINT } })
  const inner = { x: place.x + 0.2, y: place.y + 0.15, w: place.w - 0.4, h: place.h - 0.3 }
  page.addText(text, {
    ...inner,
    fontFace: 'Consolas',
    fontSize: 13,
    color: INK,
    valign: 'top',
    margin: 0,
    fit: 'shrink',
  })
}

function picture(page: Page, { source, alt }: Picture, place: Place, { images }: Document): void {
  const image = images.get(source)
  if (!image) {
    words(page, [{ text: [{ text: `[${alt || 'image'}]` }], depth: 0, mark: 'quote', heading: false }], place)
    return
  }
  const scale = Math.min(place.w / image.width, place.h / image.height, 1 / 96)
  const [w, h] = [image.width * scale, image.height * scale]
  const data = `image/${image.format};base64,${Buffer.from(image.bytes).toString('base64')}`
  page.addImage({ data, w, h, x: place.x + (place.w - w) / 2, y: place.y, altText: alt })
}

function table(page: Page, table: Table, place: Place): void {
  const columns = table.header.length
  const usual = columns > 8 ? 10 : columns > 5 || table.rows.length > 8 ? 12 : 14
  const sizes = [usual, 10, ...SMALLER].filter((size) => size <= usual)
  const padding = columns > 8 ? 4 : 7
  const { fontSize, widths } = fitAny(table, place.w * POINTS_PER_INCH, { sizes, padding, wider: OTHER_FONT })
  const line = (color: string, pt: number) => ({ type: 'solid', color, pt })
  const cell = (text: Text, at: number, isHeader: boolean) => ({
    text: runsOf(text),
    options: {
      align: table.align[at] ?? 'left',
      ...fromRight(plain(text)),
      fontSize,
      fontFace: FONT,
      color: isHeader ? ACCENT : INK,
      bold: isHeader,
      margin: [0.05, padding / POINTS_PER_INCH, 0.05, padding / POINTS_PER_INCH] as [number, number, number, number],
      border: [NONE, NONE, isHeader ? line(ACCENT, 1.25) : line(RULE, 0.75), NONE] as never,
      ...(isHeader ? { fill: { color: TINT } } : {}),
    },
  })
  const isTurned = table.header.some((text) => directionOf(plain(text)) === 'rtl')
  const inOrder = <Item>(items: Item[]): Item[] => (isTurned ? items.reverse() : items)
  const rows = [
    inOrder(table.header.map((text, at) => cell(text, at, true))),
    ...table.rows.map((row) => inOrder(row.map((text, at) => cell(text, at, false)))),
  ]
  page.addTable(rows, {
    ...{ x: place.x, y: place.y, w: place.w },
    colW: inOrder(widths.map((width) => (width + 2 * padding) / POINTS_PER_INCH)),
    valign: 'middle',
  })
}

function chart(page: Page, drawn: Chart, place: Place): void {
  const { kind, title, labels, series, unit } = drawn
  const shown = kind === 'pie' ? series.slice(0, 1) : series
  const data = shown.map(({ name, values }) => ({
    name: name || 'Value',
    labels: [...labels],
    values: values.map((value) => value ?? 0),
  }))
  const format = unit ? `#,##0.##"${unit.replaceAll('"', '')}"` : '#,##0.##'
  page.addChart(kind as never, data, {
    ...place,
    chartColors: PALETTE.map((colour) => colour.slice(1)).slice(
      0,
      Math.max(kind === 'pie' ? labels.length : series.length, 1),
    ),
    showTitle: Boolean(title),
    ...(title ? { title, titleFontSize: 16, titleColor: INK, titleFontFace: FONT } : {}),
    showLegend: kind === 'pie' || series.length > 1,
    legendPos: kind === 'pie' ? 'r' : 'b',
    legendFontSize: 12,
    legendColor: QUIET,
    catAxisLabelFontSize: 12,
    valAxisLabelFontSize: 12,
    catAxisLabelColor: QUIET,
    valAxisLabelColor: QUIET,
    valAxisLabelFormatCode: format,
    ...(startsAtZero(drawn) ? { valAxisMinVal: 0 } : {}),
    valGridLine: { color: 'E2E8F0', size: 0.75 },
    ...(kind === 'bar' ? { barGapWidthPct: 60 } : {}),
    ...(kind === 'pie' ? { showPercent: true, showValue: false, dataLabelColor: 'FFFFFF', dataLabelFontSize: 12 } : {}),
  })
}
