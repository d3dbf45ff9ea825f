import { describe, expect, test } from 'bun:test'
import { checker, t } from '../../src/kernel/schema'
import { charactersIn, hasAtLeast, hasAtMost } from '../../src/kernel/text'
import { problemsOf } from '../../src/kernel/validation'

const ONE = {
  'a letter': 'a',
  'a letter outside the basic plane': '𝒜',
  'an emoji': '🌾',
  'a flag': '🇳🇴',
  'the flag of a country in a country': '🏴󠁧󠁢󠁥󠁮󠁧󠁿',
  'a family': '👨‍👩‍👧‍👦',
  'a kiss of two skins': '👩🏻‍❤️‍💋‍👨🏿',
  'an accent of its own': 'e\u0301',
  'two accents': 'ệ'.normalize('NFD'),
  'a syllable in jamo': '한'.normalize('NFD'),
  'a Hindi syllable': 'क्षि',
  'a Thai vowel': 'กำ',
  'a line end of Windows': '\r\n',
  'half a surrogate pair': '\ud83d',
}

describe('characters', () => {
  test.each(Object.entries(ONE))('%s is one, alone and often', (_, one) => {
    expect({ one: charactersIn(one), hundred: charactersIn(`${one}x`.repeat(100)) }).toEqual({ one: 1, hundred: 200 })
    const [text, long] = [one.repeat(200), one.repeat(201)]
    expect({ text: hasAtMost(text, 200), long: hasAtMost(long, 200) }).toEqual({ text: true, long: false })
    expect({ of200: hasAtLeast(text, 200), of201: hasAtLeast(text, 201) }).toEqual({ of200: true, of201: false })
  })

  test('a letter under a pile of accents counts as several', () => {
    const pile = `e${'\u0301'.repeat(1_599)}`
    expect(charactersIn(pile)).toBe(100)
    expect({ of100: hasAtMost(pile, 100), of99: hasAtMost(pile, 99) }).toEqual({ of100: true, of99: false })
  })

  test('counts as the segmenter of the runtime does, whatever stands side by side', () => {
    const letters = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code))
    const text = letters.map((letter) => `x${letter}${letter}x`).join('')
    const found = new Intl.Segmenter('und', { granularity: 'grapheme' }).segment(text)
    const wrong: string[] = []
    for (const { segment } of found) if (segment.length > 1 && charactersIn(segment) !== 1) wrong.push(segment)
    expect(wrong).toEqual([])
  })

  test('takes linear time, whatever the text joins', () => {
    for (const one of ['e', '中', '\u0301', '🇳', '👨\u200d', '\u0600', '\u1100', 'क\u094d']) {
      const text = one.repeat(1_000_000 / one.length)
      const from = performance.now()
      charactersIn(text)
      expect({ one, now: performance.now() - from < 1_000 }).toEqual({ one, now: true })
    }
  })
})

describe('a limit of length in a schema', () => {
  const schema = t.Object({
    maxLength: t.Optional(t.String({ minLength: 2, maxLength: 3 })),
    list: t.Optional(t.Array(t.Union([t.String({ maxLength: 3 }), t.Null()]))),
  })
  const textOf = (value: object) =>
    problemsOf(checker(schema).issues(value), value, { nameOf: (path) => path, shownAt: String })

  test.each(Object.entries(ONE))('counts %s as one', (_, one) => {
    expect(checker(schema).is({ maxLength: one.repeat(3), list: [one.repeat(3)] })).toBe(true)
    expect(textOf({ maxLength: one.repeat(4) })).toEqual(['maxLength has 4 characters; at most 3 are allowed.'])
    expect(textOf({ maxLength: one })).toEqual(['maxLength has 1 character; at least 2 are needed.'])
    expect(textOf({ list: [null, one.repeat(4)] })).toEqual(['list[1] has 4 characters; at most 3 are allowed.'])
  })

  test('stands in the document as it was written', () => {
    expect(schema.properties.maxLength).toMatchObject({ type: 'string', minLength: 2, maxLength: 3 })
    expect(Object.keys(schema.properties.maxLength)).not.toContain('~refine')
  })
})
