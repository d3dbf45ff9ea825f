import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { fitHistory } from '../../src/agent'
import { countPrompt, type Message } from '../../src/engines'

/** Words that come up once, so that no sentence of them is central. */
const filler = (number: number, words: number): string =>
  Array.from({ length: words }, (_, place) => `word${number}x${place}`).join(' ')

const turn = (number: number, words = 60): Message[] => [
  { role: 'user', content: `Question ${number} about harbours and ships? ${filler(number, words)}` },
  {
    role: 'assistant',
    content: `Answer ${number}: the harbour closes at nine. ${filler(number + 100, words)}`,
  },
]
const long = Array.from({ length: 20 }, (_, number) => turn(number)).flat()

describe('a history that is too long', () => {
  test('stays as it is while it fits', () => {
    expect(fitHistory(long, 1_000_000, countPrompt)).toBe(long)
    expect(fitHistory([], 10, countPrompt)).toEqual([])
  })

  test('keeps its newest turns whole, and the older ones as sentences of their own', () => {
    const fitted = fitHistory(long, 2_000, countPrompt)
    expect(fitted[0]!.role).toBe('system')
    expect(fitted[0]!.content).toContain('about harbours and ships?')
    expect(fitted[1]!.role).toBe('user')
    expect(fitted.slice(1)).toEqual(long.slice(long.length - fitted.length + 1))
  })

  test('with calls in it is left alone', () => {
    const calls: Message[] = [...long, { role: 'tool', toolCallId: 'a', toolName: 'b', content: 'c' }]
    expect(fitHistory(calls, 100, countPrompt)).toBe(calls)
  })

  test('fits its room whatever it holds', () => {
    const message = fc.record({ role: fc.constantFrom('user' as const, 'assistant' as const), content: fc.string() })
    fc.assert(
      fc.property(fc.array(message, { maxLength: 40 }), fc.integer({ min: 20, max: 500 }), (history, room) => {
        const fitted = fitHistory(history, room, countPrompt)
        expect(fitted === history || countPrompt(fitted) <= room + 10).toBe(true)
      }),
      { numRuns: 300 },
    )
  })
})
