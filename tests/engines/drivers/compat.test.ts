import { describe, expect, test } from 'bun:test'
import { createCompatDriver } from '../../../src/engines/drivers/compat-client'
import { systemClock } from '../../../src/kernel/clock'
import { collect, engineSuite, plain, request, streamed, textOf, upstreamSuite } from '../../suites/engine.suite'
import { fakeClock } from '../../support/clock'
import { startUpstream } from '../../support/upstream'

const upstream = await startUpstream()
const options = { baseUrl: `${upstream.url}/`, apiKey: 'sk-test', outputLimitField: 'max_tokens', clock: fakeClock() }
const driver = createCompatDriver(options)
const impatient = createCompatDriver({ ...options, clock: systemClock, silenceMs: 150 })

engineSuite('compat', driver, 'Hello')

describe('compat on the wire', () => {
  test('sends what chat-completions servers expect, and nothing else', async () => {
    upstream.reset()
    await plain(driver, request('Hi', { temperature: 0.3, maxOutputTokens: 77 }))
    expect(upstream.calls[0]).toMatchObject({
      path: '/v1/chat/completions',
      headers: { authorization: 'Bearer sk-test' },
      body: {
        model: 'scripted-model',
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Hi' },
        ],
        stream: false,
        max_tokens: 77,
        temperature: 0.3,
      },
    })
  })

  test('asks a stream for its usage', async () => {
    upstream.reset()
    const parts = await collect(streamed(driver, request('Hi')))
    expect(upstream.calls[0]!.body).toMatchObject({ stream: true, stream_options: { include_usage: true } })
    expect(parts.find((part) => part.type === 'usage')).toEqual({
      type: 'usage',
      promptTokens: 11,
      completionTokens: 5,
    })
  })

  test('names the limit as the server wants it', async () => {
    upstream.reset()
    const other = createCompatDriver({ ...options, outputLimitField: 'max_completion_tokens' })
    await plain(other, request('Hi', { maxOutputTokens: 5 }))
    expect(upstream.calls[0]!.body).toMatchObject({ max_completion_tokens: 5 })
    expect(upstream.calls[0]!.body).not.toHaveProperty('max_tokens')
  })

  test('asks for JSON with the schema it was given', async () => {
    upstream.reset()
    await plain(driver, request('Hi', { json: { schema: { type: 'object' } } }))
    await plain(driver, request('Hi', { json: true }))
    expect(upstream.calls.map((call) => call.body.response_format)).toEqual([
      { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' } } },
      { type: 'json_object' },
    ])
  })

  test('writes tool calls and results back as they came', async () => {
    upstream.reset()
    const messages = [
      { role: 'user' as const, content: 'Look' },
      { role: 'assistant' as const, content: '', toolCalls: [{ id: 'call_1', name: 'look', arguments: '{}' }] },
      { role: 'tool' as const, toolCallId: 'call_1', toolName: 'look', content: 'seen' },
    ]
    await plain(driver, request('', { messages }))
    expect(upstream.calls[0]!.body.messages).toEqual([
      { role: 'user', content: 'Look' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'seen' },
    ])
  })

  test('a stream that is not read keeps its upstream waiting without a time-out', async () => {
    const silenceMs = 1_500
    const stream = streamed(createCompatDriver({ ...options, clock: systemClock, silenceMs }), request('[[tokens:30]]'))
    const first = await stream.next()
    // The reader's own pause, longer than the patience with an upstream.
    await Bun.sleep(silenceMs * 1.3)
    const rest = await collect(stream)
    expect(textOf([first.value, ...rest]).split(' ')).toHaveLength(30)
  })

  test('one connection serves one stream after another', async () => {
    upstream.reset()
    const ports = new Set<unknown>()
    for (let round = 0; round < 3; round++) {
      await collect(streamed(driver, request('Hi')))
      ports.add(upstream.calls.at(-1)!.clientPort)
    }
    expect(ports.size).toBe(1)
  })

  test('nobody at the address is a refusal', async () => {
    const lonely = createCompatDriver({ ...options, baseUrl: 'http://127.0.0.1:9/v1' })
    await expect(plain(lonely, request('Hi'))).rejects.toMatchObject({ kind: 'refused', retryable: true })
    await expect(lonely.probe(new AbortController().signal)).rejects.toMatchObject({ kind: 'refused' })
  })
})

upstreamSuite('compat', { driver, impatient, upstream })
