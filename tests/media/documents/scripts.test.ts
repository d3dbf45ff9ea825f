import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { strFromU8, unzipSync } from 'fflate'
import { renderDocx } from '../../../src/media/documents/render/docx'
import { inFonts, shownInOrder } from '../../../src/media/documents/render/fonts'
import { renderPdf } from '../../../src/media/documents/render/pdf'
import { renderPptx } from '../../../src/media/documents/render/pptx'
import { renderXlsx } from '../../../src/media/documents/render/xlsx'
import { createWorld } from '../../support/world'
import { documentOf, hasOffice, hasPdftotext, opened, pdfText } from './support'

// Fonts and other programs are opened for the first time, perhaps beside much else.
setDefaultTimeout(120_000)

/** Words of each alphabet that poppler reads back as they were written. */
const WORDS = [
  '東京は日本の首都です',
  '这个软件国际发布测试数据',
  '한국어 문서',
  'ภาษาไทย',
  'العربية',
  'עברית שלום',
  'Ελληνικά',
  'Кириллица',
  '😀',
  '🚀',
]

const mixed = documentOf(
  `${WORDS.join('\n\n')}\n\nहिन्दी रिपोर्ट বাংলা தமிழ் తెలుగు ગુજરાતી\n\nEnglish with *العربية* and **עברית** in it.\n\n` +
    '- النقطة الأولى\n- النقطة الثانية\n\n| المدينة | السكان |\n|---|--:|\n| القاهرة | 10,000 |\n\n' +
    '```chart\ntype: bar\ntitle: 売上 المبيعات\n四半期,東京,القاهرة\n第一,10,20\n第二,30,15\n```\n',
  { title: 'تقرير السوق 東京' },
)

describe('a PDF of many alphabets', () => {
  test.if(hasPdftotext)('has the words of each, read back by another program', async () => {
    // Marks of direction are of the reader of the file.
    const text = (await pdfText(await renderPdf(mixed))).replace(/\p{Cf}/gu, '')
    for (const words of WORDS) expect(text).toContain(words)
    for (const words of ['القاهرة', '10,000', 'تقرير السوق', '第一']) expect(text).toContain(words)
  })

  test('has a glyph for each letter: none is left to the usual font', () => {
    const foreign = mixed.blocks.flatMap((block) => (block.type === 'paragraph' ? inFonts(block.text) : []))
    const remaining = foreign.filter(({ family }) => family === 'Roboto').map(({ text }) => text)
    expect(remaining.join('')).toMatch(/^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\s.]*$/u)
  })
})

test('words from right to left stand in the order in which they are read, brackets turned, digits as they are', () => {
  const line = (text: string) => shownInOrder(text).map((piece) => piece.text)
  expect(line('Hello עברית (שלום), end')).toEqual(['Hello ', '(', 'שלום', ')', 'עברית ', ', end'])
  // The layout of the font turns these digits once more.
  expect(line('السوق ٢٠٢٦')).toEqual(['٦٢٠٢', 'السوق '])
})

test.if(hasOffice)('Office files have the words, and begin at the right where the text does', async () => {
  const [docx, pptx, xlsx] = [await renderDocx(mixed), await renderPptx(mixed), await renderXlsx(mixed)]
  for (const [bytes, format] of [
    [docx, 'docx'],
    [pptx, 'pptx'],
  ] as const) {
    const text = (await opened(bytes, format)).replace(/\p{Cf}/gu, '')
    for (const words of ['東京', '한국어', 'العربية', 'עברית']) expect(text).toContain(words)
  }
  const parts = Object.values(unzipSync(xlsx)).map((part) => strFromU8(part))
  expect(parts.join('')).toContain('القاهرة')
  expect(parts.some((part) => part.includes('rightToLeft="1"'))).toBe(true)
})

test('the answer warns of a PDF whose letters no font has, when it is made and read', async () => {
  const ada = await (await createWorld()).person()
  const prompt = '# ភាសាខ្មែរ\n\nA language.'
  const pdf = (await ada.send('POST', 'documents', { prompt })).body
  expect(pdf.title).toBe('ភាសាខ្មែរ')
  expect(pdf.warnings).toEqual([expect.stringContaining('no Khmer letters')])
  expect((await ada.send('GET', `documents/${pdf.id}`)).body.warnings).toEqual(pdf.warnings)
  expect((await ada.send('POST', 'documents', { prompt, format: 'docx' })).body).not.toHaveProperty('warnings')
  const covered = (await ada.send('POST', 'documents', { prompt: '# 東京\n\n한국어 हिन्दी العربية 😀' })).body
  expect(covered).not.toHaveProperty('warnings')
})
