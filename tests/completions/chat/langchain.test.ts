// SQLite only: chat only translates; tests/completions runs what is behind it on both.
import { describe, expect, test } from 'bun:test'
import { AIMessage, HumanMessage, SystemMessage } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { listen } from '../../support/listening'
import { createUpstreamWorld, freshPrompt } from '../upstream-world'

const { world, upstream } = await createUpstreamWorld()
const { baseUrl } = listen(world)
const ada = await world.person()
const modelWith = (apiKey: string) =>
  new ChatOpenAI({
    model: 'svc-1-flash',
    apiKey,
    maxRetries: 0,
    configuration: { baseURL: baseUrl },
    streamUsage: true,
  })
const model = modelWith(ada.key)

describe('LangChain', () => {
  test('invokes', async () => {
    const answer = await model.invoke(freshPrompt())
    expect(answer.text).toBe('Hello from the scripted upstream.')
    expect(answer.usage_metadata).toMatchObject({ input_tokens: 11, output_tokens: 5, total_tokens: 16 })
    expect(answer.response_metadata.finish_reason).toBe('stop')
  })

  test('invokes with a history', async () => {
    await model.invoke([
      new SystemMessage('Be kind.'),
      new HumanMessage('one'),
      new AIMessage('first'),
      new HumanMessage('two'),
    ])
    const messages = upstream.calls.at(-1)!.body.messages as { role: string; content: string }[]
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user'])
    expect(messages.at(-1)?.content).toBe('two')
  })

  test('streams', async () => {
    const chunks = await Array.fromAsync(await model.stream(freshPrompt('[[say:one two three]][[slow:3]]')))
    expect(chunks.map(({ text }) => text).join('')).toBe('one two three')
    expect(chunks.find(({ usage_metadata }) => usage_metadata)?.usage_metadata).toMatchObject({ output_tokens: 3 })
  })

  test('runs a batch side by side', async () => {
    const answers = await model.batch([freshPrompt('[[say:a]]'), freshPrompt('[[say:b]]'), freshPrompt('[[say:c]]')])
    expect(answers.map(({ text }) => text)).toEqual(['a', 'b', 'c'])
  })

  test('throws what the server refuses', async () => {
    const error = await modelWith('svc_sk_live_nope')
      .invoke('x')
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ status: 401 })
  })
})
