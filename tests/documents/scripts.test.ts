import { expect, test } from 'bun:test'
import { inFonts } from '../../src/documents/render/fonts'
import { missingIn } from '../../src/documents/scripts'
import { createWorld } from '../support/world'

test.each([
  ['漢字', 'Chinese or Japanese'],
  ['ひらがな', 'Chinese or Japanese'],
  ['한국어', 'Korean'],
  ['ภาษาไทย', 'Thai'],
  ['हिन्दी', 'Indian'],
])('a PDF of %s says that its fonts have no %s letters', (text, name) => {
  expect(missingIn(`Words and ${text}.`)[0]).toContain(`no ${name} letters`)
  // What no font has stays with the usual one, as a box.
  expect(inFonts([{ text: [...text][0]! }]).map(({ family }) => family)).toEqual(['Roboto'])
})

test.each(['plain', 'Ελληνικά', 'Кириллица', 'العربية', 'עברית', 'ქართული'])('%s needs no warning', (text) => {
  expect(missingIn(text)).toEqual([])
})

test('the answer has the warning, when it is made and read, and only for a PDF', async () => {
  const world = await createWorld()
  const ada = await world.person()
  const prompt = '# 東京\n\nA city.'
  const pdf = (await ada.send('POST', 'documents', { prompt })).body
  expect(pdf.title).toBe('東京')
  expect(pdf.warnings).toHaveLength(1)
  expect((await ada.send('GET', `documents/${pdf.id}`)).body.warnings).toEqual(pdf.warnings)
  const docx = (await ada.send('POST', 'documents', { prompt, format: 'docx' })).body
  expect(docx).not.toHaveProperty('warnings')
})
