// SQLite only: a format only translates; tests/completions runs what is behind it on both.
import { describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { createUpstreamWorld, freshPrompt } from '../../completions/upstream-world'
import { listen } from '../../support/listening'
import { PIXEL } from '../../support/pixel'

const { world, upstream } = await createUpstreamWorld()
const { origin } = listen(world)
const ada = await world.person()
const clientOf = (key: string) => new Anthropic({ baseURL: origin, apiKey: key, maxRetries: 0 })
const client = clientOf(ada.key)
const model = 'svc-1-flash'

const WEATHER: Anthropic.Tool = {
  name: 'get_weather',
  description: 'Gets the weather.',
  input_schema: { type: 'object', required: ['location'], properties: { location: { type: 'string' } } },
}
const PLAN = '[[plan:get_weather{"location":"Oslo"};get_weather{"location":"Rome"}]] [[say:Oslo: Snow.]]'

const order = (words: string, more: Partial<Anthropic.MessageCreateParamsNonStreaming> = {}) => ({
  model,
  max_tokens: 1_000,
  messages: [{ role: 'user' as const, content: freshPrompt(words) }],
  ...more,
})

/** The message, or what a stream of it comes to. */
const ask = (params: Anthropic.MessageCreateParamsNonStreaming, stream = false) =>
  stream ? client.messages.stream(params).finalMessage() : client.messages.create(params)

const sent = () => upstream.calls.at(-1)!.body

describe('the Anthropic package (docs/api.md 30)', () => {
  test('creates a message', async () => {
    const { data, response } = await client.messages.create(order('hi')).withResponse()
    expect(data).toMatchObject({
      id: expect.stringMatching(/^msg_\w{24}$/),
      type: 'message',
      role: 'assistant',
      model,
      content: [{ type: 'text', text: 'Hello from the scripted upstream.', citations: null }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: {
        input_tokens: 11,
        output_tokens: 5,
        cache_read_input_tokens: 0,
        cache_creation_input_tokens: 0,
        service_tier: 'standard',
      },
    })
    expect(response.headers.get('request-id')).toBe(response.headers.get('x-request-id'))
    expect(Date.parse(response.headers.get('anthropic-ratelimit-requests-reset')!)).toBeGreaterThan(0)
    expect(sent().max_tokens).toBe(1_000)
  })

  test('runs tools by itself, and keeps threads', async () => {
    const run = ({ location }: { location: string }) => `Snow in ${location}.`
    const tools = [betaTool({ name: 'get_weather', description: '', inputSchema: WEATHER.input_schema as never, run })]
    const last = await client.beta.messages.toolRunner({ ...order(PLAN), tools } as never)
    expect(last).toMatchObject({ content: [{ type: 'text', text: 'Oslo: Snow.' }] })
    const thread = client.beta.messages.thread({ model, max_tokens: 100 })
    await thread.send({ role: 'user', content: freshPrompt('hi') })
    await thread.send({ role: 'user', content: 'And now?' })
    const { messages } = sent() as { messages: { role: string }[] }
    expect(messages.slice(-3).map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
  })

  test('tools change in the middle of a conversation', async () => {
    const tool = (name: string, description = '') => ({ name, description, input_schema: { type: 'object' } })
    const adding = (definition: object) => ({ type: 'tool_addition', tool: { type: 'tool_definition', definition } })
    const content = [
      { type: 'text', text: 'Session instructions.' },
      adding(tool('run', 'New.')),
      { type: 'tool_addition', tool: { type: 'tool_reference', name: 'later' } },
      { type: 'tool_removal', tool: { type: 'tool_reference', name: 'old' } },
    ]
    const { messages, ...rest } = order('[[plan:run{}]]')
    const body = {
      ...{ ...rest, tools: [tool('old'), tool('run', 'Old.'), { ...tool('later'), defer_loading: true }] },
      messages: [...messages, { role: 'system', content }, { role: 'system', content: [] }],
    }
    const { status, body: made } = await ada.send('POST', '/v1/messages', body)
    expect(status).toBe(200)
    expect(made.content).toMatchObject([{ type: 'tool_use', name: 'run', input: {} }])
    const offered = sent().tools as { function: { name: string; description: string } }[]
    expect(offered.map((one) => one.function)).toMatchObject([{ name: 'later' }, { name: 'run', description: 'New.' }])
    expect(JSON.stringify(sent().messages)).toContain('Session instructions.')
    const wrong = { ...body, messages: [...messages, { role: 'system', content: [adding({ name: 'a b' })] }] }
    const { body: refused } = await ada.send('POST', '/v1/messages', wrong)
    expect(refused.error.details.param).toBe('messages[1].content[0].tool.definition.name')
  })

  test('the result of a search for tools says which there are', async () => {
    const use = { type: 'tool_use', id: 'toolu_1', name: 'ToolSearch', input: {} }
    const found = [{ type: 'tool_reference', tool_name: 'later' }]
    const { messages, ...rest } = order('[[say:Done.]]')
    const { status, body } = await ada.send('POST', '/v1/messages', {
      ...{ ...rest, tools: [{ name: 'ToolSearch', input_schema: { type: 'object' } }] },
      messages: [
        ...messages,
        { role: 'assistant', content: [use] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: found }] },
      ],
    })
    expect({ status, warnings: body.svc_metadata.warnings }).toEqual({ status: 200, warnings: undefined })
    expect(JSON.stringify(sent().messages)).toContain('The tool later can be called.')
  })

  test('streams one, whose final message is the plain one', async () => {
    const stream = client.messages.stream(order('[[tokens:30]]'))
    const texts: string[] = []
    stream.on('text', (piece) => texts.push(piece))
    const message = await stream.finalMessage()
    expect(texts.join('')).toBe(Array.from({ length: 30 }, () => 'word').join(' '))
    expect(message.content).toMatchObject([{ type: 'text', text: texts.join('') }])
    expect(message).toMatchObject({ stop_reason: 'end_turn', usage: { input_tokens: 11, output_tokens: 30 } })
  })

  test.each([false, true])('uses tools over two turns, streamed: %p', async (stream) => {
    const params = order(PLAN, { tools: [WEATHER] })
    const first = await ask(params, stream)
    expect(first.stop_reason).toBe('tool_use')
    const calls = first.content.filter((block) => block.type === 'tool_use')
    expect(calls.map(({ input }) => input)).toEqual([{ location: 'Oslo' }, { location: 'Rome' }])
    expect(calls[0]!.id).toMatch(/^toolu_\w{24}$/)
    const results = calls.map(({ id }) => ({
      type: 'tool_result' as const,
      tool_use_id: id,
      is_error: id === calls[1]!.id,
      content: [{ type: 'text' as const, text: 'Snow.' }],
    }))
    const turns = [
      { role: 'assistant' as const, content: first.content },
      { role: 'user' as const, content: results },
    ]
    const second = await ask({ ...params, messages: [...params.messages, ...turns] }, stream)
    expect(second.content).toMatchObject([{ type: 'text', text: 'Oslo: Snow.' }])
    const tools = (sent().messages as { role: string; content: string }[]).filter(({ role }) => role === 'tool')
    expect(tools.map(({ content }) => content)).toEqual(['Snow.', 'Error: Snow.'])
  })

  test('sends pictures, also in results (docs/api.md 33.6.23)', async () => {
    const picture = {
      type: 'image' as const,
      source: { type: 'base64' as const, media_type: 'image/png' as const, data: PIXEL },
    }
    await client.messages.create(
      order('', {
        model: 'svc-1-vision',
        messages: [
          { role: 'user', content: [picture, { type: 'text', text: freshPrompt('See this') }] },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'get_weather', input: {} }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: [picture] }] },
        ],
        tools: [WEATHER],
      }),
    )
    expect(JSON.stringify(sent().messages).split(PIXEL)).toHaveLength(3)
  })

  test.each([false, true])('shows thoughts only when it asks for them, streamed: %p', async (stream) => {
    const thinking = { type: 'enabled' as const, budget_tokens: 2_048 }
    const shown = await ask(order('[[think:hm]] [[say:Yes.]]', { thinking, max_tokens: 4_000 }), stream)
    expect(shown.content).toMatchObject([
      { type: 'thinking', thinking: 'hm', signature: expect.stringMatching(/./) },
      { type: 'text', text: 'Yes.' },
    ])
    expect(shown.usage.output_tokens_details).toMatchObject({ thinking_tokens: 1 })
    expect(sent().reasoning_effort).toBe('low')
    expect((await ask(order('[[think:hm]] [[say:Yes.]]'), stream)).content).toMatchObject([
      { type: 'text', text: 'Yes.' },
    ])
    const back = order('', {
      messages: [
        { role: 'user', content: freshPrompt('One') },
        { role: 'assistant', content: shown.content },
        { role: 'user', content: freshPrompt('Two') },
      ],
    })
    await ask(back, stream)
    expect(JSON.stringify(sent().messages)).toContain('"reasoning_content":"hm"')
  })

  test.each([false, true])('ends at a stop sequence, and says which, streamed: %p', async (stream) => {
    const params = order('[[say:one two THE END three]]', { stop_sequences: ['never', 'THE END'] })
    const ended = { stop_reason: 'stop_sequence', stop_sequence: 'THE END' }
    expect(await ask(params, stream)).toMatchObject({ content: [{ text: 'one two ' }], ...ended } as object)
  })

  test('counts the tokens of a message, with its tools and pictures, and asks no engine (docs/api.md 33.6.17)', async () => {
    const calls = upstream.calls.length
    const { messages } = order('How many tokens are in this sentence of plain English words?')
    const plain = await client.messages.countTokens({ model, messages })
    const withTools = await client.messages.countTokens({ model: 'claude-opus-4-5', messages, tools: [WEATHER] })
    expect(plain.input_tokens).toBeGreaterThan(10)
    expect(withTools.input_tokens).toBeGreaterThan(plain.input_tokens)
    const { input_tokens } = await client.beta.messages.countTokens({ model, messages })
    expect(input_tokens).toBe(plain.input_tokens)
    expect(upstream.calls.length).toBe(calls)
  })
})

describe('the error classes of the Anthropic package (docs/api.md 30.5)', () => {
  const refusal = (params: object, by = client) =>
    by.messages.create({ ...order('hi'), ...params } as Anthropic.MessageCreateParamsNonStreaming).then(
      () => expect.unreachable(),
      (thrown: InstanceType<typeof Anthropic.APIError>) => thrown,
    )
  const typeOf = ({ error }: InstanceType<typeof Anthropic.APIError>) =>
    (error as { error: { type: string; details: object } }).error

  test('400 is BadRequestError, with the member that is wrong', async () => {
    const thrown = await refusal({ max_tokens: undefined })
    expect(thrown).toBeInstanceOf(Anthropic.BadRequestError)
    expect(typeOf(thrown)).toMatchObject({
      type: 'invalid_request_error',
      details: { error_code: 'validation_error', param: 'max_tokens' },
    })
    expect(thrown.requestID).toMatch(/^req_/)
  })

  test('401 is AuthenticationError', async () => {
    const thrown = await refusal({}, clientOf('svc_live_wrong'))
    expect(thrown).toBeInstanceOf(Anthropic.AuthenticationError)
    expect(typeOf(thrown).type).toBe('authentication_error')
  })

  test('404 is NotFoundError', async () => {
    expect(await refusal({ conversation_id: crypto.randomUUID() })).toBeInstanceOf(Anthropic.NotFoundError)
    const reply = await fetch(`${origin}/v1/messages/nothing`, { headers: { 'x-api-key': ada.key } })
    expect({ status: reply.status, body: await reply.json() }).toMatchObject({ status: 404, body: { type: 'error' } })
  })

  test('an error after the first byte is an event of its own', async () => {
    const thrown = await client.messages
      .stream(order('[[cut]][[slow:40]][[tokens:8]]'))
      .finalMessage()
      .catch((error: unknown) => error)
    expect(String(thrown)).toContain('overloaded_error')
  })
})
