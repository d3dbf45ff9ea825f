// SQLite only: chat only translates; tests/completions runs what is behind it on both.
import { describe, expect, test } from 'bun:test'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import {
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
import { listen } from '../../support/listening'
import { createWorld, type World } from '../../support/world'
import { createUpstreamWorld, freshPrompt } from '../upstream-world'

async function modelOf(world: World) {
  const { key } = await world.person()
  const options = { name: 'svc', baseURL: listen(world).baseUrl, apiKey: key, includeUsage: true }
  return createOpenAICompatible({ ...options, supportsStructuredOutputs: true })('svc-1-flash')
}

const { world, upstream } = await createUpstreamWorld()
const scripted = await modelOf(world)
const builtin = await modelOf(await createWorld())

const PLAN = '[[plan:get_weather{"location":"Oslo"};get_weather{"location":"Rome"}]] [[say:Oslo: Snow. Rome: Sun.]]'
const ENGINES = [
  ['scripted', scripted, PLAN],
  ['built-in', builtin, 'What is the weather in Oslo and Rome?'],
] as const

const SKY: Record<string, string> = { Oslo: 'Snow.', Rome: 'Sun.' }
const tools = {
  get_weather: tool({
    description: 'Gets the weather for a location.',
    inputSchema: jsonSchema<{ location: string }>({
      type: 'object',
      required: ['location'],
      properties: { location: { type: 'string' } },
    }),
    execute: async ({ location }) => SKY[location] ?? 'Nobody knows.',
  }),
}

const stopWhen = isStepCount(4)

describe.each(ENGINES)('the AI SDK, over the %s engine', (_, model, prompt) => {
  test('generates text in steps, with tools between them', async () => {
    const { text, steps, totalUsage } = await generateText({
      model,
      tools,
      stopWhen,
      prompt: freshPrompt(prompt),
      maxRetries: 0,
    })
    expect(steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop'])
    expect(steps[0]!.toolResults.map(({ input, output }) => [input, output] as unknown)).toEqual([
      [{ location: 'Oslo' }, 'Snow.'],
      [{ location: 'Rome' }, 'Sun.'],
    ])
    expect(text).toContain('Snow.')
    expect(text).toContain('Sun.')
    expect(totalUsage.totalTokens).toBeGreaterThan(0)
  })

  test('streams text in steps', async () => {
    const result = streamText({ model, tools, stopWhen, prompt: freshPrompt(prompt), maxRetries: 0 })
    expect((await Array.fromAsync(result.textStream)).join('')).toContain('Snow.')
    expect((await result.steps).map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop'])
  })

  test('may demand a call, and forbid one', async () => {
    const demand = `${prompt} [[tool:get_weather]]`
    const forced = await generateText({
      model,
      tools,
      toolChoice: 'required',
      prompt: freshPrompt(demand),
      maxRetries: 0,
    })
    expect(forced.toolCalls.length).toBeGreaterThan(0)
    const free = await generateText({ model, tools, toolChoice: 'none', prompt: freshPrompt('Hello'), maxRetries: 0 })
    expect(free).toMatchObject({ finishReason: 'stop', toolCalls: [] })
  })
})

const schema = jsonSchema<{ name: string; age: number }>({
  type: 'object',
  additionalProperties: false,
  required: ['name', 'age'],
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
})
const ADA = { name: 'Ada', age: 36 }

describe.each([
  ['scripted', scripted, '[[say:{"name": "Ada", "age": 36}]]'],
  ['built-in', builtin, 'Name: Ada\nAge: 36\n\nNumber'],
] as const)('an object of the AI SDK, over the %s engine', (_, model, prompt) => {
  test('is generated', async () => {
    const { object, finishReason } = await generateObject({ model, schema, prompt: freshPrompt(prompt), maxRetries: 0 })
    expect({ object, finishReason }).toEqual({ object: ADA, finishReason: 'stop' })
  })

  test('is streamed', async () => {
    const result = streamObject({ model, schema, prompt: freshPrompt(prompt), maxRetries: 0 })
    expect((await Array.fromAsync(result.partialObjectStream)).at(-1)).toEqual(ADA)
    expect(await result.object).toEqual(ADA)
  })

  test('is the output of a text', async () => {
    const output = Output.object({ schema })
    expect((await generateText({ model, output, prompt: freshPrompt(prompt), maxRetries: 0 })).output).toEqual(ADA)
  })
})

test('the schema reaches the engine', async () => {
  await generateObject({
    model: scripted,
    schema,
    prompt: freshPrompt('[[say:{"name":"Ada","age":36}]]'),
    maxRetries: 0,
  })
  expect(upstream.calls.at(-1)!.body.response_format).toMatchObject({
    type: 'json_schema',
    json_schema: { schema: { required: ['name', 'age'] } },
  })
})

test('an object that does not match the schema is ignored', async () => {
  const attempt = generateObject({
    model: scripted,
    schema,
    prompt: freshPrompt('[[say:{"name":"Ada"}]]'),
    maxRetries: 0,
  })
  expect(NoObjectGeneratedError.isInstance(await attempt.catch((thrown: unknown) => thrown))).toBe(true)
})
