// SQLite only: chat only translates; tests/completions runs what is behind it on both.
import { describe, expect, test } from 'bun:test'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { APICallError, generateText, streamText } from 'ai'
import { listen } from '../../support/listening'
import { PIXEL } from '../../support/pixel'
import { createUpstreamWorld, freshPrompt } from '../upstream-world'

const { world, upstream } = await createUpstreamWorld()
const { baseUrl } = listen(world)
const ada = await world.person()
const svc = createOpenAICompatible({ name: 'svc', baseURL: baseUrl, apiKey: ada.key, includeUsage: true })
const model = svc('svc-1-flash')

describe('the AI SDK', () => {
  test('generates text', async () => {
    const result = await generateText({ model, prompt: freshPrompt(), maxRetries: 0 })
    expect(result.text).toBe('Hello from the scripted upstream.')
    expect(result.finishReason).toBe('stop')
    expect(result.usage).toMatchObject({ inputTokens: 11, outputTokens: 5, totalTokens: 16 })
    expect(result.response.modelId).toBe('svc-1-flash')
  })

  test('streams text', async () => {
    const result = streamText({ model, prompt: freshPrompt('[[say:one two three]][[slow:3]]'), maxRetries: 0 })
    expect((await Array.fromAsync(result.textStream)).join('')).toBe('one two three')
    expect(await result.finishReason).toBe('stop')
    expect(await result.usage).toMatchObject({ inputTokens: 11, outputTokens: 3 })
  })

  test('holds a conversation with a system prompt and a picture', async () => {
    const image = new Uint8Array(Buffer.from(PIXEL, 'base64'))
    await generateText({
      model: svc('svc-1-vision'),
      system: 'Be kind.',
      messages: [
        { role: 'user', content: 'one' },
        { role: 'assistant', content: 'first' },
        {
          role: 'user',
          content: [
            { type: 'text', text: freshPrompt() },
            { type: 'file', data: image, mediaType: 'image/png' },
          ],
        },
      ],
      maxRetries: 0,
    })
    const messages = upstream.calls.at(-1)!.body.messages as { role: string; content: unknown }[]
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user'])
    expect(messages[0]?.content).toStartWith('Be kind.')
    expect(JSON.stringify(messages[3]?.content)).toContain(`data:image/png;base64,${PIXEL}`)
  })

  test('knows an error for what it is', async () => {
    const stranger = createOpenAICompatible({ name: 'svc', baseURL: baseUrl, apiKey: 'svc_sk_live_nope' })
    const error = await generateText({ model: stranger('svc-1-flash'), prompt: 'x', maxRetries: 0 }).catch(
      (thrown: unknown) => thrown,
    )
    expect(APICallError.isInstance(error)).toBe(true)
    expect(error).toMatchObject({ statusCode: 401, isRetryable: false })
  })

  test('hears of an engine that breaks off in the middle', async () => {
    const errors: unknown[] = []
    const result = streamText({
      model,
      prompt: freshPrompt('[[cut]][[slow:40]][[tokens:8]]'),
      maxRetries: 0,
      onError: ({ error }) => void errors.push(error),
    })
    await result.consumeStream()
    expect(JSON.stringify(errors)).toContain('stopped in the middle')
  })
})
