import { describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { Elysia } from 'elysia'
import type { Upload } from '../../src/http/body'
import { assertBodyHeaders } from '../../src/http/body'
import type { Exchange } from '../../src/http/context'
import { createBodyReader, guard as createGuard } from '../../src/http/guard'
import { createRouteRules } from '../../src/http/route-rules'
import type { AppError } from '../../src/kernel/errors'
import { temporaryFolder } from '../support/temporary-folder'

const MAX = 1024 * 1024
const folder = temporaryFolder('svc-upload-')

const declared = createRouteRules()
const reader = createBodyReader({ idempotency: null as never, rules: declared, incoming: folder })
const app = new Elysia({ normalize: false })
  .onRequest((context) => {
    const rule = declared.at(context.request.method, new URL(context.request.url).pathname)
    Object.assign(context, { exchange: { caller: null, rule } as unknown as Exchange })
    assertBodyHeaders(context.request, rule)
  })
  .onError(({ error }) => {
    const { kind, message } = ((error as Error).cause ?? error) as AppError
    return Response.json({ kind, message })
  })
  .use(createGuard(reader))
  .post(
    '/file',
    async ({ body }) => {
      const { fields, file, discard } = body as Upload
      try {
        const text = file ? await Bun.file(file.path).text() : null
        return { fields: [...fields], name: file?.filename, field: file?.field, chars: text?.length, kept: stored() }
      } finally {
        await discard()
      }
    },
    { open: true, upload: MAX },
  )
declared.learn(app.routes as never)

const stored = () => readdirSync(folder).length
async function send(body: BodyInit, headers: Record<string, string> = {}) {
  const response = await app.handle(new Request('http://localhost/file', { method: 'POST', body, headers }))
  return (await response.json()) as Record<string, unknown>
}
const raw = (boundary: string, body: string) =>
  send(body, {
    'content-type': `multipart/form-data; boundary=${boundary}`,
    'content-length': String(Buffer.byteLength(body)),
  })
const part = (name: string, filename: string | null, text: string) =>
  `--x\r\nContent-Disposition: form-data; name="${name}"${filename === null ? '' : `; filename="${filename}"`}\r\n\r\n${text}\r\n`

describe('a form with a file', () => {
  test('reaches the handler with its file on the disk, under a name that the server chose', async () => {
    const form = new FormData()
    form.set('language', 'de')
    form.set('file', new File(['sound'.repeat(50_000)], '../../etc/passwd'))
    const { name, ...rest } = await send(form)
    expect(rest).toEqual({ fields: [['language', 'de']], field: 'file', chars: 250_000, kept: 1 })
    expect(['passwd', '../../etc/passwd']).toContain(name as string)
    expect(stored()).toBe(0)
  })

  test('may have no file at all, or one that is text', async () => {
    const form = new FormData()
    form.set('file', 'words')
    expect(await send(form)).toMatchObject({ fields: [['file', 'words']], kept: 0 })
  })

  test('of exactly the bound is taken; one byte more is 413, and nothing of it stays', async () => {
    const form = (bytes: number) => {
      const all = new FormData()
      all.set('file', new File([new Uint8Array(bytes)], 'a.bin'))
      return all
    }
    expect(await send(form(MAX))).toMatchObject({ chars: MAX })
    expect(await send(form(MAX + 1))).toEqual({ kind: 'too_large', message: 'The body is larger than 1 MiB.' })
    expect(stored()).toBe(0)
  })

  test.each([1, 300, 70_000, 85_600, 250_000])('%d bytes above the bound, in pieces, is 413 as well', async (more) => {
    const sent = Buffer.from(`${part('file', 'a.bin', 'x'.repeat(MAX + more))}--x--\r\n`)
    const body = new ReadableStream<Uint8Array>({
      async start(pieces) {
        for (let at = 0; at < sent.length; at += 65_536) {
          pieces.enqueue(sent.subarray(at, at + 65_536))
          await Bun.sleep(0)
        }
        pieces.close()
      },
    })
    const headers = { 'content-type': 'multipart/form-data; boundary=x', 'content-length': String(sent.length) }
    expect(await send(body, headers)).toMatchObject({ kind: 'too_large' })
    expect(stored()).toBe(0)
  })

  const many = Array.from({ length: 40 }, (_, at) => part(`f${at}`, null, 'v')).join('')
  test.each([
    ['two files', 'x', `${part('file', 'a', '1')}${part('file', 'b', '2')}--x--\r\n`, 'more than one file'],
    ['no final boundary', 'x', part('file', 'a.mp3', 'sound'), 'is incomplete'],
    ['only half a header', 'x', '--x\r\nContent-Disp', 'is incomplete'],
    ['no part', 'x', 'sound', 'is incomplete'],
    ['many fields', 'x', `${many}--x--\r\n`, 'too many'],
    ['a boundary of 8 KB', 'y'.repeat(8_192), '--y', 'boundary'],
    ['no boundary', '', '--x--', 'boundary'],
  ])('with %s is refused at once, and nothing stays (O16)', async (_, boundary, body, why) => {
    const startedAt = performance.now()
    const { kind, message } = await raw(boundary, body)
    expect({ kind, notify: String(message).includes(why) ? why : message }).toEqual({ kind: 'invalid', notify: why })
    expect(performance.now() - startedAt).toBeLessThan(2_000)
    expect(stored()).toBe(0)
  })

  test('of 100,000 parts is refused at once, and a part with 64 KB of headers is left out (O16)', async () => {
    const parts = `${'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'.repeat(100_000)}--x--\r\n`
    expect(await raw('x', parts)).toMatchObject({ kind: 'too_large' })
    const some = `${'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'.repeat(10_000)}--x--\r\n`
    expect(await raw('x', some)).toMatchObject({ kind: 'invalid' })
    const headers = `--x\r\nX-Long: ${'h'.repeat(65_536)}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\ns\r\n--x--\r\n`
    expect(await raw('x', headers)).toEqual({ fields: [], kept: 0 })
    expect(stored()).toBe(0)
  })

  test.each([
    ['application/json', 'Content-Type is "application/json". Send multipart/form-data.'],
    ['text/plain', 'Content-Type is "text/plain". Send multipart/form-data.'],
  ])('of type %s is 415', async (type, message) => {
    expect(await send('{}', { 'content-type': type, 'content-length': '2' })).toEqual({ kind: 'unsupported', message })
  })
})
