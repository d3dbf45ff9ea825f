import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import type { UpstreamConfig } from '../../src/engines'
import { PIXEL } from '../support/pixel'
import { startUpstream } from '../support/upstream'
import { createWorld } from '../support/world'

const upstream = await startUpstream()
afterAll(() => upstream.stop())
beforeEach(() => upstream.reset())

const PICTURE = { type: 'image_base64', data: PIXEL, mime_type: 'image/png' }
const TOOL = { name: 'look_up', description: 'Looks it up', inputSchema: { type: 'object', properties: {} } }

/** Somebody on a server whose one upstream can do this, for every text mode. */
async function someone(abilities: Partial<UpstreamConfig>) {
  const engines = {
    upstreams: { it: { kind: 'compat' as const, baseUrl: upstream.url, ...abilities } },
    models: { '*': ['it:a'] },
  }
  return (await createWorld({ config: { engines } })).person()
}
const sent = () => JSON.stringify(upstream.calls.at(-1)?.body ?? null)

describe('images', () => {
  test('go to any engine whose upstream sees, in both formats, without a warning', async () => {
    const ada = await someone({ vision: true })
    const native = await ada.send('POST', 'completions', {
      prompt: 'What is it?',
      mode: 'fast',
      attachments: [PICTURE],
    })
    expect({ status: native.status, warnings: native.body.warnings }).toEqual({ status: 200, warnings: undefined })
    expect(sent()).toContain(PIXEL)
    upstream.reset()
    const content = [
      { type: 'text', text: 'And this?' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
    ]
    const chat = await ada.send('POST', 'chat/completions', {
      model: 'svc-1-flash',
      messages: [{ role: 'user', content }],
    })
    expect({ status: chat.status, warnings: chat.body.warnings }).toEqual({ status: 200, warnings: undefined })
    expect(sent()).toContain(PIXEL)
  })

  test('are 503 that names them where no engine sees, and nothing is charged', async () => {
    const { status, body, headers } = await (await someone({ vision: false })).send('POST', 'completions', {
      prompt: 'What is it?',
      mode: 'vision',
      attachments: [PICTURE],
    })
    expect({ status, code: body.error.code }).toEqual({ status: 503, code: 'engine_unavailable' })
    expect(body.error.message).toContain('cannot do images. Nothing was charged.')
    expect(headers.get('retry-after')).toBe('60')
    expect(upstream.calls).toHaveLength(0)
  })
})

describe('an engine that calls no tools', () => {
  test('gets none of the tools of the server, and answers', async () => {
    const ada = await someone({ tools: false })
    expect((await ada.send('POST', 'completions', { prompt: 'Why is the sky blue?', mode: 'think' })).status).toBe(200)
    expect(upstream.calls.at(-1)!.body.tools).toBeUndefined()
  })

  test('is 503 for a request that brings tools', async () => {
    const ada = await someone({ tools: false })
    const { status, body } = await ada.send('POST', 'completions', { prompt: 'Look up', mode: 'think', tools: [TOOL] })
    expect({ status, code: body.error?.code }).toEqual({ status: 503, code: 'engine_unavailable' })
    expect(body.error.message).toContain('cannot do tools.')
  })
})
