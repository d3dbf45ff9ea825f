import { describe, expect, test } from 'bun:test'
import { quoted } from '../../src/kernel/errors'
import { clean, shorten } from '../../src/kernel/text'

describe('shorten', () => {
  test.each([
    ['short', 10, 'short'],
    ['exactly ten', 11, 'exactly ten'],
    ['one too many', 11, 'one too ma…'],
    ['', 3, ''],
  ])('%p to %i characters is %p', (text, max, expected) => {
    expect(shorten(text, max)).toBe(expected)
  })

  test('never leaves half of an emoji', () => {
    expect(shorten('ab😀cd', 4)).toBe('ab…')
    expect(shorten('ab😀cd', 5)).toBe('ab😀…')
  })
})

describe('clean', () => {
  test.each([
    ['\u001b[31mred\u001b[0m', 'red'],
    ['a\u0007b', 'a·b'],
    ['a\u202eb', 'a·b'],
    ['keeps\ttabs\nand lines', 'keeps\ttabs\nand lines'],
    ['carriage\rreturn', 'carriage·return'],
    ['žluťoučký 漢字 😀', 'žluťoučký 漢字 😀'],
  ])('%j becomes %j', (text, expected) => {
    expect(clean(text)).toBe(expected)
  })
})

describe('quoted', () => {
  test.each([
    ['plain', 'plain'],
    [5, '5'],
    [null, 'null'],
    [undefined, 'undefined'],
    [['a', 1], '["a",1]'],
    ['line\nbreak\u200b', 'line·break·'],
    ['x'.repeat(100), `${'x'.repeat(79)}…`],
  ])('%j is shown as %j', (value, expected) => {
    expect(quoted(value)).toBe(expected)
  })
})
