// SQLite only: a format only translates; tests/completions runs what is behind it on both.
import { describe, expect, test } from 'bun:test'
import { ChatAnthropic } from '@langchain/anthropic'
import type { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage, type AIMessageChunk, type BaseMessage, HumanMessage, SystemMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { createUpstreamWorld, freshPrompt } from '../completions/upstream-world'
import { WEATHER } from '../suites/compat'
import { listen } from '../support/listening'
import { createWorld, type World } from '../support/world'

/** The package of each format, in its defaults but for the address and the key. */
function packagesOf(world: World) {
  const { origin, baseUrl } = listen(world)
  const options = { model: 'svc-1-flash', maxRetries: 0, streamUsage: true }
  return {
    completions: (apiKey: string) => new ChatOpenAI({ ...options, apiKey, configuration: { baseURL: baseUrl } }),
    messages: (apiKey: string) => new ChatAnthropic({ ...options, apiKey, anthropicApiUrl: origin }),
  }
}

const { world, upstream } = await createUpstreamWorld()
const { completions, messages } = packagesOf(world)
const { key } = await world.person()
const scripted = completions(key)
const builtinWorld = await createWorld()
const builtin = packagesOf(builtinWorld).completions((await builtinWorld.person()).key)

describe.each<[string, (apiKey: string) => BaseChatModel, object]>([
  ['chat completions', completions, { finish_reason: 'stop' }],
  ['messages', messages, { stop_reason: 'end_turn' }],
])('LangChain, over %s', (_, connect, end) => {
  const model = connect(key)

  test('invokes', async () => {
    const { text, usage_metadata, response_metadata } = await model.invoke(freshPrompt())
    expect({ text, usage_metadata, response_metadata }).toMatchObject({
      text: 'Hello from the scripted upstream.',
      usage_metadata: { input_tokens: 11, output_tokens: 5, total_tokens: 16 },
      response_metadata: end,
    })
  })

  test('invokes with a history', async () => {
    const history = [new HumanMessage('one'), new AIMessage('first'), new HumanMessage('two')]
    await model.invoke([new SystemMessage('Be kind.'), ...history])
    const sent = upstream.calls.at(-1)!.body.messages as { role: string; content: string }[]
    expect(sent.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user'])
    expect(sent.at(-1)?.content).toBe('two')
  })

  test('streams', async () => {
    const chunks = await Array.fromAsync(await model.stream(freshPrompt('[[say:one two three]][[slow:3]]')))
    expect(chunks.map(({ text }) => text).join('')).toBe('one two three')
    const used = chunks.findLast(({ usage_metadata }) => usage_metadata?.output_tokens)
    expect(used?.usage_metadata).toMatchObject({ output_tokens: 3 })
  })

  test('runs a batch side by side', async () => {
    // The classes of the two packages differ in its other forms.
    const batch = model.batch.bind(model) as (prompts: string[]) => Promise<{ text: string }[]>
    const answers = await batch([freshPrompt('[[say:a]]'), freshPrompt('[[say:b]]'), freshPrompt('[[say:c]]')])
    expect(answers.map(({ text }) => text)).toEqual(['a', 'b', 'c'])
  })

  test('throws what the server refuses', async () => {
    const attempt = connect('svc_sk_live_nope').invoke('x')
    expect(await attempt.catch((thrown: unknown) => thrown)).toMatchObject({ status: 401 })
  })
})

const weather = tool(async () => 'Snow.', {
  name: 'get_weather',
  description: 'Gets the weather for a location.',
  schema: WEATHER as never,
})
const PLAN = '[[plan:get_weather{"location":"Oslo"}]] [[say:Oslo: Snow.]]'

describe.each([
  ['chat completions', scripted, PLAN, /^Oslo: Snow\.$/],
  ['messages', messages(key), PLAN, /^Oslo: Snow\.$/],
  ['the built-in engine', builtin, 'What is the weather in Oslo?', /Snow/],
] as const)('tools of LangChain, over %s', (_, model, prompt, pattern) => {
  const bound = model.bindTools([weather])
  const called = [{ name: 'get_weather', args: { location: 'Oslo' } }]

  test('are called, and answered from', async () => {
    const history: BaseMessage[] = [new HumanMessage(freshPrompt(prompt))]
    const request = (await bound.invoke(history)) as AIMessage
    expect(request.tool_calls).toMatchObject(called.map((call) => ({ ...call, type: 'tool_call' })))
    expect(request.invalid_tool_calls ?? []).toEqual([])
    const answer = await bound.invoke([...history, request, await weather.invoke(request.tool_calls![0]!)])
    expect(answer.text).toMatch(pattern)
    const { finish_reason, stop_reason } = answer.response_metadata
    expect(finish_reason ?? stop_reason).toMatch(/^(stop|end_turn)$/)
  })

  test('are put together from a stream', async () => {
    const chunks: AIMessageChunk[] = await Array.fromAsync(await bound.stream(freshPrompt(prompt)))
    expect(chunks.reduce((whole, chunk) => whole.concat(chunk)).tool_calls).toMatchObject(called)
  })

  test('may be demanded', async () => {
    const forced = model.bindTools([weather], { tool_choice: 'get_weather' })
    const { tool_calls } = await forced.invoke(freshPrompt(`${prompt} [[tool:get_weather]]`))
    expect(tool_calls).toMatchObject([{ name: 'get_weather' }])
  })
})

const PERSON = {
  title: 'person',
  type: 'object',
  required: ['name', 'age'],
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
}

test.each([
  ['scripted, by schema', scripted, 'jsonSchema', '[[say:{"name":"Ada","age":36}]]'],
  ['scripted, by function', scripted, 'functionCalling', '[[plan:person{"name":"Ada","age":36}]]'],
  ['built-in, by schema', builtin, 'jsonSchema', 'Name: Ada\nAge: 36\n\nNumber'],
  ['built-in, by function', builtin, 'functionCalling', 'Name: Ada\nAge: 36\n\nNumber'],
] as const)('structured output of LangChain is the object, %s', async (_, model, method, prompt) => {
  const structured = model.withStructuredOutput(PERSON, { method, name: 'person' })
  expect(await structured.invoke(freshPrompt(prompt))).toEqual({ name: 'Ada', age: 36 })
})
