import { afterAll, describe, expect, test } from 'bun:test'
import { PIXEL } from '../support/pixel'
import { createUpstreamWorld, freshPrompt } from './upstream-world'

/** A site on loopback that serves pictures and things that are none. */
const site = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    const { pathname } = new URL(request.url)
    if (pathname === '/cat.png')
      return new Response(Buffer.from(PIXEL, 'base64'), { headers: { 'content-type': 'image/png' } })
    if (pathname.startsWith('/as/'))
      return new Response(JPEG, { headers: { 'content-type': decodeURIComponent(pathname.slice(4)) } })
    if (pathname === '/moved') return Response.redirect('/my%20cat.png', 302)
    if (pathname === '/my%20cat.png') return Response.redirect('/cat.png#whole', 307)
    if (pathname === '/around') return Response.redirect('/around', 302)
    if (pathname === '/inside') return Response.redirect('http://10.0.0.1/cat.png', 302)
    if (pathname === '/said.png') return new Response('%PDF-1.7', { headers: { 'content-type': 'image/png' } })
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

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
/** The pixel as a file of so many bytes. */
const padded = (bytes: number) => Buffer.concat([Buffer.from(PIXEL, 'base64'), Buffer.alloc(bytes)]).subarray(0, bytes)
const JPEG = Buffer.from(await new Bun.Image(Buffer.from(PIXEL, 'base64')).jpeg().bytes())
/** The pixel whose header claims another size. */
const sized = (width: number, height: number) => {
  const bytes = Buffer.from(PIXEL, 'base64')
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return bytes
}

type Part = { type: string; image_url?: { url: string }; text?: string }
const sentParts = () => (upstream.calls.at(-1)!.body.messages as { content: Part[] | string }[]).at(-1)!.content

const ask = (attachments: object[], mode = 'vision') =>
  ada.send('POST', 'completions', { prompt: freshPrompt('What is this?'), mode, attachments })

describe('pictures', () => {
  test.each([
    ['as base64', { type: 'image_base64', data: PIXEL, mime_type: 'image/png' }],
    ['as a data URL', { type: 'image_url', url: `data:image/png;base64,${PIXEL}` }],
    [
      'as base64 without its end, in the alphabet of addresses',
      { type: 'image_base64', data: PIXEL.replace(/=+$/, '') },
    ],
    ['by their address', { type: 'image_url', url: at('/cat.png') }],
    ['by an address that moved', { type: 'image_url', url: at('/moved') }],
    ['by an address with blanks', { type: 'image_url', url: ` ${at('/my cat.png')} ` }],
  ])('%s reach the engine as data, before the prompt', async (_, attachment) => {
    const { status, body } = await ask([attachment])
    expect({ status, warnings: body.warnings }).toEqual({ status: 200, warnings: undefined })
    const parts = sentParts() as Part[]
    expect(parts.map(({ type }) => type)).toEqual(['image_url', 'text'])
    expect(parts[0]!.image_url!.url).toBe(`data:image/png;base64,${PIXEL}`)
  })

  const jpeg = base64(JPEG)
  const inLines = (text: string, end: string) => text.match(/.{1,76}/g)!.join(end) + end
  const given = (data: string, mime_type?: string | null) => ({ type: 'image_base64', data, mime_type })
  test.each([
    ['image/jpg', given(jpeg, 'image/jpg')],
    ['IMAGE/JPEG', given(jpeg, 'IMAGE/JPEG')],
    ['application/octet-stream', given(jpeg, 'application/octet-stream')],
    ['nothing', given(jpeg)],
    ['null', given(jpeg, null)],
    ['lines', given(inLines(jpeg, '\n'), 'image/jpeg')],
    ['lines of Windows', given(inLines(jpeg, '\r\n'), 'image/jpeg')],
    ['a data URL in the data', given(`data:image/jpg;base64,${jpeg}`, 'image/jpeg')],
    ...['image/jpg', 'IMAGE/JPEG', 'image/x-whatever', 'binary/octet-stream', '', 'image/jpeg;name=a.jpg'].map(
      (type) => [`data:${type}`, { type: 'image_url', url: `data:${type};base64,${inLines(jpeg, '\n')}` }] as const,
    ),
    ...['image/jpg', 'Image/JPEG; q=1', 'binary/octet-stream', 'text/plain'].map(
      (type) => [`an answer of ${type}`, { type: 'image_url', url: at(`/as/${encodeURIComponent(type)}`) }] as const,
    ),
  ])('are what their bytes are, declared as %s (docs/api.md 6)', async (_, attachment) => {
    const { status, body } = await ask([attachment])
    expect({ status, message: body.error?.message }).toEqual({ status: 200, message: undefined })
    expect((sentParts() as Part[])[0]!.image_url!.url).toBe(`data:image/jpeg;base64,${jpeg}`)
  })

  test('are what their bytes are in a chat', async () => {
    const content = [
      { type: 'text', text: freshPrompt('What is this?') },
      { type: 'image_url', image_url: { url: `data:image/jpg;base64,${inLines(jpeg, '\r\n')}` } },
    ]
    const { status } = await ada.send('POST', 'chat/completions', {
      model: 'svc-1-vision',
      messages: [{ role: 'user', content }],
    })
    expect(status).toBe(200)
    const sent = (sentParts() as Part[]).find(({ type }) => type === 'image_url')
    expect(sent!.image_url!.url).toBe(`data:image/jpeg;base64,${jpeg}`)
  })

  test('keep their order, up to ten', async () => {
    const types = ['image/png', 'image/jpeg', 'image/webp']
    const drawn = () => new Bun.Image(Buffer.from(PIXEL, 'base64'))
    const data = [PIXEL, base64(await drawn().jpeg().bytes()), base64(await drawn().webp().bytes())]
    // All are said to be PNG; the engine is told what they are.
    const attachments = Array.from({ length: 10 }, (_, place) => ({
      type: 'image_base64',
      data: data[place % 3],
      mime_type: 'image/png',
    }))
    expect((await ask(attachments)).status).toBe(200)
    const parts = sentParts() as Part[]
    expect(parts).toHaveLength(11)
    expect(parts.slice(0, 3).map(({ image_url }) => image_url!.url.split(';')[0])).toEqual(
      types.map((type) => `data:${type}`),
    )
  })

  test.each(['vision', 'data_extraction', 'domain_analysis'])('are seen by %s', async (mode) => {
    await ask([{ type: 'image_base64', data: PIXEL, mime_type: 'image/png' }], mode)
    expect(sentParts()).toBeArray()
  })

  test.each(['fast', 'code', 'think', 'roast', 'stealth_text'])('are not seen by %s, which says so', async (mode) => {
    const { body } = await ask([{ type: 'image_base64', data: PIXEL, mime_type: 'image/png' }], mode)
    expect(sentParts()).toBeString()
    expect(body.warnings.join()).toContain('"attachments" were ignored')
    expect(body.warnings.join()).toContain('Use "vision"')
  })

  test('of 15 MiB pass, one byte more does not', async () => {
    const limit = 15 * 1024 * 1024
    const of = (bytes: number) => [{ type: 'image_base64', data: base64(padded(bytes)), mime_type: 'image/png' }]
    expect((await ask(of(limit))).status).toBe(200)
    const { status, body } = await ask(of(limit + 1))
    expect({ status, param: body.error.param }).toEqual({ status: 400, param: 'attachments[0].data' })
    expect(body.error.message).toContain('15 MiB')
  })

  test.each([
    ['a PDF', Buffer.from('%PDF-1.7\n%%EOF'), 'is not a picture'],
    ['a ZIP', Buffer.from('PK\u0003\u0004'.padEnd(64, '\0')), 'is not a picture'],
    ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>'), 'is an SVG picture'],
    ['a HEIC of a phone', Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic'), 'is a HEIC picture. Save it as PNG'],
    ['an AVIF', Buffer.from('\0\0\0\x1cftypavif\0\0\0\0'), 'is an AVIF picture'],
    ['a TIFF', Buffer.from('II*\0\x08\0\0\0'), 'is a TIFF picture'],
    ['a JPEG 2000', Buffer.from('\0\0\0\x0cjP  \r\n'), 'is a JPEG 2000 picture'],
    ['a JPEG XL', Buffer.from('\0\0\0\x0cJXL \r\n'), 'is a JPEG XL picture'],
    ['an ICO', Buffer.from('\0\0\x01\0\x01\0'), 'is an ICO picture'],
    ['a BMP', Buffer.from('BM\x36\0\0\0\0\0\0\0\x36'), 'is a BMP picture'],
    ['the beginning of a PNG', Buffer.from(PIXEL, 'base64').subarray(0, 50), 'an incomplete PNG'],
    ['the beginning of a JPEG', JPEG.subarray(0, -9), 'an incomplete JPEG'],
    ['no pixels', sized(0, 0), '0 × 0 pixels'],
    ['more pixels than any picture has', sized(2_147_483_647, 2_147_483_647), 'Send a smaller picture'],
  ])('that are %s are refused in every mode, whatever they are called (O5)', async (_, bytes, text) => {
    const calls = upstream.calls.length
    const data = base64(bytes)
    for (const [attachment, param] of [
      [{ type: 'image_base64', data, mime_type: 'image/png' }, 'attachments[0].data'],
      [{ type: 'image_url', url: `data:image/png;base64,${data}` }, 'attachments[0].url'],
    ] as const) {
      const { status, body } = await ask([attachment], 'fast')
      expect({ status, param: body.error?.param }).toEqual({ status: 400, param })
      expect(body.error.message).toContain(text)
    }
    expect(upstream.calls).toHaveLength(calls)
  })

  test('reach the built-in engine’s answer of what can be seen without a model', async () => {
    const { status } = await (await guarded.world.person()).send('POST', 'completions', {
      prompt: 'What is this?',
      attachments: [{ type: 'image_base64', data: PIXEL, mime_type: 'image/png' }],
    })
    expect(status).toBe(200)
  })
})

describe('an address', () => {
  test.each([
    ['a page', '/page'],
    ['what is only called a picture', '/said.png'],
    ['nothing', '/gone.png'],
    ['a redirect to itself', '/around'],
    ['a redirect to a private address', '/inside'],
    ['more than 15 MiB', '/huge.png'],
  ])('that answers with %s is refused, and nothing is charged', async (_, path) => {
    const calls = upstream.calls.length
    const { status, body } = await ask([{ type: 'image_url', url: at(path) }])
    expect({ status, type: body.error.type }).toEqual({ status: 400, type: 'invalid_request_error' })
    expect(upstream.calls.length).toBe(calls)
    expect((await world.app.container.billing.balance(world.app.store.read, `user:${ada.userId}`)).held).toBe(0)
  })

  test('nobody answers at is refused', async () => {
    expect((await ask([{ type: 'image_url', url: 'http://127.0.0.1:2/cat.png' }])).status).toBe(400)
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
  ])('%s is behind the guarded door, also in a mode that looks at no images (docs/api.md 22, J)', async (url) => {
    const eve = await guarded.world.person()
    for (const mode of ['vision', 'fast']) {
      const attachments = [{ type: 'image_url', url }]
      const { status, body } = await eve.send('POST', 'completions', { prompt: freshPrompt(), mode, attachments })
      expect({ status, ...body.error }).toMatchObject({ status: 400, code: 'url_blocked', param: 'attachments[0].url' })
    }
  })
})
