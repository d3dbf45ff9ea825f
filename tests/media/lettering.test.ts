import { describe, expect, test } from 'bun:test'
import { fitted, outlineOf, widthOf, writable } from '../../src/media/scenes/typeface'
import { createWorld } from '../support/world'

const look = { size: 100, weight: 800 as const }

describe('lettering of a picture', () => {
  test.each(['東京', '한국어', 'हिन्दी', 'العربية', 'עברית', 'ภาษาไทย', 'বাংলা', '🚀', 'Summer 🚀 夏'])(
    '%s is drawn whole',
    (text) => {
      expect(writable(text)).toBe(text)
      expect(widthOf(text, look)).toBeGreaterThan(50)
      expect(outlineOf(text, 0, 100, look).length).toBeGreaterThan(100)
    },
  )

  test('a letter that no font has is left out', () => {
    expect(writable('ភាសា Khmer')).toBe(' Khmer')
    expect(outlineOf('ភាសា', 0, 100, look)).toBe('')
  })

  test('letters of Arabic are joined, and of Devanagari stand in the order of reading', () => {
    // Joined letters are narrower than the same ones apart, and a vowel before its consonant is drawn first.
    expect(widthOf('مهرجان', look)).toBeLessThan(widthOf('م ه ر ج ا ن', look) - 5 * widthOf(' ', look))
    expect(outlineOf('हि', 0, 100, look)).not.toBe(outlineOf('ि', 0, 100, look) + outlineOf('ह', 0, 100, look))
  })

  test('a line breaks between words that no blank parts, and never before a comma', () => {
    const { lines } = fitted(
      '这个软件国际，发布测试数据，用于检查',
      { width: 320, height: 900 },
      { ...look, max: 60, lines: 9 },
    )
    expect(lines.length).toBeGreaterThan(2)
    expect(lines.join('')).toBe('这个软件国际，发布测试数据，用于检查')
    expect(lines.filter((line) => line.startsWith('，'))).toEqual([])
  })
})

test('the answer says which letters a local illustration lacks', async () => {
  const ada = await (await createWorld()).person()
  const plain = await ada.send('POST', 'images', { prompt: 'A poster that says "東京"', image_quality: 'draft' })
  expect(plain.body).not.toHaveProperty('warnings')
  const khmer = await ada.send('POST', 'images', { prompt: 'A poster that says "ភាសា"', image_quality: 'draft' })
  expect(khmer.body.warnings).toEqual([expect.stringContaining('no Khmer letters')])
}, 60_000)
