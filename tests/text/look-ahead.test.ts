import { describe, expect, test } from 'bun:test'
import { demandsOf } from '../../src/text'

const TEXTS = [
  '',
  'a',
  'b',
  'c',
  'ab',
  'a1',
  'b1',
  'abc1',
  'a|b',
  'a(b',
  '1',
  '11',
  'a)b',
  'a..b@c',
  'a.b@c',
  '\n',
  'a\nb1',
]

/** What the parts of a pattern say together. */
const says = (pattern: string, text: string) =>
  demandsOf(pattern).every(({ source, isMet }) => new RegExp(source).test(text) === isMet)

describe('A pattern whose look-aheads stand at its beginning is taken apart', () => {
  test.each([
    '^(?=.*[0-9])[a-z0-9]{2,}$',
    '^(?!a)',
    '^(?!)',
    '^(?=)b',
    '^(?!\\.)(?!.*\\.\\.)[\\w.]+@\\w$',
    '^(?=a|b)(?=.*(1|c))(?:a|b)',
    '^(?=[^)]*\\))a',
    '^(?=.\\()a',
    '^(?!a$|b$)[|ab]+',
  ])('%s', (pattern) => {
    const parts = demandsOf(pattern)
    expect(parts.length).toBeGreaterThan(1)
    expect(parts.map(({ source }) => source).join()).not.toMatch(/\(\?[=!]/)
    for (const text of TEXTS)
      expect({ text, says: says(pattern, text) }).toEqual({ text, says: new RegExp(pattern).test(text) })
  })

  test.each([
    'a',
    '(?=a)b',
    '^(?=a)b|c',
    '^(?=a)*b',
    '^(?=a){0}b',
    '^(?=(a))\\1',
    '^(?=(?<n>a))\\k<n>',
    '^(?=a',
    'a(?!b)',
  ])('unless that would mean something else: %s', (pattern) => {
    expect(demandsOf(pattern)).toEqual([{ source: pattern, isMet: true }])
  })
})
