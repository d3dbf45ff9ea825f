// SQLite only: what an address answers is read before any row is.
import { afterAll, describe, expect, test } from 'bun:test'
import { createOutbound, type Outbound, OutboundFailure } from '../../src/kernel/outbound'
import { createPages } from '../../src/research/web/pages'
import { createUpstreamWorld, freshPrompt } from '../completions/upstream-world'
import { PIXEL } from '../support/pixel'

const { world, upstream } = await createUpstreamWorld({ config: { egressAllow: '127.0.0.1/32' } })
const ada = await world.person()
const MIB = 1024 ** 2
const LINE = 'The heliotrope tide comes in at seven.\n'
const text = (bytes: number) => LINE.repeat(Math.ceil(bytes / LINE.length)).slice(0, bytes)
/** A picture may have anything after its end. */
const picture = (bytes: number) => Buffer.concat([Buffer.from(PIXEL, 'base64'), Buffer.alloc(bytes)]).subarray(0, bytes)

const site: ReturnType<typeof Bun.serve> = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch(request): Response {
    const { pathname } = new URL(request.url)
    const to = (location: string) => new Response(null, { status: 302, headers: { location } })
    const as = (body: BodyInit, type: string) => new Response(body, { headers: { 'content-type': type } })
    switch (pathname) {
      case '/small.txt':
        return as(LINE, 'text/plain')
      case '/large.txt':
        return as(text(15 * MIB), 'text/plain')
      case '/too-large.txt':
        return as(text(15 * MIB + 1), 'text/plain')
      case '/video':
        return as('\0\0\0\x18ftypmp42', 'video/mp4')
      case '/moved.txt':
        return to('/small.txt')
      case '/inward.txt':
        return to(`http://127.0.0.2:${site.port}/small.txt`)
      case '/metadata.txt':
        return to('http://169.254.169.254/latest/meta-data')
      case '/local.txt':
        return to('file:///etc/passwd')
      case '/circle.txt':
        return to('/circle.txt')
      case '/large.png':
        return as(picture(15 * MIB), 'image/png')
      case '/too-large.png':
        return as(picture(15 * MIB + 1), 'image/png')
      case '/small.png':
        return as(picture(100), 'text/html')
      case '/page.png':
        return as('<p>no picture</p>', 'image/png')
      case '/inward.png':
        return to(`http://127.0.0.2:${site.port}/small.png`)
      default:
        return new Response('gone', { status: 404 })
    }
  },
})
afterAll(() => site.stop(true))
const origin = `http://127.0.0.1:${site.port}`
const sent = () => JSON.stringify(upstream.calls.at(-1)!.body.messages)

const part = (api: string, url: string) =>
  api === 'responses'
    ? url.endsWith('.png')
      ? { type: 'input_image', image_url: url }
      : { type: 'input_file', file_url: url }
    : { type: url.endsWith('.png') ? 'image' : 'document', source: { type: 'url', url } }

/** Asks an API about what is at an address. */
async function ask(api: string, url: string) {
  const content = [part(api, url), { type: api === 'responses' ? 'input_text' : 'text', text: freshPrompt() }]
  const turns = [{ role: 'user', content }]
  const more = api === 'responses' ? { input: turns } : { messages: turns, max_tokens: 50 }
  const { status, body } = await ada.send('POST', `/v1/${api}`, { model: 'svc-1-vision', ...more })
  const { message, param = body.error?.details?.param } = body.error ?? {}
  return { status, message, param, warnings: body.svc_metadata?.warnings ?? [] }
}

describe.each(['responses', 'messages'])('what is at an address, in /%s (docs/api.md 33.3)', (api) => {
  test('a file of 15 MiB is read, and its text is cut with a warning', async () => {
    const { status, warnings } = await ask(api, `${origin}/large.txt`)
    expect({ status, warnings }).toEqual({ status: 200, warnings: [expect.stringContaining('200,000 characters')] })
    expect(sent()).toContain('heliotrope')
  })

  test('a redirect is followed to a public address', async () => {
    expect((await ask(api, `${origin}/moved.txt`)).status).toBe(200)
    expect(sent()).toContain('heliotrope')
  })

  test('a picture is known by its bytes', async () => {
    for (const name of ['small.png', 'large.png']) {
      expect(await ask(api, `${origin}/${name}`)).toMatchObject({ status: 200, warnings: [] })
      expect(sent()).toContain(PIXEL.slice(0, 40))
    }
  })

  test.each([
    ['too-large.txt', /too large|larger|15/],
    ['video', /video\/mp4/],
    ['inward.txt', /127\.0\.0\.2|private|public/],
    ['metadata.txt', /169\.254|private|public/],
    ['local.txt', /file|http/],
    ['circle.txt', /redirects more than 5 times/],
    ['gone.txt', /404/],
    ['too-large.png', /large/],
    ['page.png', /PNG, JPEG, WebP or GIF/],
    ['inward.png', /not a public address/],
  ])('%s is refused by its place, and no engine is asked', async (name, why) => {
    const before = upstream.calls.length
    const { status, message, param } = await ask(api, `${origin}/${name}`)
    expect({ status, message, param }).toEqual({
      status: 400,
      message: expect.stringMatching(why),
      param: expect.stringMatching(/^(?:messages|input)\[0\]\.content\[0\]/),
    })
    expect(upstream.calls.length).toBe(before)
  })

  test.each(['http://127.0.0.2/x.txt', 'http://10.0.0.1/x.png', 'http://[::1]/x.txt', 'ftp://example.com/x.txt'])(
    '%s is never called',
    async (url) => {
      const { status, param } = await ask(api, url)
      expect({ status, param }).toEqual({ status: 400, param: expect.stringContaining('[0].content[0]') })
    },
  )
})

test('a file that comes too slowly is given up after 30 s, and said so (docs/api.md 33.3)', async () => {
  const requests: { maxBytes: number; timeoutMs: number }[] = []
  const { read } = createPages({
    outbound: {
      fetchPublic: async (_: string, { maxBytes, timeoutMs }: { maxBytes: number; timeoutMs: number }) => {
        requests.push({ maxBytes, timeoutMs })
        if (requests.length === 1) return { status: 302, headers: { location: '/there.pdf' }, body: new Uint8Array() }
        throw new OutboundFailure('timeout', 'no complete answer in time')
      },
    } as unknown as Outbound,
  })
  const reading = read('https://slow.example/report.pdf', {
    signal: new AbortController().signal,
    who: 'a',
    whole: true,
  })
  await expect(reading).rejects.toThrow('The address could not be read: no complete answer in time.')
  const [first, second] = requests
  expect(requests.map(({ maxBytes }) => maxBytes)).toEqual([15 * MIB, 15 * MIB])
  expect(first!.timeoutMs).toBeWithin(29_000, 30_001)
  // A redirect leaves the next address only the rest of the time.
  expect(second!.timeoutMs).toBeLessThan(first!.timeoutMs)
  // The limit is for the whole answer, also when some of it has come.
  const begun = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('%PDF-')) })
  const drip = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response(begun) })
  const slow = createOutbound({ allow: ['127.0.0.1/32'] }).fetchPublic(`http://127.0.0.1:${drip.port}/`, {
    ...{ maxBytes: MIB, timeoutMs: 200 },
  })
  await expect(slow).rejects.toThrow('no complete answer in time')
  await drip.stop(true)
})
