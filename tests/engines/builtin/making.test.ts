import { describe, expect, test } from 'bun:test'
import { readImage } from '../../../src/engines/builtin/client'
import { evaluate } from '../../../src/engines/builtin/expression'
import { ask } from './ask'

describe('code', () => {
  test.each([
    ['Write a function that reverses strings in TypeScript', '```typescript\nexport function reversesStrings('],
    ['A JavaScript function named sumAll', '```javascript\nexport function sumAll('],
    ['a golang function called parseRow', '```go\nfunc parseRow('],
  ])('%p becomes an outline without a body', async (prompt, outline) => {
    const answer = await ask(prompt, { mode: 'code' })
    expect(answer).toContain(outline)
    expect(answer).toMatch(/is not written yet/)
  })

  test('an outline states that it is only an outline', async () => {
    const answer = await ask('Write a function called parseRow', { mode: 'code' })
    expect(answer).toContain('def parse_row(value):')
    expect(answer).toContain('Only the outline')
  })

  test('what it cannot write it says it cannot', async () => {
    expect(await ask('Explain monads', { mode: 'code' })).toContain('No language model is connected')
  })
})

test.each([
  ['a profile card', ['<article']],
  ['x</h2><script>alert(1)</script>', ['<h2>']],
])('genui: %p becomes one component that parses', async (prompt, holds) => {
  const text = await ask(prompt, { mode: 'genui' })
  for (const piece of holds) expect(text).toContain(piece)
  expect(text).not.toContain('<script>')
  expect(() => new Bun.Transpiler({ loader: 'tsx' }).transformSync(text)).not.toThrow()
})

describe('pictures', () => {
  const bytes = (...parts: (string | number[])[]) =>
    Buffer.concat(parts.map((part) => Buffer.from(part as string, 'latin1'))).toString('base64')

  const images: [string, string, { format: string; width: number; height: number } | null][] = [
    [
      'PNG',
      bytes([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13], 'IHDR', [0, 0, 2, 128, 0, 0, 1, 224]),
      { format: 'PNG', width: 640, height: 480 },
    ],
    ['GIF', bytes('GIF89a', [64, 1, 240, 0]), { format: 'GIF', width: 320, height: 240 }],
    [
      'JPEG',
      bytes([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc0, 0, 11, 8, 0, 100, 0, 200, 1, 0, 0, 0]),
      { format: 'JPEG', width: 200, height: 100 },
    ],
    [
      'WebP',
      bytes('RIFF', [0, 0, 0, 0], 'WEBPVP8X', [10, 0, 0, 0, 0, 0, 0, 0, 99, 0, 0, 49, 0, 0]),
      { format: 'WebP', width: 100, height: 50 },
    ],
    ['text', bytes('not an image at all, just words'), null],
    ['a cut JPEG', bytes([0xff, 0xd8, 0xff, 0xe0, 0xff, 0xff, 0, 0, 0, 0, 0, 0]), null],
    ['nothing', '', null],
  ]

  test.each(images)('%s is read from its bytes', (_kind, base64, facts) => {
    expect(readImage({ base64 })).toEqual(facts ? expect.objectContaining(facts) : null)
  })

  test('it says what it sees in the bytes and that it cannot look', async () => {
    const content = [
      { type: 'text' as const, text: 'What is this?' },
      { type: 'image' as const, mimeType: 'image/png', base64: images[0]![1] },
    ]
    const answer = await ask('', { mode: 'vision', messages: [{ role: 'user', content }] })
    expect(answer).toContain('PNG, 640 × 480 pixels')
    expect(answer).toContain('needs a vision model')
  })
})

describe('expressions', () => {
  test.each([
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['2^3^2', 512],
    ['-2^2', -4],
    ['2 * -3', -6],
    ['7 % 4', 3],
    ['sqrt(16) + abs(-2)', 6],
    ['1,200.5 × 2', 2401],
    ['1e3 / 8', 125],
    ['cos(0)', 1],
  ])('%p is %p', (text, value) => {
    expect(evaluate(text)).toBeCloseTo(value, 10)
  })

  test.each([
    '',
    '1 +',
    '(1',
    '1)',
    '2 2',
    'process.exit()',
    '1/0',
    '0/0',
    'x + 1',
    '171!',
    '(-1)!',
    `${'('.repeat(200)}1${')'.repeat(200)}`,
    '9^9^9^9',
  ])('%p is no value', (text) => {
    expect(evaluate(text)).toBeNull()
  })
})
