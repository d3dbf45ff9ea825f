import { afterAll, describe, expect, test } from 'bun:test'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import OpenAI from 'openai'
import { createUpstreamWorld } from '../completions/upstream-world'
import { PIXEL, storedIn } from '../files/support'
import { listen } from '../support/listening'
import { createWorld, type Person } from '../support/world'

type Request = { path: string; body: Record<string, unknown>; authorization: string | undefined }

/**
 * A server of `POST /images/generations` that answers as the prompt says: [[500]], [[text]], [[url]], [[elsewhere]],
 * [[once]].
 */
async function startImageServer() {
  const requests: Request[] = []
  const server = createServer(async (request, response) => {
    const path = request.url ?? ''
    if (request.method === 'GET' && path.endsWith('.png')) return response.end(PIXEL)
    if (request.method === 'GET') return response.end(JSON.stringify({ data: [{ id: 'painter' }] }))
    const pieces: Uint8Array[] = []
    for await (const piece of request as AsyncIterable<Uint8Array>) pieces.push(piece)
    const body = JSON.parse(Buffer.concat(pieces).toString()) as Request['body']
    requests.push({ path, body, authorization: request.headers.authorization })
    const prompt = String(body.prompt)
    const failing = prompt.includes('[[500]]') || (prompt.includes('[[once]]') && requests.length > 1)
    response.statusCode = !failing ? 200 : prompt.includes('[[once]]') ? 400 : 500
    response.setHeader('content-type', 'application/json')
    const b64_json = Buffer.from(prompt.includes('[[text]]') ? 'no picture' : PIXEL).toString('base64')
    const url = prompt.includes('[[elsewhere]]') ? 'http://169.254.169.254/x.png' : '/kept/x.png'
    const data = /\[\[(url|elsewhere)\]\]/.test(prompt) ? [{ url }] : [{ b64_json }]
    response.end(JSON.stringify(failing ? { error: { message: 'broken' } } : { created: 1, data }))
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  afterAll(() => void server.close())
  return { asked: requests, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` }
}

const painter = await startImageServer()
const upstreamOf = (kind: 'compat' | 'openai') => ({ kind, baseUrl: painter.url, apiKey: 'sk-painter' })
const world = await createWorld({
  config: {
    engines: {
      upstreams: { own: upstreamOf('compat'), vendor: upstreamOf('openai') },
      models: { 'svc-1-create': ['own:painter'], 'svc-1-photo': ['vendor:gpt-image-1'] },
    },
  },
})
const spentBy = async (person: Person) => (await person.send('GET', `keys/${person.keyId}`)).body.spent_today_cents

describe('pictures of an image engine', () => {
  test('are asked for one by one, charged each, and kept as what they are', async () => {
    const ada = await world.person({ cents: 100 })
    painter.asked.length = 0
    const input = { prompt: 'a pixel', style: 'flat', aspect_ratio: '16:9', count: 2, image_quality: 'hd' }
    const { status, body } = await ada.send('POST', 'images', input)
    expect(status).toBe(200)
    expect(body.usage).toEqual({ cost_cents: 8 })
    expect(await spentBy(ada)).toBe(8)
    expect(painter.asked).toHaveLength(2)
    expect(painter.asked[0]).toEqual({
      path: '/v1/images/generations',
      authorization: 'Bearer sk-painter',
      body: {
        model: 'painter',
        prompt: 'a pixel. Style: flat. Aspect ratio: 16:9.',
        n: 1,
        size: '1536x1024',
        quality: 'high',
        response_format: 'b64_json',
      },
    })
    for (const { url, engine, model } of body.images)
      expect({ engine, model, isLink: typeof url }).toEqual({
        engine: 'svc-vision',
        model: 'svc-1-create',
        isLink: 'string',
      })
    const artifact = (await ada.send('GET', `artifacts/${body.images[0].artifact_id}`)).body
    expect(artifact).toMatchObject({ width: 1, height: 1, title: null, mime_type: 'image/png' })
  })

  test('one that fails among others keeps its place without a link, and is not charged', async () => {
    const ada = await world.person({ cents: 100 })
    painter.asked.length = 0
    const { status, body } = await ada.send('POST', 'images', { prompt: 'two [[once]]', count: 2 })
    expect(status).toBe(200)
    expect(body.images.map(({ url }: { url: string | null }) => url === null).sort()).toEqual([false, true])
    expect(body.usage).toEqual({ cost_cents: 4 })
    expect(await spentBy(ada)).toBe(4)
    const none = await ada.send('POST', 'images', { prompt: 'two [[500]]', count: 2 })
    expect({ status: none.status, code: none.body.error.code }).toEqual({ status: 503, code: 'engine_unavailable' })
    expect(await spentBy(ada)).toBe(4)
  })

  test.each(['[[text]]', '[[elsewhere]]'])(
    'an answer that is no picture (%s) is 503, free and kept nowhere',
    async (script) => {
      const ada = await world.person({ cents: 100 })
      const stored = storedIn(world.folder).length
      const { status, body } = await ada.send('POST', 'images', { prompt: `a pixel ${script}` })
      expect({ status, code: body.error.code }).toEqual({ status: 503, code: 'engine_unavailable' })
      expect(await spentBy(ada)).toBe(0)
      expect(storedIn(world.folder)).toHaveLength(stored)
    },
  )

  test('one that the upstream keeps at its own address is fetched there', async () => {
    expect((await (await world.person()).send('POST', 'images', { prompt: 'a pixel [[url]]' })).status).toBe(200)
  })

  test('another engine and its vendor package are asked by image_model', async () => {
    const ada = await world.person({ cents: 100 })
    painter.asked.length = 0
    const { status, body } = await ada.send('POST', 'images', { prompt: 'a photo', image_model: 'svc-1-photo' })
    expect(status).toBe(200)
    expect(body.images[0]).toMatchObject({ engine: 'svc-vision', model: 'svc-1-photo' })
    expect(painter.asked[0]!.body).toMatchObject({ model: 'gpt-image-1', prompt: 'a photo', n: 1 })
    expect(await spentBy(ada)).toBe(4)
  })

  test('a completion charges one, holds no more than its price, and changes the last one in words', async () => {
    const ada = await world.person({ cents: 4 })
    const first = await ada.send('POST', 'completions', { prompt: 'a pixel', mode: 'image', conversation_id: null })
    expect(first.body).toMatchObject({ usage: { cost_cents: 4 }, artifacts: [{ engine: 'svc-vision' }] })
    const next = await ada.send('POST', 'completions', { prompt: 'another pixel', mode: 'image' })
    expect({ status: next.status, code: next.body.error.code }).toEqual({ status: 402, code: 'insufficient_credits' })
  })
})

describe('clients and tools', () => {
  test('the openai package makes images unchanged (docs/api.md 28.1)', async () => {
    const ada = await world.person()
    const client = new OpenAI({ baseURL: listen(world).baseUrl, apiKey: ada.key, maxRetries: 0 })
    const linked = await client.images.generate({ model: 'dall-e-3', prompt: 'a pixel', size: '1024x1024' })
    expect(linked.data?.[0]?.url).toStartWith('http')
    const inline = await client.images.generate({ prompt: 'a pixel', n: 2, response_format: 'b64_json' })
    expect(inline.data?.map(({ b64_json }) => b64_json)).toEqual(Array(2).fill(PIXEL.toString('base64')))
  })

  test('generate_image makes a picture in the loop, recorded and counted as one', async () => {
    const ada = await (await createUpstreamWorld()).world.person()
    const prompt = `[[plan:generate_image${JSON.stringify({ prompt: 'a lighthouse', aspect_ratio: '1:1' })}]]`
    const { body } = await ada.send('POST', 'completions', { prompt, mode: 'think' })
    expect(body.tools_used[0]).toMatchObject({ name: 'generate_image', status: 'success' })
    const [picture] = body.tools_used[0].result.images
    expect(body.artifacts).toMatchObject([{ id: picture.artifact_id, type: 'image' }])
    expect((await ada.send('GET', `artifacts/${picture.artifact_id}`)).body).toMatchObject({
      prompt: 'a lighthouse. Aspect ratio: 1:1.',
    })
    const recorded = (await ada.send('GET', 'audit')).body as { action: string }[]
    expect(recorded.map(({ action }) => action)).toContain('image.created')
    expect((await ada.send('GET', 'rate-limits')).body.usage.modes.image.remaining).toBe(1_665)
  })
})
