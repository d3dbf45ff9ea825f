import { beforeEach, expect, test } from 'bun:test'
import { createAiSdkDriver } from '../../../src/engines/drivers/ai-sdk-client'
import { systemClock } from '../../../src/kernel/clock'
import { PIXEL } from '../../files/support'
import { serveLocally } from '../../support/listening'

type Request = { path: string; key: string | null; body: Record<string, unknown> }

const textOf = (parts: object[]) =>
  Response.json({ candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }] })

const requests: Request[] = []
let answer: () => Response
const server = serveLocally(async (request) => {
  const { pathname: path } = new URL(request.url)
  const body = (await request.json()) as Request['body']
  requests.push({ path, key: request.headers.get('x-goog-api-key'), body })
  return answer()
})
beforeEach(() => {
  requests.length = 0
  answer = () => textOf([{ inlineData: { mimeType: 'image/png', data: PIXEL.toString('base64') } }])
})

const driver = createAiSdkDriver({
  vendor: 'google',
  baseUrl: `http://127.0.0.1:${server.port}/v1beta`,
  apiKey: 'g-key',
  clock: systemClock,
})
const wanted = {
  ...{ model: 'gemini-2.5-flash-image', prompt: 'a lighthouse', changes: [], style: 'flat', aspectRatio: '16:9' },
  ...{ quality: 'standard' as const, variant: 0, signal: new AbortController().signal },
}

test('google is asked for one picture by its aspect ratio, with its own key', async () => {
  const { bytes, mimeType } = await driver.image!(wanted)
  expect({ equals: Buffer.from(bytes).equals(PIXEL), mimeType }).toEqual({ equals: true, mimeType: 'image/png' })
  expect(requests).toMatchObject([
    {
      path: '/v1beta/models/gemini-2.5-flash-image:generateContent',
      key: 'g-key',
      body: {
        contents: [{ parts: [{ text: 'a lighthouse. Style: flat. Aspect ratio: 16:9.' }] }],
        generationConfig: { imageConfig: { aspectRatio: '16:9' } },
      },
    },
  ])
})

test.each([
  [() => Response.json({ error: { code: 500, message: 'broken', status: 'INTERNAL' } }, { status: 500 }), 'server'],
  [() => Response.json({ error: { code: 429, message: 'slow', status: 'EXHAUSTED' } }, { status: 429 }), 'throttled'],
  [() => textOf([{ text: 'I would rather not.' }]), 'malformed'],
])('a failure of google is one of ours, and is not asked again here (%#)', async (response, kind) => {
  answer = response
  await expect(driver.image!(wanted)).rejects.toMatchObject({ name: 'EngineFailure', kind })
  expect(requests).toHaveLength(1)
})
