// SQLite only: chat only translates; tests/completions runs what is behind it on both.
import { describe, expect, test } from 'bun:test'
import { expectedChat, WITHOUT_DETAILS } from '../../support/expected-chat'
import { joinDeltas, readFrames } from '../../support/frames'
import { PIXEL } from '../../support/pixel'
import { createUpstreamWorld, freshPrompt } from '../upstream-world'

const { world, upstream } = await createUpstreamWorld()
const ada = await world.person()
type Message = { role: string; content: unknown; [name: string]: unknown }
const sent = () => upstream.calls.at(-1)!.body.messages as Message[]
const user = (content: unknown = freshPrompt()) => ({ role: 'user', content })
const part = (text: string) => ({ type: 'text', text })
const CALL = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }
const chat = (input: object) => ada.send('POST', 'chat/completions', input)

describe('POST /chat/completions (docs/api.md 4)', () => {
  test('answers every member the contract names', async () => {
    const { status, headers, body } = await chat({ messages: [user()] })
    expect(status).toBe(200)
    expect(body).toEqual(expectedChat(headers.get('x-request-id'), null))
  })

  test('sends the last user message as prompt, system messages as one, earlier turns as context', async () => {
    await chat({
      messages: [
        { role: 'system', content: 'Be kind.' },
        user('one'),
        { role: 'assistant', content: 'first' },
        { role: 'developer', content: 'Be short.' },
        user('two'),
      ],
    })
    expect(sent()).toEqual([
      { role: 'system', content: 'Be kind.\n\nBe short.\n\nBe brief.' },
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'first' },
      { role: 'user', content: 'two' },
    ])
  })

  test('speaks with the default voice when no system message replaces it', async () => {
    await chat({ messages: [user()] })
    expect(sent()[0]).toMatchObject({ role: 'system', content: expect.stringContaining('You are Svc') })
  })

  test.each<[string, Message[], ...string[]]>([
    [
      'without tool and function messages and what follows the question',
      [
        user('one'),
        { role: 'assistant', content: null, tool_calls: [CALL] },
        { role: 'tool', content: 'result', tool_call_id: 'c' },
        { role: 'function', content: 'result', name: 'f' },
        user('two'),
      ],
      'user: one',
      'user: two',
    ],
    [
      'with an answer that was a refusal as what it said',
      [user('one'), { role: 'assistant', content: null, refusal: 'I cannot.' }, user('two')],
      'user: one',
      'assistant: I cannot.',
      'user: two',
    ],
    ['with the text parts of a message as one', [user([part('one'), part('two')])], 'user: one\ntwo'],
  ])('sends a conversation %s', async (_, messages, ...turns) => {
    expect((await chat({ messages })).status).toBe(200)
    expect(
      sent()
        .slice(1)
        .map(({ role, content }) => `${role}: ${content}`),
    ).toEqual(turns)
  })

  test('reads results of tools as text at the base of clients, where there are no tools (docs/api.md 33.1)', async () => {
    const call = (id: string) => ({ id, type: 'function', function: { name: 'look_up', arguments: '{}' } })
    const messages = [
      user('one'),
      { role: 'assistant', content: null, tool_calls: [call('a'), call('b')] },
      { role: 'tool', content: 'first', tool_call_id: 'a' },
      { role: 'tool', content: [part('second')], tool_call_id: 'b' },
      user([part('two')]),
      { role: 'assistant', content: null, tool_calls: [call('c')] },
      { role: 'tool', content: 'third', tool_call_id: 'c' },
      { role: 'function', content: 'fourth', name: 'old' },
    ]
    const { status, body } = await ada.send('POST', '/v1/chat/completions', { messages })
    expect(status).toBe(200)
    expect(sent().slice(1)).toEqual([
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'Result of look_up: first\nResult of look_up: second' },
      { role: 'user', content: 'two\nResult of look_up: third\nResult of a tool: fourth' },
    ])
    expect(body.svc_metadata.warnings).toEqual(['Results of tools were read as text, because there are no "tools".'])
  })

  test('a picture without a word is a question', async () => {
    const url = `data:image/png;base64,${PIXEL}`
    const picture = { type: 'image_url', image_url: { url } }
    for (const content of [[picture], [picture, part(' ')]]) {
      const { status, body } = await chat({
        messages: [user('before'), { role: 'assistant', content: 'yes' }, user(content)],
      })
      expect(status).toBe(200)
      expect(body.svc_metadata.resolved_mode).toBe('vision')
      expect(sent().at(-1)).toEqual({ role: 'user', content: [{ type: 'image_url', image_url: { url } }] })
    }
  })

  test('takes pictures from parts and becomes vision', async () => {
    const url = `data:image/png;base64,${PIXEL}`
    const { body } = await chat({
      messages: [user([part('What is it?'), { type: 'image_url', image_url: { url, detail: 'low' } }])],
    })
    expect(body.svc_metadata).toMatchObject({ mode: 'auto', resolved_mode: 'vision' })
    expect(sent().at(-1)?.content).toEqual([
      { type: 'image_url', image_url: { url, detail: 'low' } },
      { type: 'text', text: 'What is it?' },
    ])
  })

  test.each([
    ['svc-1-auto', 'svc-1-flash'],
    ['svc-1-reason', 'svc-1-reason'],
    ['svc-1-code', 'svc-1-code'],
    ['svc-1-edge', 'svc-1-roast'],
    ['gpt-4o', 'svc-1-flash'],
    ['', 'svc-1-flash'],
    ['__proto__', 'svc-1-flash'],
    ['constructor', 'svc-1-flash'],
    ['../../x', 'svc-1-flash'],
    ['x'.repeat(100_000), 'svc-1-flash'],
  ])('the model %j is answered by %s (B26)', async (model, engine) => {
    const { status, body } = await chat({ model, messages: [user()] })
    expect({ status, model: body.model }).toEqual({ status: 200, model: engine })
  })

  test('says the mode of the engine it was asked for', async () => {
    const { body } = await chat({ model: 'svc-1-code', messages: [user()] })
    expect(body.svc_metadata).toMatchObject({ mode: 'code', resolved_mode: 'code' })
  })

  test.each([
    ['[[finish:length]]', 'length'],
    ['[[finish:content_filter]]', 'content_filter'],
    ['[[finish:stop]]', 'stop'],
  ])('%s finishes as %s', async (words, reason) => {
    expect((await chat({ messages: [user(freshPrompt(words))] })).body.choices[0].finish_reason).toBe(reason)
  })

  test('accepts and ignores what it does not know', async () => {
    const input = {
      top_p: 0.1,
      n: 3,
      max_tokens: 5,
      stop: ['x'],
      presence_penalty: 1,
      frequency_penalty: 1,
      seed: 1,
      user: 'u',
      logprobs: true,
      logit_bias: {},
      prediction: { type: 'content', content: 'x' },
      prompt_cache_key: 'k',
      service_tier: 'flex',
      tool_choice: 'auto',
      parallel_tool_calls: false,
      store: true,
      stream_options: null,
      temperature: null,
      stream: null,
      conversation_id: null,
      metadata: null,
    }
    const { status, body } = await chat({ messages: [user()], ...input })
    expect(status).toBe(200)
    expect(body.choices).toHaveLength(1)
    expect(body.svc_metadata.warnings).toEqual([
      'Ignored, because this server does not have these settings: n, prediction, service_tier, store.',
      'Ignored: frequency_penalty, logprobs, max_tokens, presence_penalty, seed, stop, top_p. They count under the base address /v1, unless "chat_parameters" of the key or SVC_CHAT_PARAMETERS says otherwise.',
    ])
  })

  test('has nothing to say of members that ask for what it does anyway', async () => {
    const input = {
      frequency_penalty: 0,
      functions: [],
      logit_bias: {},
      logprobs: false,
      max_tokens: null,
      modalities: ['text'],
      n: 1,
      service_tier: 'auto',
      stop: [],
      store: false,
      top_p: 1,
      user: 'u',
    }
    expect((await chat({ model: 'auto', messages: [user()], ...input })).body.svc_metadata.warnings).toBeUndefined()
  })

  test.each(['gpt-4o', 'think', 'svc-1-reson'])('says that %s is no engine', async (model) => {
    expect((await chat({ model, messages: [user()] })).body.svc_metadata.warnings).toEqual([
      `"model" is "${model}", which is not an engine of this server, so svc-1-auto was used. GET /models lists them.`,
    ])
  })

  test('passes the temperature on', async () => {
    await chat({ messages: [user()], temperature: 1.5 })
    expect(upstream.calls.at(-1)!.body.temperature).toBe(1.5)
  })

  test('is never served from the cache', async () => {
    const input = { messages: [user()] }
    await chat(input)
    const calls = upstream.calls.length
    const { body } = await chat(input)
    expect(upstream.calls.length).toBe(calls + 1)
    expect(body.svc_metadata.cost_cents).toBeGreaterThan(0)
  })

  test('keeps its metadata for the record only', async () => {
    const { text, headers } = await chat({ messages: [user()], metadata: { ticket: 'T-1' } })
    expect(text).not.toContain('T-1')
    const [row] = (await ada.send('GET', `audit?request_id=${headers.get('x-request-id')}`)).body
    expect(row.inputSummary.metadata).toEqual({ ticket: 'T-1' })
  })
})

describe('a chat', () => {
  test('keeps nothing unless it names a conversation', async () => {
    const bob = await world.person()
    await bob.send('POST', 'chat/completions', { messages: [user()] })
    expect((await bob.send('GET', 'conversations')).body.conversations).toEqual([])
  })

  test('that names one puts its history before the turns that were sent', async () => {
    const { conversation_id } = (await ada.send('POST', 'completions', { prompt: 'stored [[say:kept]]' })).body
    const { body } = await chat({
      conversation_id,
      messages: [user('sent'), { role: 'assistant', content: 'too' }, user('now')],
    })
    expect(body.svc_metadata.conversation_id).toBe(conversation_id)
    expect(
      sent()
        .slice(1)
        .map(({ content }) => content),
    ).toEqual(['stored [[say:kept]]', 'kept', 'sent', 'too', 'now'])
    const { messages } = (await ada.send('GET', `conversations/${conversation_id}`)).body.conversation
    expect(messages.map(({ content }: Message) => content).slice(2)).toEqual([
      'now',
      'Hello from the scripted upstream.',
    ])
  })
})

async function stream(words: string, members: object = {}) {
  const messages = [{ role: 'user', content: freshPrompt(words) }]
  const reply = await ada.send('POST', 'chat/completions', { messages, stream: true, ...members })
  return { ...reply, frames: reply.status === 200 ? readFrames(reply.text) : [] }
}

describe('a chat stream (docs/api.md 4)', () => {
  test('is role, texts, finish, [DONE], in that order and without event names (docs/api.md 33.6.28)', async () => {
    const { frames, headers } = await stream('[[say:one two three]][[slow:60]]')
    expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(frames.every(({ event }) => event === null)).toBe(true)
    const chunks = frames.slice(0, -1).map(({ data }) => data)
    const common = {
      id: chunks[0].id,
      object: 'chat.completion.chunk',
      created: chunks[0].created,
      model: 'svc-1-flash',
      service_tier: 'default',
    }
    expect(chunks).toEqual([
      { ...common, choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] },
      ...['one', ' two', ' three'].map((content) => ({
        ...common,
        choices: [{ index: 0, delta: { content }, finish_reason: null }],
      })),
      {
        ...common,
        choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
        svc_metadata: {
          mode: 'auto',
          resolved_mode: 'fast',
          tools_used: [],
          artifacts: [],
          engine: 'svc-core',
          cost_cents: expect.any(Number),
          conversation_id: null,
          routing: expect.objectContaining({ source: 'local', fallback_used: false }),
        },
      },
    ])
    expect(common.id).toMatch(/^chatcmpl_/)
    expect(frames.at(-1)?.data).toBe('[DONE]')
  })

  test('counts its tokens in a chunk of its own when asked to', async () => {
    const { frames } = await stream('[[tokens:4]]', { stream_options: { include_usage: true } })
    expect(frames.at(-2)?.data).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 11, completion_tokens: 4, total_tokens: 15, ...WITHOUT_DETAILS },
    })
    expect(frames.filter(({ data }) => data.usage)).toHaveLength(1)
    const without = await stream('[[tokens:4]]', { stream_options: { include_usage: false } })
    expect(without.frames.some(({ data }) => data.usage)).toBe(false)
  })

  test.each(['length', 'content_filter'])('that ends by %s says so', async (reason) => {
    expect((await stream(`[[finish:${reason}]]`)).frames.at(-2)?.data.choices[0].finish_reason).toBe(reason)
  })

  test('of the engine that was asked for names it in every chunk', async () => {
    const { frames } = await stream('', { model: 'svc-1-reason' })
    expect(new Set(frames.slice(0, -1).map(({ data }) => data.model))).toEqual(new Set(['svc-1-reason']))
  })

  test('carries any text whole', async () => {
    const text = 'data: x\n\ndata: (DONE)\n\u2028 "quotes" \\ é 漢 😀'
    expect(joinDeltas((await stream(`[[say:${text}]]`)).frames).replace(/\s+/g, ' ')).toBe(text.replace(/\s+/g, ' '))
  })

  test.each(['cut', 'truncate', 'malformed'])(
    'that breaks off with %s says so (docs/api.md 33.6.19)',
    async (fault) => {
      const { frames, headers } = await stream(`[[${fault}]][[slow:60]][[tokens:8]]`)
      const isEarly = frames.length === 0
      expect(isEarly).toBe(fault === 'malformed')
      if (isEarly) return
      expect(frames.at(-2)?.data).toEqual({
        error: {
          message: expect.stringContaining('stopped in the middle'),
          type: 'api_error',
          code: 'engine_unavailable',
          request_id: headers.get('x-request-id'),
        },
      })
      expect(frames.at(-1)?.data).toBe('[DONE]')
      expect(frames.some(({ data }) => data.choices?.[0]?.finish_reason)).toBe(false)
    },
  )
})

const warningsOf = async (more: object, after: object[] = []): Promise<string[] | undefined> => {
  const messages = [{ role: 'user', content: freshPrompt() }, ...after]
  const { status, body } = await ada.send('POST', 'chat/completions', { model: 'svc-1-flash', messages, ...more })
  expect(status).toBe(200)
  return body.svc_metadata.warnings
}

test.each([
  ['a skill that there is none of', { skills: ['nope'] }, [], ['There is no skill "nope", so it was skipped.']],
  [
    'a tool_choice without tools',
    { tool_choice: 'required' },
    [],
    ['"tool_choice" was ignored: there are no "tools".'],
  ],
  [
    'the beginning of an answer',
    {},
    [{ role: 'assistant', content: 'It is' }],
    ['"messages[1]" was ignored: you cannot start the answer for the engine.'],
  ],
  ['a tool_choice that changes nothing', { tool_choice: 'auto' }, [], undefined],
])('%s is answered, and said in the warnings', async (_, more, after, warnings) => {
  expect(await warningsOf(more, after)).toEqual(warnings)
})
