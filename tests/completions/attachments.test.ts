import { afterAll, describe, expect, test } from 'bun:test'
import { createUpstreamWorld, freshPrompt } from './upstream-world'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** A site on loopback that serves pictures and things that are none. */
const site = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    const { pathname } = new URL(request.url)
    if (pathname === '/cat.png')
      return new Response(Buffer.from(PNG, 'base64'), { headers: { 'content-type': 'image/png' } })
    if (pathname === '/moved') return Response.redirect('/cat.png', 302)
    if (pathname === '/page') return new Response('<html>', { headers: { 'content-type': 'text/html' } })
    if (pathname === '/huge.png')
      return new Response(Buffer.alloc(16 * 1024 * 1024), { headers: { 'content-type': 'image/png' } })
    return new Response('no', { status: 404 })
  },
})
afterAll(() => site.stop(true))
const at = (path: string) => `http://127.0.0.1:${site.port}${path}`

const { world, upstream } = await createUpstreamWorld({ config: { egressAllow: '127.0.0.1/32' } })
const guarded = await createUpstreamWorld()
const ada = await world.person()

type Part = { type: string; image_url?: { url: string }; text?: string }
const sentParts = () => (upstream.calls.at(-1)!.body.messages as { content: Part[] | string }[]).at(-1)!.content

const ask = (attachments: object[], mode = 'vision') =>
  ada.send('POST', 'completions', { prompt: freshPrompt('What is this?'), mode, attachments })

describe('pictures', () => {
  test.each([
    ['as base64', { type: 'image_base64', data: PNG, mime_type: 'image/png' }],
    ['as a data URL', { type: 'image_url', url: `data:image/png;base64,${PNG}` }],
    ['by their address', { type: 'image_url', url: at('/cat.png') }],
  ])('%s reach the engine as data, before the prompt', async (_, attachment) => {
    const { status, body } = await ask([attachment])
    expect({ status, warnings: body.warnings }).toEqual({ status: 200, warnings: undefined })
    const parts = sentParts() as Part[]
    expect(parts.map(({ type }) => type)).toEqual(['image_url', 'text'])
    expect(parts[0]!.image_url!.url).toBe(`data:image/png;base64,${PNG}`)
  })

  test('keep their order, up to ten', async () => {
    const types = ['image/png', 'image/jpeg', 'image/webp', 'image/gif']
    const attachments = Array.from({ length: 10 }, (_, place) => ({
      type: 'image_base64',
      data: PNG,
      mime_type: types[place % 4],
    }))
    expect((await ask(attachments)).status).toBe(200)
    const parts = sentParts() as Part[]
    expect(parts).toHaveLength(11)
    expect(parts.slice(0, 4).map(({ image_url }) => image_url!.url.split(';')[0])).toEqual(
      types.map((type) => `data:${type}`),
    )
  })

  test.each(['vision', 'data_extraction', 'domain_analysis'])('are seen by %s', async (mode) => {
    await ask([{ type: 'image_base64', data: PNG, mime_type: 'image/png' }], mode)
    expect(sentParts()).toBeArray()
  })

  test.each(['fast', 'code', 'think', 'roast', 'stealth_text'])('are not seen by %s, which says so', async (mode) => {
    const { body } = await ask([{ type: 'image_base64', data: PNG, mime_type: 'image/png' }], mode)
    expect(sentParts()).toBeString()
    expect(body.warnings.join()).toContain('"attachments" were ignored')
    expect(body.warnings.join()).toContain('Use "vision"')
  })

  test('of 15 MiB pass, one byte more does not', async () => {
    const limit = 15 * 1024 * 1024
    const of = (bytes: number) => [
      { type: 'image_base64', data: Buffer.alloc(bytes, 1).toString('base64'), mime_type: 'image/png' },
    ]
    expect((await ask(of(limit))).status).toBe(200)
    const { status, body } = await ask(of(limit + 1))
    expect({ status, param: body.error.param }).toEqual({ status: 400, param: 'attachments[0].data' })
    expect(body.error.message).toContain('15 MiB')
  })

  test('reach the built-in engine’s answer of what can be seen without a model', async () => {
    const eve = await guarded.world.person()
    const { status } = await eve.send('POST', 'completions', {
      prompt: 'What is this?',
      attachments: [{ type: 'image_base64', data: PNG, mime_type: 'image/png' }],
    })
    expect(status).toBe(200)
  })
})

describe('an address', () => {
  test.each([
    ['a page', '/page'],
    ['nothing', '/gone.png'],
    ['a redirect', '/moved'],
    ['more than 15 MiB', '/huge.png'],
  ])('that answers with %s is refused, and nothing is charged', async (_, path) => {
    const calls = upstream.calls.length
    const { status, body } = await ask([{ type: 'image_url', url: at(path) }])
    expect({ status, type: body.error.type }).toEqual({ status: 400, type: 'invalid_request_error' })
    expect(upstream.calls.length).toBe(calls)
    expect((await world.app.container.billing.balance(world.app.store.read, `user:${ada.userId}`)).held).toBe(0)
  })

  test('nobody answers at is refused', async () => {
    const { status } = await ask([{ type: 'image_url', url: 'http://127.0.0.1:2/cat.png' }])
    expect(status).toBe(400)
  })

  test.each([
    'http://127.0.0.1:9/a.png',
    'http://169.254.169.254/latest/meta-data/',
    'http://[::1]/a.png',
    'http://localhost/a.png',
    'file:///etc/passwd',
    'ftp://example.com/a.png',
    'data:text/html;base64,PGI+',
    'not an address',
  ])('%s is behind the guarded door, also in a mode that looks at no images (contract 22, J)', async (url) => {
    const eve = await guarded.world.person()
    for (const mode of ['vision', 'fast']) {
      const attachments = [{ type: 'image_url', url }]
      const { status, body } = await eve.send('POST', 'completions', { prompt: freshPrompt(), mode, attachments })
      expect([status, body.error.code, body.error.param]).toEqual([400, 'url_blocked', 'attachments[0].url'])
    }
  })
})
