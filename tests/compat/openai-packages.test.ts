// SQLite only: a format only translates; tests/completions runs what is behind it on both.
import { describe, expect, test } from 'bun:test'
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents'
import OpenAI from 'openai'
import { zodTextFormat } from 'openai/helpers/zod'
import { z } from 'zod'
import { createUpstreamWorld, freshPrompt } from '../completions/upstream-world'
import { WEATHER } from '../suites/compat'
import { listen } from '../support/listening'
import { PIXEL } from '../support/pixel'

const { world, upstream } = await createUpstreamWorld()
const baseURL = `${listen(world).origin}/v1`
const { key: apiKey } = await world.person()
const openai = new OpenAI({ baseURL, apiKey, maxRetries: 0 })
const model = 'svc-1-flash'
const PLAN = '[[plan:get_weather{"location":"Oslo"};get_weather{"location":"Rome"}]] [[say:Oslo: Snow.]]'
const Person = z.object({ name: z.string(), age: z.number() })
const ADA = '[[say:{"name":"Ada","age":36}]]'

describe('the openai package', () => {
  test('answers, and computes the text itself (docs/api.md 33.6.2)', async () => {
    const response = await openai.responses.create({ model, input: freshPrompt(), instructions: 'Be brief.' })
    expect(response.output_text).toBe('Hello from the scripted upstream.')
    expect(response).toMatchObject({ status: 'completed', model, text: { format: { type: 'text' } } })
    const usage = { input_tokens: 11, output_tokens: 5, output_tokens_details: { reasoning_tokens: 0 } }
    expect(response.usage).toMatchObject(usage)
    expect(response._request_id).toMatch(/^req_/)
  })

  test('streams by its helper, whose response is that of the plain answer (docs/api.md 33.6.1, 33.6.2)', async () => {
    const deltas: string[] = []
    const stream = openai.responses.stream({ model, input: freshPrompt('[[say:one two three]]') })
    stream.on('response.output_text.delta', ({ delta }) => void deltas.push(delta))
    const response = await stream.finalResponse()
    expect(deltas.join('')).toBe('one two three')
    expect(response.output_text).toBe('one two three')
  })

  test('runs tools over two turns, giving back what it got (docs/api.md 33.6.6)', async () => {
    const tools = [{ type: 'function' as const, name: 'get_weather', parameters: WEATHER, strict: false }]
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: freshPrompt(PLAN) }]
    const first = await openai.responses.create({ model, input, tools, store: false })
    input.push(...(first.output as OpenAI.Responses.ResponseInputItem[]))
    for (const item of first.output)
      if (item.type === 'function_call')
        input.push({ type: 'function_call_output', call_id: item.call_id, output: 'Snow.' })
    expect(input).toHaveLength(5)
    expect((await openai.responses.create({ model, input, tools, store: false })).output_text).toBe('Oslo: Snow.')
  })

  test('sends pictures, also in results (docs/api.md 33.6.23)', async () => {
    const picture = {
      type: 'input_image' as const,
      image_url: `data:image/png;base64,${PIXEL}`,
      detail: 'auto' as const,
    }
    const call = { call_id: 'call_1', name: 'get_weather', arguments: '{}' }
    await openai.responses.create({
      model: 'svc-1-vision',
      input: [
        { role: 'user', content: [picture, { type: 'input_text', text: freshPrompt() }] },
        { type: 'function_call', ...call },
        { type: 'function_call_output', call_id: call.call_id, output: [picture] },
      ],
      tools: [{ type: 'function', name: 'get_weather', parameters: WEATHER, strict: false }],
    })
    expect(JSON.stringify(upstream.calls.at(-1)!.body.messages).split(PIXEL)).toHaveLength(3)
  })

  test('parses what fits a schema, plain and streamed', async () => {
    const request = { model, input: freshPrompt(ADA), text: { format: zodTextFormat(Person, 'person') } }
    expect((await openai.responses.parse(request)).output_parsed).toEqual({ name: 'Ada', age: 36 })
    expect((await openai.responses.stream(request).finalResponse()).output_parsed).toEqual({ name: 'Ada', age: 36 })
  })

  test('gets the response of a stream that broke, as failed', async () => {
    const stream = openai.responses.stream({ model, input: freshPrompt('[[cut]][[slow:40]][[tokens:8]]') })
    const events = []
    for await (const event of stream) events.push(event.type)
    expect(events.at(-1)).toBe('response.failed')
  })
})

describe('@openai/agents in its default', () => {
  const get_weather = tool({
    name: 'get_weather',
    description: 'Gets the weather.',
    parameters: z.object({ location: z.string() }),
    execute: async ({ location }) => `Snow in ${location}.`,
  })
  const runner = new Runner({ modelProvider: new OpenAIProvider({ apiKey, baseURL }), tracingDisabled: true })
  const agent = new Agent({ name: 'Weather', instructions: 'Be brief.', model, tools: [get_weather] })

  test('runs an agent with its tools, plain and streamed', async () => {
    expect((await runner.run(agent, freshPrompt(PLAN))).finalOutput).toBe('Oslo: Snow.')
    const streamed = await runner.run(agent, freshPrompt(PLAN), { stream: true })
    await streamed.completed
    expect(streamed.finalOutput).toBe('Oslo: Snow.')
  })
})
