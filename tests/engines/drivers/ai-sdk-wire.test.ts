import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { createAiSdkDriver } from '../../../src/engines/drivers/ai-sdk-client'
import type { EngineRequest } from '../../../src/engines/engine'
import { plain, request } from '../../suites/engine.suite'
import { fakeClock } from '../../support/clock'
import { startUpstream } from '../../support/upstream'
import { generateDialect, messagesDialect, responsesDialect } from '../../support/upstream/vendors'

const open = async (vendor: 'anthropic' | 'google' | 'openai', dialect: typeof messagesDialect) => {
  const upstream = await startUpstream({ dialect })
  const driver = createAiSdkDriver({ vendor, baseUrl: upstream.url, apiKey: 'sk-test', clock: fakeClock() })
  return { upstream, driver }
}

const vendors = {
  anthropic: await open('anthropic', messagesDialect),
  google: await open('google', generateDialect),
  openai: await open('openai', responsesDialect),
}
afterAll(async () => void (await Promise.all(Object.values(vendors).map(({ upstream }) => upstream.stop()))))
beforeEach(() => {
  for (const { upstream } of Object.values(vendors)) upstream.reset()
})

async function sent(vendor: keyof typeof vendors, more: Partial<EngineRequest>) {
  const { driver, upstream } = vendors[vendor]
  await plain(driver, request('Hi', more))
  return upstream.calls[0]!
}

const picture = {
  role: 'user' as const,
  content: [
    { type: 'text' as const, text: 'What is it?' },
    { type: 'image' as const, mimeType: 'image/png', base64: 'iVBORw0KGgo=' },
  ],
}

describe('anthropic', () => {
  test('sends the system prompt apart, the limit, and the key in its own header', async () => {
    expect(await sent('anthropic', { maxOutputTokens: 77, temperature: 0.3 })).toMatchObject({
      path: '/v1/messages',
      headers: { 'x-api-key': 'sk-test' },
      body: {
        model: 'scripted-model',
        max_tokens: 77,
        system: [{ type: 'text', text: 'Be brief.' }],
        messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      },
    })
  })

  test('sends a picture as a base64 source', async () => {
    expect((await sent('anthropic', { messages: [picture] })).body.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is it?' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
        ],
      },
    ])
  })
})

describe('google', () => {
  test('names the model in the path and the limit in the generation config', async () => {
    expect(await sent('google', { maxOutputTokens: 77, temperature: 0.3 })).toMatchObject({
      path: '/v1beta/models/scripted-model:generateContent',
      headers: { 'x-goog-api-key': 'sk-test' },
      body: {
        generationConfig: { maxOutputTokens: 77, temperature: 0.3 },
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      },
    })
  })

  test('sends a picture as inline data', async () => {
    expect((await sent('google', { messages: [picture] })).body.contents).toEqual([
      {
        role: 'user',
        parts: [{ text: 'What is it?' }, { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }],
      },
    ])
  })

  test('asks for JSON by its own switch', async () => {
    const call = await sent('google', { json: { schema: { type: 'object', properties: { a: { type: 'string' } } } } })
    expect(call.body.generationConfig).toMatchObject({ responseMimeType: 'application/json' })
  })
})

describe('openai', () => {
  test('sends what the client calls its cache', async () => {
    expect((await sent('openai', { sampling: { cacheKey: 'mine' } })).body.prompt_cache_key).toBe('mine')
  })

  test('sends input items, the limit, and the key as a bearer token', async () => {
    expect(await sent('openai', { maxOutputTokens: 77, temperature: 0.3 })).toMatchObject({
      path: '/v1/responses',
      headers: { authorization: 'Bearer sk-test' },
      body: {
        model: 'scripted-model',
        max_output_tokens: 77,
        input: [{ content: 'Be brief.' }, { role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }],
      },
    })
  })

  test('sends a picture as a data URL', async () => {
    expect((await sent('openai', { messages: [picture] })).body.input).toEqual([
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'What is it?' },
          { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' },
        ],
      },
    ])
  })
})

test.each(['anthropic', 'google', 'openai'] as const)(
  '%s: a tool call and its result go back as they came',
  async (vendor) => {
    const call = await sent(vendor, {
      messages: [
        { role: 'user', content: 'Look' },
        { role: 'assistant', content: '', toolCalls: [{ id: 'call_1', name: 'look', arguments: '{"q":"x"}' }] },
        { role: 'tool', toolCallId: 'call_1', toolName: 'look', content: 'SEEN-IT' },
      ],
      tools: [
        { name: 'look', description: 'Looks', parameters: { type: 'object', properties: { q: { type: 'string' } } } },
      ],
    })
    const body = JSON.stringify(call.body)
    for (const piece of ['look', 'SEEN-IT', 'Looks']) expect(body).toContain(piece)
  },
)

test('a missing key is never taken from the environment', async () => {
  process.env.ANTHROPIC_API_KEY = 'sk-from-env'
  const { upstream } = vendors.anthropic
  const driver = createAiSdkDriver({ vendor: 'anthropic', baseUrl: upstream.url, apiKey: null, clock: fakeClock() })
  await plain(driver, request('Hi'))
  delete process.env.ANTHROPIC_API_KEY
  expect(upstream.calls[0]!.headers['x-api-key']).toBe('none')
})
