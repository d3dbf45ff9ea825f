// SQLite only: a format only translates; tests/completions runs what is behind it on both.
import { describe, expect, test } from 'bun:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { ChatAnthropic } from '@langchain/anthropic'
import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { generateText, isStepCount, jsonSchema, streamText, tool } from 'ai'
import { createUpstreamWorld, freshPrompt } from '../../completions/upstream-world'
import { readFrames } from '../../support/frames'
import { listen } from '../../support/listening'

const { world, upstream } = await createUpstreamWorld()
const { origin } = listen(world)
const { key } = await world.person()
const PLAN = '[[plan:get_weather{"location":"Oslo"}]] [[say:Oslo: Snow.]]'
const SCHEMA = {
  type: 'object' as const,
  required: ['location'],
  properties: { location: { type: 'string' as const } },
}
const tools = {
  get_weather: tool({
    description: 'Gets the weather for a location.',
    inputSchema: jsonSchema<{ location: string }>(SCHEMA),
    execute: async () => 'Snow.',
  }),
}

describe('the AI SDK with its Anthropic provider', () => {
  const model = createAnthropic({ baseURL: `${origin}/v1`, apiKey: key })('svc-1-flash')

  test.each([
    ['ai/6.0.326 ai-sdk/provider-utils/4.0.65 runtime/node.js/v20.20.2', false],
    ['ai-sdk/anthropic/3.0.140 runtime/node.js/24', false],
    ['ai/7.0.173 ai-sdk/anthropic/4.0.105 runtime/node.js/24', true],
  ])('a text without citations says so unless the provider refuses it: %s', async (agent, says) => {
    const reply = await fetch(`${origin}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json', 'user-agent': agent },
      body: JSON.stringify({
        model: 'svc-1-flash',
        max_tokens: 50,
        messages: [{ role: 'user', content: freshPrompt('hi') }],
      }),
    })
    const { content } = (await reply.json()) as { content: object[] }
    expect('citations' in content[0]!).toBe(says)
  })

  test('generates text in steps, with tools between them', async () => {
    const { text, steps, totalUsage } = await generateText({
      model,
      tools,
      stopWhen: isStepCount(4),
      prompt: freshPrompt(PLAN),
      maxRetries: 0,
    })
    expect(text).toBe('Oslo: Snow.')
    expect(steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop'])
    expect(totalUsage.inputTokens).toBe(22)
  })

  test('streams text and tools', async () => {
    const { text, finishReason } = streamText({
      model,
      tools,
      stopWhen: isStepCount(4),
      prompt: freshPrompt(PLAN),
      maxRetries: 0,
    })
    expect(await text).toBe('Oslo: Snow.')
    expect(await finishReason).toBe('stop')
  })
})

describe('LangChain with its Anthropic package', () => {
  const model = new ChatAnthropic({ model: 'svc-1-flash', apiKey: key, anthropicApiUrl: origin, maxRetries: 0 })

  test('invokes, and streams', async () => {
    expect((await model.invoke(freshPrompt('hi'))).content).toBe('Hello from the scripted upstream.')
    const pieces: string[] = []
    for await (const { text } of await model.stream(freshPrompt('hi'))) pieces.push(text)
    expect(pieces.join('')).toBe('Hello from the scripted upstream.')
  })

  test('calls a tool and goes on with its result', async () => {
    const bound = model.bindTools([{ name: 'get_weather', description: 'Gets the weather.', input_schema: SCHEMA }])
    const question = new HumanMessage(freshPrompt(PLAN))
    const first = await bound.invoke([question])
    expect(first.tool_calls).toMatchObject([{ name: 'get_weather', args: { location: 'Oslo' } }])
    const result = new ToolMessage({ tool_call_id: first.tool_calls![0]!.id!, content: 'Snow.' })
    expect((await bound.invoke([question, first, result])).content).toBe('Oslo: Snow.')
  })
})

/** The requests of two coding agents, rebuilt from their known shapes: in parts shortened, none left out. */
describe('coding agents', () => {
  const EPHEMERAL = { cache_control: { type: 'ephemeral' } }

  test('one that speaks this format: blocks of system text, many tools, beta headers (docs/api.md 33.6.22)', async () => {
    const names = [
      'Bash',
      'Read',
      'Edit',
      'Write',
      'Glob',
      'Grep',
      'Task',
      'TodoWrite',
      'WebFetch',
      'mcp__ide__getDiagnostics',
    ]
    const body = {
      model: 'claude-sonnet-4-5-20250929',
      max_tokens: 32_000,
      stream: true,
      temperature: 1,
      metadata: { user_id: 'user_0123_account__session_4567' },
      system: [
        { type: 'text', text: `x-anthropic-billing-header: cc_version=2.1; cch=${crypto.randomUUID()};` },
        { type: 'text', text: 'You are a coding agent.', ...EPHEMERAL },
        { type: 'text', text: 'The working folder is /work.', ...EPHEMERAL },
      ],
      tools: [
        ...names.map((name) => ({
          name,
          description: `The tool ${name}.`,
          input_schema: {
            $schema: 'https://json-schema.org/draft/2020-12/schema',
            type: 'object',
            properties: { command: { type: 'string' } },
            additionalProperties: false,
          },
          eager_input_streaming: true,
        })),
        { type: 'web_search_20250305', name: 'web_search', max_uses: 8 },
      ],
      thinking: { type: 'enabled', budget_tokens: 31_999 },
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: '<system-reminder>Today is Monday.</system-reminder>' },
            { type: 'text', text: freshPrompt('[[plan:Bash{"command":"ls"}]] List the files'), ...EPHEMERAL },
          ],
        },
      ],
    }
    const reply = await world.app.api.handle(
      new Request('http://localhost/v1/messages?beta=true', {
        method: 'POST',
        headers: {
          'x-api-key': key,
          'anthropic-version': '2023-06-01',
          'anthropic-beta':
            'claude-code-20250219,interleaved-thinking-2025-05-14,fine-grained-tool-streaming-2025-05-14',
          'anthropic-dangerous-direct-browser-access': 'true',
          'x-app': 'cli',
          'content-type': 'application/json',
        },
        body: JSON.stringify(body),
      }),
    )
    expect({ status: reply.status, ignored: reply.headers.get('x-svc-ignored') }).toEqual({
      status: 200,
      ignored: 'context_management',
    })
    const frames = readFrames(await reply.text())
    expect(frames.map(({ event }) => event)).toEqual([
      'message_start',
      'ping',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
    expect(frames[2]!.data.content_block).toMatchObject({ type: 'tool_use', name: 'Bash', input: {} })
    expect(frames[5]!.data.delta).toEqual({ stop_reason: 'tool_use', stop_sequence: null })
    expect(frames[5]!.data.svc_metadata.warnings.join()).toContain('web_search')
    const sent = upstream.calls.at(-1)!.body as {
      messages: { content: string }[]
      tools: unknown[]
      max_tokens: number
    }
    expect(sent.messages[0]!.content).toStartWith('You are a coding agent.\n\nThe working folder is /work.')
    expect(sent.tools).toHaveLength(names.length)
    expect(sent.max_tokens).toBe(4_096)
  })

  test('one that speaks chat completions: tools, their results, and usage in the stream', async () => {
    const body = {
      model: 'gpt-5-codex',
      stream: true,
      stream_options: { include_usage: true },
      max_completion_tokens: 16_000,
      reasoning_effort: 'medium',
      parallel_tool_calls: false,
      store: false,
      messages: [
        { role: 'developer', content: [{ type: 'text', text: 'You are a coding agent.' }] },
        { role: 'user', content: freshPrompt('[[say:Two files.]] List the files') },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'call_a', type: 'function', function: { name: 'shell', arguments: '{"command":["ls"]}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_a', content: 'a.ts\nb.ts' },
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'shell', strict: false, parameters: { type: 'object', properties: {} } },
        },
      ],
      tool_choice: 'auto',
    }
    const reply = await world.app.api.handle(
      new Request('http://localhost/v1/chat/completions', {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'openai-beta': 'responses=v1' },
        body: JSON.stringify(body),
      }),
    )
    expect(reply.status).toBe(200)
    const frames = readFrames(await reply.text())
    expect(frames.at(-1)!.data).toBe('[DONE]')
    expect(frames.at(-2)!.data.usage.total_tokens).toBeGreaterThan(0)
    expect(upstream.calls.at(-1)!.body).toMatchObject({ reasoning_effort: 'medium', parallel_tool_calls: false })
  })
})
