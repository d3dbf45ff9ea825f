import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { fitHistory } from '../../../src/completions'
import { countPrompt, countTokens, type Message } from '../../../src/engines'

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
    expect(fitHistory(long, 1_000_000, countPrompt)).toEqual({ turns: long, summary: null })
    expect(fitHistory([], 10, countPrompt)).toEqual({ turns: [], summary: null })
  })

  test('keeps its newest turns whole, and the older ones as sentences of their own', () => {
    const { turns, summary } = fitHistory(long, 2_000, countPrompt)
    expect(summary).toContain('User: Question')
    expect(summary).toContain('about harbours and ships?')
    expect(turns[0]!.role).toBe('user')
    expect(turns).toEqual(long.slice(long.length - turns.length))
  })

  test('with calls in it is left alone', () => {
    const calls: Message[] = [...long, { role: 'tool', toolCallId: 'a', toolName: 'b', content: 'c' }]
    expect(fitHistory(calls, 100, countPrompt).turns).toBe(calls)
  })

  test('fits its room whatever it holds', () => {
    const message = fc.record({ role: fc.constantFrom('user' as const, 'assistant' as const), content: fc.string() })
    fc.assert(
      fc.property(fc.array(message, { maxLength: 40 }), fc.integer({ min: 20, max: 500 }), (history, room) => {
        const { turns, summary } = fitHistory(history, room, countPrompt)
        const tokens = countPrompt(turns) + countTokens(summary ?? '')
        expect(turns === history || tokens <= room + 10).toBe(true)
      }),
      { numRuns: 300 },
    )
  })
})
