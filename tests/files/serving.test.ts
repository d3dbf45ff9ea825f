import { describe, expect, test } from 'bun:test'
import { listen } from '../support/listening'
import { createWorld } from '../support/world'
import { noise, PIXEL, saveFor, sha256 } from './support'

const world = await createWorld()
world.app.listensAt(listen(world).origin)
const person = await world.person()
const BYTES = noise(10_000, 3)
const { url } = await saveFor(world, person, BYTES, { filename: 'noise.bin', mimeType: 'application/x-noise' })
const etag = `"${sha256(BYTES)}"`
const ask = (headers: Record<string, string> = {}, method = 'GET') => fetch(url!, { method, headers })
const bytesOf = async (answer: Response) => Buffer.from(await answer.arrayBuffer())

describe('a link (docs/api.md 2.3)', () => {
  test('gives the bytes, without a credential', async () => {
    const answer = await ask()
    expect(answer.status).toBe(200)
    expect(await bytesOf(answer)).toEqual(BYTES)
    expect(answer.headers.get('content-length')).toBe('10000')
    expect(answer.headers.get('accept-ranges')).toBe('bytes')
    expect(answer.headers.get('etag')).toBe(etag)
    expect(answer.headers.get('x-request-id')).toStartWith('req_')
  })

  test('answers HEAD with the same headers and nothing else', async () => {
    const [head, get] = [await ask({}, 'HEAD'), await ask()]
    expect(head.status).toBe(200)
    expect(await bytesOf(head)).toHaveLength(0)
    await get.arrayBuffer()
    for (const name of ['content-length', 'content-type', 'content-disposition', 'etag', 'accept-ranges'])
      expect(head.headers.get(name)).toBe(get.headers.get(name))
  })

  test.each([
    ['bytes=0-0', 0, 1],
    ['bytes=10-19', 10, 20],
    ['bytes=9990-', 9_990, 10_000],
    ['bytes=-5', 9_995, 10_000],
    ['bytes=9990-99999', 9_990, 10_000],
    ['bytes=-99999', 0, 10_000],
  ])('gives the range %s', async (range, from, to) => {
    const answer = await ask({ range })
    expect(answer.status).toBe(206)
    expect(answer.headers.get('content-range')).toBe(`bytes ${from}-${to - 1}/10000`)
    expect(answer.headers.get('content-length')).toBe(String(to - from))
    expect(await bytesOf(answer)).toEqual(BYTES.subarray(from, to))
  })

  test.each(['bytes=10000-', 'bytes=20000-30000', 'bytes=-0'])('refuses the range %s', async (range) => {
    const answer = await ask({ range })
    expect(answer.status).toBe(416)
    expect(answer.headers.get('content-range')).toBe('bytes */10000')
    expect(await bytesOf(answer)).toHaveLength(0)
  })

  test.each(['bytes=0-1,5-6', 'lines=0-1', 'bytes=5-4', 'bytes=x-y', 'bytes', ''])(
    'gives all of it for "%s"',
    async (range) => {
      const answer = await ask({ range })
      expect(answer.status).toBe(200)
      expect(await bytesOf(answer)).toEqual(BYTES)
    },
  )

  test('gives a range only of the content that If-Range names', async () => {
    const same = await ask({ range: 'bytes=0-3', 'if-range': etag })
    expect(same.status).toBe(206)
    expect(await bytesOf(same)).toEqual(BYTES.subarray(0, 4))
    for (const other of ['"other"', `W/${etag}`, 'Sun, 22 Nov 2026 00:00:00 GMT']) {
      const whole = await ask({ range: 'bytes=0-3', 'if-range': other })
      expect(whole.status).toBe(200)
      expect(await bytesOf(whole)).toEqual(BYTES)
    }
  })

  test('answers 304 to who has the content', async () => {
    for (const known of [etag, `"other", W/${etag}`, '*']) {
      const answer = await ask({ 'if-none-match': known })
      expect({ status: answer.status, answer: await answer.text() }).toEqual({ status: 304, answer: '' })
    }
    expect((await ask({ 'if-none-match': '"other"' })).status).toBe(200)
  })

  test('does nothing when any of it is changed, or it is for another file (O10, O11)', async () => {
    const other = await saveFor(world, person, PIXEL)
    const link = new URL(url!)
    const changed = (change: (link: URL) => void) => {
      const copy = new URL(link)
      change(copy)
      return fetch(copy)
    }
    const last = link.searchParams.get('signature')!.at(-1)
    const tries = [
      changed((to) => to.searchParams.set('expires', String(Number(link.searchParams.get('expires')) + 1))),
      changed((to) => to.searchParams.set('expires', '99999999999999999999')),
      changed((to) =>
        to.searchParams.set(
          'signature',
          `${link.searchParams.get('signature')!.slice(0, -1)}${last === '0' ? '1' : '0'}`,
        ),
      ),
      changed((to) =>
        to.searchParams.set('signature', link.searchParams.get('signature')!.toUpperCase().padEnd(65, '0')),
      ),
      changed((to) => to.searchParams.delete('signature')),
      changed((to) => to.searchParams.delete('expires')),
      changed((to) => {
        to.pathname = `/files/${other.id}`
      }),
      changed((to) => {
        to.search = '?download=1'
      }),
    ]
    for (const answer of await Promise.all(tries)) {
      const { error } = (await answer.json()) as { error: { code: string } }
      expect({ status: answer.status, code: error.code }).toEqual({ status: 404, code: 'not_found' })
    }
    expect((await fetch(url!, { method: 'POST' })).status).toBe(405)
  })
})

const html = '<script>alert(1)</script>'
const svg = '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'

describe('what a browser could run is never shown (O5, O7)', () => {
  test.each([
    ['HTML', html, 'text/html', 'text/html; charset=utf-8', 'attachment'],
    ['SVG', svg, 'image/svg+xml', 'image/svg+xml', 'attachment'],
    ['HTML said to be a PNG', html, 'image/png', 'application/octet-stream', 'attachment'],
    ['HTML said to be MP3', html, 'audio/mpeg', 'application/octet-stream', 'attachment'],
    ['a PNG said to be HTML', PIXEL, 'text/html', 'image/png', 'inline'],
    ['a program said to be WAV', `MZ${'\0'.repeat(200)}`, 'audio/wav', 'application/x-msdownload', 'attachment'],
    ['GIF that is also JavaScript', 'GIF89a/*\0\0\0\0*/=1;alert(1)', 'image/png', 'image/gif', 'inline'],
    ['JavaScript', 'alert(1)', 'text/javascript', 'text/javascript; charset=utf-8', 'attachment'],
    ['an unknown type', 'hello', 'x/y; charset=evil', 'application/octet-stream', 'attachment'],
    ['a table', 'a,b\n1,2\n', 'text/csv', 'text/csv; charset=utf-8', 'attachment'],
  ])('%s', async (_, bytes, mimeType, servedAs, disposition) => {
    const saved = await saveFor(world, person, Buffer.from(bytes), { mimeType, filename: 'a.dat', type: 'file' })
    const { headers } = await fetch(saved.url!)
    expect(headers.get('content-type')).toBe(servedAs)
    expect(headers.get('content-disposition')).toStartWith(`${disposition}; filename=`)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
  })

  test('a PDF may be shown', async () => {
    const saved = await saveFor(world, person, Buffer.from('%PDF-1.7\n%%EOF'), { mimeType: 'application/pdf' })
    const { headers } = await fetch(saved.url!)
    expect(headers.get('content-type')).toBe('application/pdf')
    expect(headers.get('content-disposition')).toStartWith('inline;')
  })
})

test.each([
  ['../../etc/cron.d/x.png', 'x.png'],
  ['..\\..\\x', 'x.png'],
  ['/abs', 'abs.png'],
  ['C:\\x.png', 'x.png'],
  ['a\u0000.png', 'a.png'],
  ['CON', '_CON.png'],
  ['nul.tar.gz', '_nul.tar.png'],
  ['.', 'file.png'],
  ['', 'file.png'],
  ['photo\u202egnp.exe', 'photognp.png'],
  ['näïve 名.jpeg', 'näïve 名.png'],
  [`${'x'.repeat(4_096)}.png`, `${'x'.repeat(119)}….png`],
  ['a"b;\r\nSet-Cookie: x.png', 'a_b;Set-Cookie_ x.png'],
])('a name is only shown (O1): %#', async (filename, shown) => {
  const saved = await saveFor(world, person, PIXEL, { filename })
  expect(saved.filename).toBe(shown)
  const header = (await fetch(saved.url!)).headers.get('content-disposition')!
  expect(header).toMatch(/^inline; filename="?[\x20-\x7e]*$/)
  expect(header).not.toMatch(/[\r\n]/)
})
