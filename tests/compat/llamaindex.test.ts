// SQLite only: a format only translates; tests/completions runs what is behind it on both.
import { describe, expect, test } from 'bun:test'
import { OpenAI, OpenAIEmbedding } from '@llamaindex/openai'
import { createUpstreamWorld, freshPrompt } from '../completions/upstream-world'
import { WEATHER } from '../suites/compat'
import { listen } from '../support/listening'

const { world } = await createUpstreamWorld()
const baseURL = `${listen(world).origin}/v1`
const { key: apiKey } = await world.person()

/** LlamaIndex with its own client, in its defaults but for the address, the key and the model. */
describe('LlamaIndex', () => {
  const llm = new OpenAI({ model: 'svc-1-flash', apiKey, baseURL })
  const ask = (words?: string) => [{ role: 'user' as const, content: freshPrompt(words) }]

  test('answers and streams', async () => {
    const { message } = await llm.chat({ messages: ask() })
    expect(message.content).toBe('Hello from the scripted upstream.')
    let text = ''
    for await (const { delta } of await llm.chat({ messages: ask('[[say:one two three]]'), stream: true }))
      text += delta
    expect(text).toBe('one two three')
  })

  test('runs a tool over two turns', async () => {
    const get_weather = {
      metadata: { name: 'get_weather', description: 'Gets the weather.', parameters: WEATHER as never },
      call: () => 'Snow.',
    }
    const messages = ask('[[plan:get_weather{"location":"Oslo"}]] [[say:Oslo: Snow.]]')
    const first = await llm.chat({ messages, tools: [get_weather] })
    const [call] = (first.message.options as { toolCall: { id: string; name: string; input: unknown }[] }).toolCall
    expect(call).toMatchObject({ name: 'get_weather' })
    const result = { id: call!.id, result: get_weather.call(), isError: false }
    const second = await llm.chat({
      messages: [...messages, first.message, { role: 'user', content: '', options: { toolResult: result } }] as never,
      tools: [get_weather],
    })
    expect(second.message.content).toBe('Oslo: Snow.')
  })

  test('embeds texts, one and many, by meaning or by spelling', async () => {
    const embedding = new OpenAIEmbedding({ model: 'svc-1-embed-local', apiKey, baseURL } as never)
    const one = await embedding.getTextEmbedding('Reset my password')
    const many = await embedding.getTextEmbeddings(['Reset my password', 'The weather is nice'])
    expect(one).toHaveLength(512)
    expect(many[0]).toEqual(one)
    expect(many[1]).not.toEqual(one)
  })
})
