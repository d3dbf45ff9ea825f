import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { countPrompt, countTokens, cutToWeight, UNITS_PER_TOKEN, weigh } from '../../src/engines/meter'
import { effortOf } from '../support/effort'

/** Texts with the counts common tokenizers give them; the estimate may be a third off. */
const KNOWN: [string, number][] = [
  ['The quick brown fox jumps over the lazy dog.', 10],
  ['Hello, world!', 4],
  ['It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness', 26],
  ['function add(a, b) { return a + b }', 14],
  ['1234567890', 4],
  ['Donaudampfschifffahrtsgesellschaft', 11],
  ['Привет, как дела сегодня?', 9],
  ['今天天气很好，我们去公园吧。', 14],
  ['こんにちは、世界', 6],
  ['안녕하세요 세계', 7],
]

test.each(KNOWN)('%p is about %p tokens', (text, tokens) => {
  expect(countTokens(text)).toBeWithin(Math.floor(tokens * 0.6), Math.ceil(tokens * 1.5) + 1)
})

test('nothing is nothing, anything is something', () => {
  expect(countTokens('')).toBe(0)
  expect(countTokens('a')).toBe(1)
})

test('a text weighs what its pieces weigh, wherever it is cut', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme' }),
      fc.nat(50),
      (text, at) => weigh(text) === weigh(text.slice(0, at)) + weigh(text.slice(at)),
    ),
  )
})

test('a cut text keeps its limit, begins as the text does and ends with a whole character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(2_000), (text, units) => {
      const cut = cutToWeight(text, units)
      return weigh(cut) <= units && text.startsWith(cut) && cut.isWellFormed()
    }),
  )
})

test('pictures and messages cost something by themselves', () => {
  const image = { type: 'image' as const, mimeType: 'image/png', base64: 'A'.repeat(1_000_000) }
  expect(countPrompt([{ role: 'user', content: [{ type: 'text', text: 'Look' }, image] }])).toBeWithin(800, 820)
  expect(countPrompt([{ role: 'user', content: 'Look' }])).toBe(8)
})

test('a megabyte is weighed in a few milliseconds', async () => {
  const text = 'word '.repeat(200_000)
  expect(weigh(text) / UNITS_PER_TOKEN).toBeGreaterThan(100_000)
  expect(await effortOf(() => weigh(text))).toBeLessThan(50)
})
