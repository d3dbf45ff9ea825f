import { expect, spyOn, test } from 'bun:test'
// @ts-expect-error: the types of pdfmake describe its main module only
import PdfDocument from 'pdfmake/js/PDFDocument.js'
import { renderPdf } from '../../../src/media/documents/render/pdf'
import { documentOf } from './support'

test('the private parts of pdfmake that are read are there, and each font is parsed once for all documents', async () => {
  type Provided = { font: object }
  const request = spyOn(PdfDocument.prototype as { provideFont(...about: unknown[]): Provided }, 'provideFont')
  const tablesOf = async () => {
    request.mockClear()
    await renderPdf(documentOf('Plain words.'))
    const documents = request.mock.contexts as { _fontFamilies: object; fontCache: object; _fontCount: number }[]
    for (const { _fontFamilies, fontCache, _fontCount } of documents)
      expect({ fontFamilies: typeof _fontFamilies, fontCache: typeof fontCache, fontCount: typeof _fontCount }).toEqual(
        { fontFamilies: 'object', fontCache: 'object', fontCount: 'number' },
      )
    return request.mock.results.map(({ value }) => (value as Provided).font)
  }
  const [first, second] = [await tablesOf(), await tablesOf()]
  expect(first.length).toBeGreaterThan(0)
  expect(second.length).toBe(first.length)
  for (const [at, font] of first.entries()) {
    expect(Object.hasOwn(font, '_glyphs')).toBe(true)
    expect(second[at]).not.toBe(font)
    expect(Object.getPrototypeOf(second[at])).toBe(Object.getPrototypeOf(font))
  }
  request.mockRestore()
})
