import { afterAll, describe, expect, test } from 'bun:test'
import { createCompatDriver } from '../../../src/engines/drivers/compat-client'
import { splitText } from '../../../src/engines/drivers/upstream'
import { collect, request, streamed, textOf } from '../../suites/engine.suite'
import { fakeClock } from '../../support/clock'

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

describe('a stream whose opening tag is in the template', () => {
  let pieces: string[] = []
  let reason = 'stop'
  const upstream = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch() {
      const chunk = (delta: object, finish_reason: string | null = null) =>
        `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`
      const frames = [...pieces.map((content) => chunk({ content })), chunk({}, reason), 'data: [DONE]\n\n']
      return new Response(frames.join(''), { headers: { 'content-type': 'text/event-stream' } })
    },
  })
  afterAll(() => upstream.stop(true))
  const clock = fakeClock()

  const open = () => {
    const options = { baseUrl: upstream.url.origin, apiKey: null, outputLimitField: 'max_tokens', clock }
    const driver = createCompatDriver(options)
    return async (...said: string[]) => {
      pieces = said
      const parts = await collect(streamed(driver, request('Where is Row D?')))
      const reasoning = parts.map((part) => (part.type === 'reasoning' ? part.text : '')).join('')
      return { reasoning, text: textOf(parts) }
    }
  }
  const THOUGHT = ['Under', ' coasts.\n', '</think>', '\n\n', 'Row', ' D.']

  test('is known from the second one of a model: what was shown before cannot be taken back', async () => {
    const ask = open()
    expect(await ask(...THOUGHT)).toEqual({ reasoning: '', text: THOUGHT.join('') })
    expect(await ask(...THOUGHT)).toEqual({ reasoning: 'Under coasts.\n', text: 'Row D.' })
    expect(await ask('<think>', 'Under.', '</think>', 'Row D.')).toEqual({ reasoning: 'Under.', text: 'Row D.' })
    expect(await ask('Under co', 'asts.\n</thi', 'nk>\nRow D.')).toEqual({
      reasoning: 'Under coasts.\n',
      text: 'Row D.',
    })
  })

  test('and no more once an answer ends without the tag', async () => {
    const ask = open()
    await ask(...THOUGHT)
    expect((await ask('Row', ' D.')).text).toBe('Row D.')
    expect(await ask('Row', ' D.')).toEqual({ reasoning: '', text: 'Row D.' })
  })

  test('thoughts that reach the limit stay thoughts', async () => {
    const ask = open()
    await ask(...THOUGHT)
    reason = 'length'
    expect(await ask('Under', ' coa')).toEqual({ reasoning: 'Under coa', text: '' })
    reason = 'stop'
    expect(await ask(...THOUGHT)).toEqual({ reasoning: 'Under coasts.\n', text: 'Row D.' })
  })

  test('answers about the tag teach nothing', async () => {
    const ask = open()
    for (const about of ['End it with `</think>`.', 'The tag </think> ends the thoughts.', '<think>a\n</think>\nb'])
      await ask(about)
    expect(await ask('Row', ' D.')).toEqual({ reasoning: '', text: 'Row D.' })
  })
})
