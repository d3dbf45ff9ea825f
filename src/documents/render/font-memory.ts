// @ts-expect-error: the types of pdfmake describe its main module only
import PdfDocument from 'pdfmake/js/PDFDocument.js'

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

/**
 * pdfmake reads and parses its fonts for each document: up to 10 MB for Chinese. This thread does it once for each. The
 * one file that reads private parts of pdfmake for that, which has no public memory of fonts; as a patch it could go to
 * pdfmake. tests/documents/font-memory.test.ts fails when a release changes these parts.
 */
export function rememberFonts(): void {
  const drawn = (PdfDocument as { prototype: Drawn }).prototype
  const provide = drawn.provideFont
  const parsed = new Map<string, Pick<Embedded, 'font' | 'constructor'>>()

  drawn.provideFont = function provideFont(family, bold, italics) {
    const type = this.getFontType(bold, italics)
    const file = this.getFontFile(family, bold, italics)
    const own = this.fontCache[family]?.[type]
    if (own || file === null) return own ?? provide.call(this, family, bold, italics)
    this.validateLocalFile(file)
    const font = this._fontFamilies[file] ?? viewOf(parsedOf(this, file, [family, bold, italics]), this)
    this._fontFamilies[file] = font
    this._fontFamilies[font.name] ??= font
    this.fontCache[family] = { ...this.fontCache[family], [type]: font }
    return font
  }

  function parsedOf(document: Drawn, file: string, wanted: Parameters<Drawn['provideFont']>) {
    const known = parsed.get(file)
    if (known) return known
    // A stand-in, so that the document knows only the view.
    const standIn = Object.assign(Object.create(document) as Drawn, { fontCache: {}, _fontFamilies: {}, _fontCount: 0 })
    const { font, constructor: Font } = provide.call(standIn, ...wanted)
    const found = { font, constructor: Font }
    parsed.set(file, found)
    return found
  }
}

/** The tables of the file are shared. Letters are the document's: each remembers the sign that it was first used for. */
function viewOf({ font, constructor: Font }: Pick<Embedded, 'font' | 'constructor'>, document: Drawn): Embedded {
  const view = Object.assign(Object.create(font) as object, { _glyphs: {} })
  return new Font(document, view, `F${++document._fontCount}`)
}
