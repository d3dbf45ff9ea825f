// SQLite only: a format only translates; tests/completions runs what is behind it on both.
import { describe, expect, test } from 'bun:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import {
  APICallError,
  generateObject,
  generateText,
  isStepCount,
  jsonSchema,
  NoObjectGeneratedError,
  Output,
  streamObject,
  streamText,
  tool,
} from 'ai'
import { createUpstreamWorld, freshPrompt } from '../completions/upstream-world'
import { WEATHER } from '../suites/compat'
import { listen } from '../support/listening'
import { PIXEL } from '../support/pixel'
import { createWorld, type World } from '../support/world'

/** The provider of each format, in its defaults but for the address and the key. */
function providersOf(world: World) {
  const { origin, baseUrl } = listen(world)
  const compatible = { name: 'svc', baseURL: baseUrl, includeUsage: true, supportsStructuredOutputs: true }
  return {
    completions: (apiKey: string) => createOpenAICompatible({ ...compatible, apiKey }),
    responses: (apiKey: string) => createOpenAI({ baseURL: `${origin}/v1`, apiKey }),
    messages: (apiKey: string) => createAnthropic({ baseURL: `${origin}/v1`, apiKey }),
  }
}

const { world, upstream } = await createUpstreamWorld()
const { completions, responses, messages } = providersOf(world)
const ada = await world.person()
const { key } = ada
const builtinWorld = await createWorld()
const builtin = providersOf(builtinWorld).completions((await builtinWorld.person()).key)('svc-1-flash')

const question = (words?: string) => ({ prompt: freshPrompt(words), maxRetries: 0 })
const lastSent = () => upstream.calls.at(-1)!.body

const SCRIPTED = [
  ['chat completions', completions],
  ['responses (docs/api.md 33.6.11)', responses],
  ['messages', messages],
] as const

describe.each(SCRIPTED)('the AI SDK, over %s', (_, connect) => {
  const svc = connect(key)
  const model = svc('svc-1-flash')

  test('generates text', async () => {
    const { text, finishReason, usage, response } = await generateText({ model, ...question() })
    expect({ text, finishReason, usage, response }).toMatchObject({
      text: 'Hello from the scripted upstream.',
      finishReason: 'stop',
      usage: { inputTokens: 11, outputTokens: 5, totalTokens: 16 },
      response: { modelId: 'svc-1-flash' },
    })
  })

  test('streams text', async () => {
    const result = streamText({ model, ...question('[[say:one two three]][[slow:3]]') })
    expect((await Array.fromAsync(result.textStream)).join('')).toBe('one two three')
    expect(await result.finishReason).toBe('stop')
    expect(await result.usage).toMatchObject({ inputTokens: 11, outputTokens: 3 })
  })

  test('holds a conversation with a system prompt and a picture', async () => {
    const picture = {
      type: 'file',
      data: new Uint8Array(Buffer.from(PIXEL, 'base64')),
      mediaType: 'image/png',
    } as const
    await generateText({
      model: svc('svc-1-vision'),
      system: 'Be kind.',
      messages: [
        { role: 'user', content: 'one' },
        { role: 'assistant', content: 'first' },
        { role: 'user', content: [{ type: 'text', text: freshPrompt() }, picture] },
      ],
      maxRetries: 0,
    })
    const sent = lastSent().messages as { role: string; content: unknown }[]
    expect(sent.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user'])
    expect(sent[0]?.content).toStartWith('Be kind.')
    expect(JSON.stringify(sent[3]?.content)).toContain(`data:image/png;base64,${PIXEL}`)
  })

  test('knows an error for what it is', async () => {
    const attempt = generateText({ model: connect('svc_sk_live_nope')('svc-1-flash'), ...question() })
    const error = await attempt.catch((thrown: unknown) => thrown)
    expect(APICallError.isInstance(error)).toBe(true)
    expect(error).toMatchObject({ statusCode: 401, isRetryable: false })
  })

  test('hears of an engine that breaks off in the middle', async () => {
    const errors: unknown[] = []
    const onError = ({ error }: { error: unknown }) => void errors.push(error)
    await streamText({ model, ...question('[[cut]][[slow:40]][[tokens:8]]'), onError }).consumeStream()
    expect(JSON.stringify(errors)).toContain('stopped in the middle')
  })
})

const SKY: Record<string, string> = { Oslo: 'Snow', Rome: 'Sun' }
const tools = {
  get_weather: tool({
    description: 'Gets the weather for a location.',
    inputSchema: jsonSchema<{ location: string }>(WEATHER as never),
    execute: async ({ location }) => `${SKY[location]} in ${location}.`,
  }),
}
const PLAN = '[[plan:get_weather{"location":"Oslo"};get_weather{"location":"Rome"}]] [[say:Oslo: Snow. Rome: Sun.]]'
const ANSWER = /^Oslo: Snow\. Rome: Sun\.$/

describe.each([
  ...SCRIPTED.map(([name, connect]) => [name, connect(key)('svc-1-flash'), PLAN, ANSWER, 22] as const),
  ['the built-in engine', builtin, 'What is the weather in Oslo and Rome?', /Snow.*Sun/s, expect.any(Number)],
] as const)('tools of the AI SDK, over %s', (_, model, prompt, pattern, inputTokens) => {
  const request = { model, tools, stopWhen: isStepCount(4) }
  const reasons = (steps: { finishReason: string }[]) => steps.map(({ finishReason }) => finishReason)

  test('run between the steps', async () => {
    const { text, steps, totalUsage } = await generateText({ ...request, ...question(prompt) })
    expect(reasons(steps)).toEqual(['tool-calls', 'stop'])
    expect(steps[0]!.toolResults).toMatchObject([
      { input: { location: 'Oslo' }, output: 'Snow in Oslo.' },
      { input: { location: 'Rome' }, output: 'Sun in Rome.' },
    ])
    expect(text).toMatch(pattern)
    expect(totalUsage.inputTokens).toEqual(inputTokens)
    expect(totalUsage.totalTokens).toBeGreaterThan(0)
    if (pattern === ANSWER) expect(JSON.stringify(lastSent().messages)).toContain('Sun in Rome.')
  })

  test('run between the steps of a stream', async () => {
    const result = streamText({ ...request, ...question(prompt) })
    expect((await Array.fromAsync(result.textStream)).join('')).toMatch(pattern)
    expect(reasons(await result.steps)).toEqual(['tool-calls', 'stop'])
  })

  test('may be demanded, and forbidden', async () => {
    const demand = question(`${prompt} [[tool:get_weather]]`)
    const { toolCalls } = await generateText({ model, tools, toolChoice: 'required', ...demand })
    expect(toolCalls.length).toBeGreaterThan(0)
    const free = await generateText({ model, tools, toolChoice: 'none', ...question('Hello') })
    expect(free).toMatchObject({ finishReason: 'stop', toolCalls: [] })
  })
})

const ADA = { name: 'Ada', age: 36 }
const schema = jsonSchema<typeof ADA>({
  type: 'object',
  additionalProperties: false,
  required: ['name', 'age'],
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
})

/** The formats whose provider hands over the schema; that of messages asks for an object by a tool. */
const BY_SCHEMA = SCRIPTED.slice(0, 2)

describe.each([
  ...BY_SCHEMA.map(([name, connect]) => [name, connect(key)('svc-1-flash'), `[[say:${JSON.stringify(ADA)}]]`] as const),
  ['the built-in engine', builtin, 'Name: Ada\nAge: 36\n\nNumber'],
] as const)('an object of the AI SDK, over %s', (_, model, prompt) => {
  test('is generated', async () => {
    const { object, finishReason } = await generateObject({ model, schema, ...question(prompt) })
    expect({ object, finishReason }).toEqual({ object: ADA, finishReason: 'stop' })
    if (model === builtin) return
    const format = { type: 'json_schema', json_schema: { schema: { required: ['name', 'age'] } } }
    expect(lastSent().response_format).toMatchObject(format)
  })

  test('is streamed', async () => {
    const result = streamObject({ model, schema, ...question(prompt) })
    expect((await Array.fromAsync(result.partialObjectStream)).at(-1)).toEqual(ADA)
    expect(await result.object).toEqual(ADA)
  })

  test('is the output of a text', async () => {
    const output = Output.object({ schema })
    expect((await generateText({ model, output, ...question(prompt) })).output).toEqual(ADA)
  })
})

test.each(BY_SCHEMA)('an object that does not match the schema is ignored, over %s', async (_, connect) => {
  const attempt = generateObject({ model: connect(key)('svc-1-flash'), schema, ...question('[[say:{"name":"Ada"}]]') })
  expect(NoObjectGeneratedError.isInstance(await attempt.catch((thrown: unknown) => thrown))).toBe(true)
})

test.each([
  ['ai/6.0.326 ai-sdk/provider-utils/4.0.65 runtime/node.js/v20.20.2', false],
  ['ai-sdk/anthropic/3.0.140 runtime/node.js/24', false],
  ['ai/7.0.173 ai-sdk/anthropic/4.0.105 runtime/node.js/24', true],
])('a text of messages without citations says so unless the provider refuses it: %s', async (agent, says) => {
  const body = { model: 'svc-1-flash', max_tokens: 50, messages: [{ role: 'user', content: freshPrompt() }] }
  const { content } = (await ada.send('POST', '/v1/messages', body, { 'user-agent': agent })).body
  expect('citations' in content[0]).toBe(says)
})
