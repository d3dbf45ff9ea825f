// SQLite only: what the edge does before any module is asked.
import { describe, expect, test } from 'bun:test'
import { listen } from '../support/listening'
import { createWorld } from '../support/world'

const world = await createWorld()
const { baseUrl } = listen(world)
const ada = await world.person()

/** Sends bytes over a real connection. */
async function post(body: BodyInit | undefined, headers: Record<string, string> = {}) {
  const response = await fetch(`${baseUrl}/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ada.key}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body }),
  })
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as { error?: { code: string; message: string }; content?: string },
  }
}

const order = (prompt = 'What is 2+2?') => JSON.stringify({ prompt })

describe('a body', () => {
  test.each([
    ['none', undefined, 'The body is missing; it must be an object.'],
    ['an empty one', '', 'The body is missing; it must be an object.'],
    ['null', 'null', 'The body is null; it must be an object.'],
    ['a text', '"x"', 'The body is "x"; it must be an object.'],
  ])('%s is refused', async (_, body, message) => {
    const { status, body: answer } = await post(body)
    expect(status).toBe(400)
    expect(answer.error).toMatchObject({ message, param: null, details: [{ path: '', message }] })
  })

  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'APPLICATION/JSON',
    'application/json ;charset=UTF-8',
    'application/json; charset="utf-8"',
    'application/json; profile="x"; charset=utf8',
  ])('of type %s is read', async (type) => {
    expect((await post(order(), { 'content-type': type })).status).toBe(200)
  })

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    '',
    'text/json',
    'application/xml',
    'application/jsonp',
    'application/vnd.api+json',
    'application/json; charset=utf-7',
    'application/json; charset=utf-16',
    'application/json;charset="iso-8859-1"',
    'application/json; profile=x; CHARSET=utf-16le',
  ])('of type %s is 415 (B20)', async (type) => {
    const { status, body } = await post(order(), { 'content-type': type })
    expect({ status, code: body.error?.code }).toEqual({ status: 415, code: 'unsupported_media_type' })
  })

  test.each(['PATCH', 'DELETE'])('of %s with another type is 415', async (method) => {
    const response = await fetch(`${baseUrl}/webhooks/wh_none`, {
      method,
      headers: { authorization: `Bearer ${ada.key}`, 'content-type': 'text/plain' },
      body: 'gone',
    })
    expect(response.status).toBe(415)
  })

  test.each([
    ['/nowhere', 404],
    ['/health', 405],
  ])('of many parts for %s is %p, since nothing there would read it', async (path, status) => {
    const response = await fetch(`${baseUrl}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ada.key}`, 'content-type': 'multipart/form-data; boundary=x' },
      body: '--x--',
    })
    expect(response.status).toBe(status)
  })

  test.each(['gzip', 'br', 'deflate, deflate', 'identity, gzip', 'zstd'])(
    'encoded as %s is 415 and not unpacked (B22)',
    async (encoding) => {
      const { status, body } = await post(order(), { 'content-encoding': encoding })
      expect({ status, code: body.error?.code }).toEqual({ status: 415, code: 'unsupported_media_type' })
    },
  )

  test('of nothing is 400', async () => {
    expect((await post(undefined)).body.error?.code).toBe('validation_error')
  })

  test('that is not UTF-8 is 400 and says so (B5)', async () => {
    const { status, body } = await post(Uint8Array.of(0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d))
    expect(status).toBe(400)
    expect(body.error?.message).toContain('UTF-8')
  })

  test('of 24 MiB is read, one byte more is 413 (B24)', async () => {
    const limit = 24 * 1024 * 1024
    const padded = (bytes: number) => {
      const head = '{"prompt":"What is 2+2?","metadata":null,"padding":"'
      return `${head}${'x'.repeat(bytes - head.length - 2)}"}`
    }
    expect((await post(padded(limit))).status).toBe(200)
    const { status, body } = await post(padded(limit + 1))
    expect({ status, code: body.error?.code }).toEqual({ status: 413, code: 'payload_too_large' })
  })

  test('of 24 MiB is read while another one is', async () => {
    const head = '{"prompt":"What is 2+2?","padding":"'
    const whole = new TextEncoder().encode(`${head}${'x'.repeat(24 * 1024 * 1024 - head.length - 2)}"}`)
    // Each keeps its last bytes back until the other one has been sent that far.
    const held = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const bodyOf = (mine: number) => {
      let part = 0
      return new ReadableStream({
        async pull(controller) {
          part += 1
          if (part === 1) return controller.enqueue(whole.subarray(0, -1024))
          held[mine]!.resolve()
          await Promise.all(held.map(({ promise }) => promise))
          controller.enqueue(whole.subarray(-1024))
          controller.close()
        },
      })
    }
    expect((await Promise.all([post(bodyOf(0)), post(bodyOf(1))])).map(({ status }) => status)).toEqual([200, 200])
  })

  test('that comes in pieces is counted as it comes', async () => {
    const pieces = (count: number) =>
      new ReadableStream({
        pull(controller) {
          if (count-- <= 0) controller.close()
          else controller.enqueue(new Uint8Array(1024 * 1024).fill(0x20))
        },
      })
    expect((await post(pieces(30))).status).toBe(413)
    const small = new ReadableStream({
      start(controller) {
        for (const part of [order().slice(0, 7), order().slice(7)]) controller.enqueue(new TextEncoder().encode(part))
        controller.close()
      },
    })
    expect((await post(small)).status).toBe(200)
  })

  test('is not read of someone without a key: 401 before 413 and 415 (docs/api.md 1.5)', async () => {
    const tooLong = { 'content-length': String(30 * 1024 * 1024) }
    expect((await world.send('POST', 'completions', 'x', { 'content-type': 'text/plain' })).status).toBe(401)
    expect((await world.send('POST', 'completions', 'x', tooLong)).status).toBe(401)
  })
})
