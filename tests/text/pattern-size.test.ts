import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { RE2JS } from 're2js'
import { patternSize } from '../../src/text/patterns/size'

describe('the size of a pattern', () => {
  test.each([
    ['abc', 3],
    ['(a{3}b){2}', 10],
    ['[^\\]]{3}', 3],
    ['\\d{4}-\\d{2}', 7],
    ['^[a-z0-9-]{1,63}$', 65],
    ['((a{30}){30})', 931],
    ['a{2,}', 2],
    ['', 0],
    ['{', 1],
    ['((((', 0],
    ['))))', 4],
    ['[', 1],
    ['\\', 1],
  ])('%j is %i', (source, size) => {
    expect(patternSize(source)).toBe(size)
  })

  test('counts property classes with the given size', () => {
    expect(patternSize('[^\\p{L}]{1,30}\\PN?a', 10)).toBe(313)
  })

  /** Patterns with counted repeats, nested and side by side. */
  const piece = fc.letrec<{ pattern: string }>((tie) => ({
    pattern: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom('a', '\\d', '[a-z]', 'xy'),
      fc.tuple(tie('pattern'), fc.integer({ min: 1, max: 9 })).map(([inner, times]) => `(?:${inner}){${times}}`),
      fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => a + b),
    ),
  })).pattern

  test('is never much less than the size of the RE2 program', () => {
    fc.assert(
      fc.property(piece, (source) => {
        expect(RE2JS.compile(source).programSize()).toBeLessThanOrEqual(patternSize(source) * 4 + 16)
      }),
      { numRuns: 200 },
    )
  })
})
