import { describe, expect, test } from 'bun:test'
import { splitText } from '../../../src/engines/drivers/upstream'

describe('thoughts of an answer whose opening tag is in the template', () => {
  test.each([
    ['Under coasts.\n</think>\n\nRow D.', 'Row D.'],
    ['Under coasts.</think>\nRow D.', 'Row D.'],
    ['Under coasts.\n</think> Row D.', 'Row D.'],
    ['Under coasts.</think>', ''],
  ])('%j', (whole, text) => {
    const split = splitText(whole, '')
    expect(split.text).toBe(text)
    expect(split.reasoning.trim()).toBe('Under coasts.')
  })

  test.each([
    'End it with `</think>` on a line of its own.',
    'The tag </think> ends the thoughts of a model.',
    '```\n<b>\n</think>\n```\nis what the template holds.',
    'It begins with <think> and ends with\n</think>\nas others do.',
  ])('%j is about the tag', (whole) => {
    expect(splitText(whole, '')).toEqual({ text: whole, reasoning: '' })
  })
})
