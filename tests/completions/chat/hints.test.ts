// SQLite only: chat only translates; tests/completions runs what is behind it on both.
import { describe, expect, test } from 'bun:test'
import { ContextOverflowError } from '@langchain/core/errors'
import { ChatOpenAI } from '@langchain/openai'
import OpenAI from 'openai'
import { listen } from '../../support/listening'
import { createUpstreamWorld, freshPrompt } from '../upstream-world'

const { world } = await createUpstreamWorld()
const { baseUrl } = listen(world)
const ada = await world.person()
const client = new OpenAI({ baseURL: baseUrl, apiKey: ada.key, maxRetries: 0 })
const TOO_LONG = '漢'.repeat(400_000)

const refusal = (model: string, content: string) =>
  client.chat.completions.create({ model, messages: [{ role: 'user', content }] }).then(
    () => expect.unreachable(),
    (thrown: InstanceType<typeof OpenAI.APIError>) => thrown,
  )

describe('what a chat client is told to do', () => {
  test('when an engine does not answer: to name another model', async () => {
    const { message, code } = await refusal('svc-1-reason', freshPrompt('[[drop]]'))
    expect(code).toBe('engine_unavailable')
    expect(message).toContain('in a chat "model":"svc-1-flash"')
  })

  test('when it sent too much: which member it is, in words it knows', async () => {
    const { message, code, param } = await refusal('svc-1-auto', TOO_LONG)
    expect({ code, param }).toEqual({ code: 'validation_error', param: 'messages' })
    expect(message).toContain('maximum context length')
    expect(message).not.toContain('"prompt"')
  })

  test('LangChain takes that for an overflow of the context', async () => {
    const model = new ChatOpenAI({
      model: 'svc-1-auto',
      apiKey: ada.key,
      maxRetries: 0,
      configuration: { baseURL: baseUrl },
    })
    expect(ContextOverflowError.isInstance(await model.invoke(TOO_LONG).catch((thrown: unknown) => thrown))).toBe(true)
  })
})

test('an answer in JSON that was cut says so, with the reason that clients look at first', async () => {
  const messages = [{ role: 'user' as const, content: freshPrompt('[[say:{"a":]][[finish:length]]') }]
  const input = { model: 'svc-1-auto', messages, response_format: { type: 'json_object' as const } }
  expect((await client.chat.completions.create(input)).choices[0]).toMatchObject({
    finish_reason: 'length',
    message: { content: null, refusal: 'The answer was cut at the output limit. The engine did not answer with JSON.' },
  })
})

test('a native client gets errors about its prompt', async () => {
  const { body } = await ada.send('POST', 'completions', { prompt: TOO_LONG })
  expect(body.error).toMatchObject({ code: 'validation_error', param: 'prompt' })
})
