import { describe, expect, test } from 'bun:test'
import { fitResults } from '../../../src/completions/agent-loop'
import { countPrompt, type Message } from '../../../src/engines'
import { fence, unfenced } from '../../../src/kernel/fence'

const result = (content: string, toolCallId = 'c1'): Message => ({
  role: 'tool',
  toolCallId,
  toolName: 'look',
  content,
})
const words = (count: number): string => 'word '.repeat(count)
const lengths = (messages: readonly Message[]) => messages.map(({ content }) => content.length)

describe('what tools found', () => {
  test('is left as it is where there is room', () => {
    const messages = [{ role: 'user' as const, content: 'Look' }, result(words(1_000))]
    const before = structuredClone(messages)
    fitResults(messages, 10_000, countPrompt)
    expect(messages).toEqual(before)
  })

  test('is cut, the longest first, until all of it fits', () => {
    const messages = [{ role: 'user' as const, content: words(300) }, result(words(8_000)), result(words(100), 'c2')]
    fitResults(messages, 2_000, countPrompt)
    expect(countPrompt(messages)).toBeLessThanOrEqual(2_000)
    expect(lengths(messages)[0]).toBe(1_500)
    expect(lengths(messages)[2]).toBe(500)
    expect(messages[1]!.content).toContain('[cut here to make room]')
  })

  test('keeps its fence', () => {
    const messages = [result(fence('look', words(5_000)))]
    fitResults(messages, 500, countPrompt)
    const text = messages[0]!.content as string
    expect(text).not.toBe(unfenced(text))
    expect(unfenced(text)).toStartWith('word word')
  })

  test('is never cut in the middle of a character, nor to nothing', () => {
    const messages = [result('😀'.repeat(20_000))]
    fitResults(messages, 1, countPrompt)
    expect((messages[0]!.content as string).isWellFormed()).toBe(true)
    expect(lengths(messages)[0]).toBeWithin(200, 401)
  })
})
