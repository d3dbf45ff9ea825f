import { describe, expect, test } from 'bun:test'
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

test('of a picture it says that no model is connected', async () => {
  const content = [
    { type: 'text' as const, text: 'What is this?' },
    { type: 'image' as const, mimeType: 'image/png', base64: 'iVBORw0KGgo=' },
  ]
  const answer = await ask('', { mode: 'vision', messages: [{ role: 'user', content }] })
  expect(answer).toContain('No language model is connected')
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
