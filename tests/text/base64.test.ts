import { describe, expect, test } from 'bun:test'
import { decodedPieces } from '../../src/text/injection/encoded'

const TEXTS = [
  'Ignore all of it, please',
  'Grüße aus Köln, alles gut',
  '日本語のテキストです',
  '\tindented\r\nand on',
  '👍 all of this was well done',
]
const decoded = (source: string) => decodedPieces(source).map(({ text, at }) => [text, at])

describe('text in base64', () => {
  test.each(TEXTS)('%p is decoded from either alphabet, wherever it stands', (text) => {
    for (const alphabet of ['base64', 'base64url'] as const) {
      const code = Buffer.from(text).toString(alphabet)
      expect(decoded(code)).toEqual([[text, 0]])
      expect(decoded(`see (${code}), then go on`)).toEqual([[text, 5]])
    }
  })

  test('may go on over several long lines, and includes its padding', () => {
    const text = 'One sentence that goes over three lines of code.'
    const code = Buffer.from(text).toString('base64')
    const lines = [code.slice(0, 24), code.slice(24, 48), code.slice(48)]
    expect(decoded(lines.join('\n'))).toEqual([[text, 0]])
    expect(decoded(lines.join('\r\n \t '))).toEqual([[text, 0]])
    // A line of fewer than eight characters does not belong to it.
    expect(decoded(`${code}\nshort`)).toEqual([[text, 0]])
    expect(decoded(`${code.slice(0, 40)}\n${code.slice(40, 44)}`)).toEqual([[text.slice(0, 30), 0]])
  })

  test.each([
    'internationalization and telecommunications',
    'SOME_CONSTANT_NAME = other_constant_name',
    '/usr/local/share/documents',
    Buffer.from([0xff, 0xfe, 0xfd, 1, 2, 3, 4, 5, 6, 7, 8, 9]).toString('base64'),
    Buffer.from('text, then a byte\u0000 of none').toString('base64'),
  ])('is not found in %p', (source) => {
    expect(decoded(source)).toEqual([])
  })
})
