// SQLite only: chat only translates; tests/completions runs what is behind it on both.
import { describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { eventually } from '../../support/eventually'
import { WITHOUT_DETAILS } from '../../support/expected-chat'
import { listen } from '../../support/listening'
import { PIXEL } from '../../support/pixel'
import { createUpstreamWorld, freshPrompt } from '../upstream-world'

const { world, upstream } = await createUpstreamWorld()
const { baseUrl } = listen(world)
const client = new OpenAI({ baseURL: baseUrl, apiKey: (await world.person()).key, maxRetries: 0 })

const user = (content: string) => [{ role: 'user' as const, content }]

describe('the openai package', () => {
  test('chats', async () => {
    const { data, request_id } = await client.chat.completions
      .create({ model: 'svc-1-auto', messages: user(freshPrompt()) })
      .withResponse()
    expect(data.choices[0]?.message).toMatchObject({ role: 'assistant', content: 'Hello from the scripted upstream.' })
    expect(data.usage).toEqual({ prompt_tokens: 11, completion_tokens: 5, total_tokens: 16, ...WITHOUT_DETAILS })
    expect(request_id).toMatch(/^req_/)
  })

  test('streams, with usage at the end', async () => {
    const stream = await client.chat.completions.create({
      model: 'svc-1-reason',
      messages: user(freshPrompt('[[say:one two three]][[slow:3]]')),
      stream: true,
      stream_options: { include_usage: true },
    })
    let text = ''
    const reasons: (string | null)[] = []
    let usage: unknown
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? ''
      if (chunk.choices[0]) reasons.push(chunk.choices[0].finish_reason)
      usage = chunk.usage ?? usage
    }
    expect(text).toBe('one two three')
    expect(reasons.filter(Boolean)).toEqual(['stop'])
    expect(reasons.at(-1)).toBe('stop')
    expect(usage).toEqual({ prompt_tokens: 11, completion_tokens: 3, total_tokens: 14, ...WITHOUT_DETAILS })
  })

  test('puts a stream together by its own helper', async () => {
    const runner = client.chat.completions.stream({ model: 'svc-1-auto', messages: user(freshPrompt('[[tokens:6]]')) })
    expect((await runner.finalChatCompletion()).choices[0]?.message.content).toBe('word word word word word word')
  })

  test('leaves a stream by break, which stops the engine', async () => {
    upstream.reset()
    const stream = await client.chat.completions.create({
      model: 'svc-1-auto',
      messages: user(freshPrompt('[[stall]][[say:word]]')),
      stream: true,
    })
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break
    await eventually(upstream.aborted)
  })

  test('sends pictures', async () => {
    const url = `data:image/png;base64,${PIXEL}`
    const { model } = await client.chat.completions.create({
      model: 'svc-1-auto',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: freshPrompt() },
            { type: 'image_url', image_url: { url } },
          ],
        },
      ],
    })
    expect(model).toBe('svc-1-vision')
    expect(JSON.stringify(upstream.calls.at(-1)!.body.messages)).toContain(url)
  })

  test('lists the models that answer, without that of videos, and reads one', async () => {
    const ids = (await Array.fromAsync(client.models.list())).map(({ id }) => id)
    expect(ids).toContain('svc-1-auto')
    expect(ids).toContain('svc-1-embed-local')
    expect(ids).toHaveLength(12)
    expect(ids).not.toContain('svc-1-motion')
    expect(await client.models.retrieve('svc-1-flash')).toMatchObject({
      id: 'svc-1-flash',
      object: 'model',
      owned_by: 'svc',
    })
  })
})

describe('the error classes of the openai package', () => {
  const chat = (with_: OpenAI, input: object = {}) =>
    with_.chat.completions.create({ model: 'svc-1-auto', messages: user(freshPrompt()), ...input })

  test('401 is AuthenticationError', async () => {
    const nobody = new OpenAI({ baseURL: baseUrl, apiKey: 'svc_sk_live_nope', maxRetries: 0 })
    const error = await chat(nobody).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError)
    expect(error).toMatchObject({
      status: 401,
      code: 'invalid_api_key',
      type: 'authentication_error',
      requestID: expect.stringMatching(/^req_/),
    })
  })

  test('400 is BadRequestError, with the member that is wrong', async () => {
    const error = await chat(client, { temperature: 5 }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(OpenAI.BadRequestError)
    expect(error).toMatchObject({ code: 'validation_error', param: 'temperature' })
  })

  test('404 is NotFoundError', async () => {
    expect(await client.models.retrieve('nope').catch((thrown: unknown) => thrown)).toBeInstanceOf(OpenAI.NotFoundError)
  })

  test('an error in the middle of a stream is thrown', async () => {
    const reading = async () => {
      const stream = await client.chat.completions.create({
        model: 'svc-1-auto',
        messages: user(freshPrompt('[[cut]][[slow:40]][[tokens:8]]')),
        stream: true,
      })
      let text = ''
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
      return text
    }
    const error = await reading().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(OpenAI.APIError)
    expect((error as Error).message).toContain('stopped in the middle')
  })
})
