import { describe, expect, test } from 'bun:test'
import { createCompatDriver } from '../../../src/engines/drivers/compat-client'
import { splitText } from '../../../src/engines/drivers/upstream'
import type { EnginePart } from '../../../src/engines/engine'
import { collect, plain, request, streamed, textOf } from '../../suites/engine.suite'
import { fakeClock } from '../../support/clock'
import { serveLocally } from '../../support/listening'

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

describe('an upstream whose answers begin within thoughts (docs/api.md 28.4)', () => {
  let pieces: string[] = []
  let reason = 'stop'
  const upstream = serveLocally(async (request) => {
    const { stream } = (await request.json()) as { stream?: boolean }
    if (!stream) {
      const message = { role: 'assistant', content: pieces.join('') }
      return Response.json({ choices: [{ index: 0, message, finish_reason: reason }] })
    }
    const chunk = (delta: object, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`
    const frames = [...pieces.map((content) => chunk({ content })), chunk({}, reason), 'data: [DONE]\n\n']
    return new Response(frames.join(''), { headers: { 'content-type': 'text/event-stream' } })
  })
  const options = { baseUrl: upstream.url.origin, apiKey: null, outputLimitField: 'max_tokens', clock: fakeClock() }
  const driver = createCompatDriver({ ...options, thinksFirst: true })

  test.each([
    ['without an opening tag', ['Under', ' coasts.</th', 'ink>', '\n\n', 'Row', ' D.'], 'Under coasts.', 'Row D.'],
    ['within a line', ['Under coasts.</think>Row D.'], 'Under coasts.', 'Row D.'],
    ['with an opening tag', ['<thi', 'nk>Under.</think>', 'Row D.'], 'Under.', 'Row D.'],
    ['and the answer names the tag', ['Hm.</think>', 'It is `</think>`.'], 'Hm.', 'It is `</think>`.'],
  ])('%s, as a stream and whole', async (_, sent, reasoning, text) => {
    pieces = sent
    reason = 'stop'
    const parts = await collect(streamed(driver, request('Where is Row D?')))
    expect({ reasoning: reasoningOf(parts), text: textOf(parts) }).toEqual({ reasoning, text })
    expect(await plain(driver, request('Where is Row D?'))).toMatchObject({ reasoning, text })
  })

  test('answers that end without the tag had no thoughts, and stay thoughts if they were cut off', async () => {
    pieces = ['Row', ' D.']
    reason = 'stop'
    expect(textOf(await collect(streamed(driver, request('Where?'))))).toBe('Row D.')
    expect(await plain(driver, request('Where?'))).toMatchObject({ reasoning: '', text: 'Row D.' })
    reason = 'length'
    const cut = await collect(streamed(driver, request('Where?')))
    expect({ reasoning: reasoningOf(cut), text: textOf(cut) }).toEqual({ reasoning: 'Row D.', text: '' })
  })

  test('streams of other upstreams are not changed', async () => {
    pieces = ['Under.\n</think>\nRow D.']
    reason = 'stop'
    expect(textOf(await collect(streamed(createCompatDriver(options), request('Where?'))))).toBe(pieces[0]!)
  })
})

const reasoningOf = (parts: readonly EnginePart[]) =>
  parts.map((part) => (part.type === 'reasoning' ? part.text : '')).join('')
