import { describe, expect, test } from 'bun:test'
import { createOutbound } from '../../src/kernel/outbound'
import { createWebFetch } from '../../src/tools/system/web'
import { serveLocally } from '../support/listening'
import { spentBy } from '../support/spent'
import { pdfBomb, pdfCircle, pdfOf } from './pdf'
import { contextOf, openTools, requestOf, wanted, webOf } from './world'

const as = (type: string, body: () => Uint8Array | string) => () =>
  new Response(body() as BodyInit, { headers: { 'content-type': type } })
const pdf = (body: () => Uint8Array | string) => as('application/pdf', body)

const answers: Record<string, () => Response> = {
  '/words': pdf(() => pdfOf('The moon pulls at the sea.', 'Neap tides follow.')),
  '/unnamed': as('application/octet-stream', () => pdfOf('Known by its first letters.')),
  '/silent': pdf(() => pdfOf()),
  '/bomb': pdf(() => pdfBomb(3_000)),
  '/circle': pdf(pdfCircle),
  '/half': pdf(() => pdfOf('x').slice(0, 200)),
  '/nonsense': pdf(() => '%PDF-1.7'),
  '/nested': pdf(() => `%PDF-1.4\n1 0 obj\n${'['.repeat(1_000_000)}`),
  '/other': as('application/octet-stream', () => '\u0000\u0001\u0002\u0003'),
  '/large': pdf(() => 'x'.repeat(8 * 1024 * 1024 + 1)),
}
const server = serveLocally(
  (request) => answers[new URL(request.url).pathname]?.() ?? new Response(null, { status: 404 }),
)

const tools = openTools({ system: [createWebFetch({ web: webOf(createOutbound({ allow: ['127.0.0.1/32'] })) })] })
const read = (path: string) =>
  tools.run(tools.assemble(wanted()), requestOf('web_fetch', { url: server.url.origin + path }), contextOf())

describe('web_fetch, given a PDF', () => {
  test('gives its title and its words, a line for each paragraph', async () => {
    const before = spentBy('thread-self').ranMs
    const { result } = await read('/words')
    const message = { title: 'Of tides', text: 'The moon pulls at the sea. Neap tides follow.' }
    expect(result).toMatchObject(message)
    expect(spentBy('thread-self').ranMs - before).toBeLessThan(200)
  })

  test('knows one that its server does not name', async () => {
    expect((await read('/unnamed')).result).toMatchObject({ text: 'Known by its first letters.' })
  })

  test.each([
    ['/silent', /contains no text/],
    ['/half', /damaged/],
    ['/nonsense', /damaged/],
    ['/nested', /damaged|too long/],
    ['/circle', /damaged/],
    ['/other', /octet-stream, which this server cannot read/],
    ['/large', /larger than/],
  ])('says why it cannot read %s', async (path, problem) => {
    const { status, text } = await read(path)
    expect(status).toBe('error')
    expect(text).toMatch(problem)
  })

  test('stops one that unfolds to gigabytes, and reads the next', async () => {
    const before = process.memoryUsage.rss()
    const { status, text } = await read('/bomb')
    expect(status).toBe('error')
    expect(text).toMatch(/too large once decompressed|too long/)
    expect(process.memoryUsage.rss() - before).toBeLessThan(128 * 1024 * 1024)
    expect((await read('/words')).status).toBe('success')
  })
})
