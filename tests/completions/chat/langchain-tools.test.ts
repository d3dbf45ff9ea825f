// SQLite only: chat only translates; tests/completions runs what is behind it on both.
import { describe, expect, test } from 'bun:test'
import { type AIMessage, type AIMessageChunk, type BaseMessage, HumanMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { listen } from '../../support/listening'
import { createWorld, type World } from '../../support/world'
import { createUpstreamWorld, freshPrompt } from '../upstream-world'

async function modelOf(world: World) {
  const { key } = await world.person()
  return new ChatOpenAI({
    model: 'svc-1-flash',
    apiKey: key,
    maxRetries: 0,
    configuration: { baseURL: listen(world).baseUrl },
  })
}

const { world } = await createUpstreamWorld()
const scripted = await modelOf(world)
const builtin = await modelOf(await createWorld())
const PLAN = '[[plan:get_weather{"location":"Oslo"}]] [[say:Snow in Oslo.]]'

const schema = { type: 'object', required: ['location'], properties: { location: { type: 'string' } } } as const
const weather = tool(async () => 'Snow.', {
  name: 'get_weather',
  description: 'Gets the weather for a location.',
  schema,
})

const ENGINES = [
  ['scripted', scripted, PLAN],
  ['built-in', builtin, 'What is the weather in Oslo?'],
] as const

describe.each(ENGINES)('LangChain, over the %s engine', (_, model, prompt) => {
  const bound = model.bindTools([weather])

  test('calls a bound tool and answers from it', async () => {
    const messages: BaseMessage[] = [new HumanMessage(freshPrompt(prompt))]
    const request = (await bound.invoke(messages)) as AIMessage
    expect(request.tool_calls).toMatchObject([{ name: 'get_weather', args: { location: 'Oslo' }, type: 'tool_call' }])
    expect(request.invalid_tool_calls ?? []).toEqual([])
    messages.push(request, await weather.invoke(request.tool_calls![0]!))
    const answer = await bound.invoke(messages)
    expect(answer.text).toContain('Snow')
    expect(answer.response_metadata.finish_reason).toBe('stop')
  })

  test('puts a streamed call together', async () => {
    let whole: AIMessageChunk | null = null
    for await (const chunk of await bound.stream(freshPrompt(prompt))) whole = whole ? whole.concat(chunk) : chunk
    expect(whole!.tool_calls).toMatchObject([{ name: 'get_weather', args: { location: 'Oslo' } }])
  })

  test('may be made to call', async () => {
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

describe.each([
  ['scripted, by schema', scripted, 'jsonSchema', '[[say:{"name":"Ada","age":36}]]'],
  ['scripted, by function', scripted, 'functionCalling', '[[plan:person{"name":"Ada","age":36}]]'],
  ['built-in, by schema', builtin, 'jsonSchema', 'Name: Ada\nAge: 36\n\nNumber'],
  ['built-in, by function', builtin, 'functionCalling', 'Name: Ada\nAge: 36\n\nNumber'],
] as const)('structured output of LangChain, %s', (_, model, method, prompt) => {
  test('is the object', async () => {
    const structured = model.withStructuredOutput(PERSON, { method, name: 'person' })
    expect(await structured.invoke(freshPrompt(prompt))).toEqual({ name: 'Ada', age: 36 })
  })
})
