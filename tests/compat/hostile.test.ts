// SQLite only: what is refused before anything is stored.
import { afterAll, describe, expect, test } from 'bun:test'
import { soundUpstream, toneWav } from '../media/audio/support'
import { PIXEL } from '../support/pixel'
import { startPictureServer } from '../support/upstream/pictures'
import { createWorld } from '../support/world'

const painter = startPictureServer()
afterAll(() => painter.stop())
const sound = soundUpstream(new Uint8Array())
const compat = (baseUrl: string) => ({ kind: 'compat' as const, baseUrl })
const upstreams = { painter: { ...compat(painter.url), imageEdits: true }, sound: compat(sound.url) }
const models = { 'svc-1-create': ['painter:gpt-image-1'], 'svc-1-transcribe': ['sound:whisper-9'] }
const world = await createWorld({ config: { engines: { upstreams, models } } })

type Refusal = { status: number; param: string | null | undefined; kind: string }

async function send(path: string, body: string | Uint8Array<ArrayBuffer>, type: string): Promise<Refusal> {
  // Everyone may send so many a minute.
  const { key } = await world.person()
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': type,
    'content-length': String(Buffer.byteLength(body)),
  }
  const reply = await world.app.api.handle(
    new Request(`http://localhost/v1/${path}`, { method: 'POST', headers, body }),
  )
  const { error } = reply.ok ? { error: undefined } : JSON.parse(await reply.text())
  expect({ path, error }).toEqual({
    path,
    error: reply.ok ? undefined : expect.objectContaining({ message: expect.any(String), code: expect.any(String) }),
  })
  return { status: reply.status, param: error?.param, kind: error?.type }
}

const refused = (param: string | null, status = 400): Refusal => ({ status, param, kind: 'invalid_request_error' })

/** An order of each API that takes JSON, and what none of its members can be. */
const ORDERS: Record<string, Record<string, unknown>> = {
  embeddings: { input: 'hello', model: 'svc-1-embed-local', encoding_format: 'float', dimensions: 512, user: 'u' },
  moderations: { input: 'hello' },
  'images/generations': {
    ...{ prompt: 'a cat', n: 1, size: '1024x1024', quality: 'high', response_format: 'url', model: 'x', user: 'u' },
    ...{ style: 'vivid', output_format: 'png', stream: false },
  },
  'audio/speech': {
    ...{ input: 'Hi.', voice: 'alloy', speed: 1, response_format: 'mp3', instructions: 'x', stream_format: 'audio' },
  },
  batches: {
    ...{ input_file_id: 'file-000000000000000000000000', endpoint: '/v1/chat/completions', completion_window: '24h' },
    ...{ metadata: { a: 'b' }, output_expires_after: { anchor: 'created_at', seconds: 3_600 } },
  },
}
const HOSTILE: Record<string, unknown> = {
  'an empty object in a list': [{}],
  'a list in a list in a list': [[[]]],
  'a negative fraction': -1.5,
  NUL: 'a\u0000b',
  'half of a surrogate pair': '\ud800',
}

describe.each(Object.entries(ORDERS))('POST /v1/%s', (path, order) => {
  test.each(Object.entries(HOSTILE))('refuses %s in each member, and names it', async (_, value) => {
    for (const name of Object.keys(order)) {
      const answer = await send(path, JSON.stringify({ ...order, [name]: value }), 'application/json')
      expect({ name, ...answer }).toEqual({ name, ...refused(expect.stringMatching(new RegExp(`^${name}\\b`))) })
    }
  })

  test.each(['', '[]', '1', 'null', '{', '{"a":NaN}', '"x"', `${'['.repeat(100)}`])(
    'refuses the body %j',
    async (body) => {
      expect(await send(path, body, 'application/json')).toEqual(refused(null))
    },
  )
})

type Piece = { name?: string | null; filename?: string; type?: string; bytes: Uint8Array | string; more?: string }

const piece = ({ name = 'file', filename, type, bytes, more = '' }: Piece): Buffer =>
  Buffer.concat([
    Buffer.from(`--b\r\nContent-Disposition: form-data${name === null ? '' : `; name="${name}"`}`),
    Buffer.from(`${filename === undefined ? '' : `; filename="${filename}"`}\r\n`),
    Buffer.from(`${type ? `Content-Type: ${type}\r\n` : ''}${more}\r\n`),
    Buffer.from(bytes),
    Buffer.from('\r\n'),
  ])
const CLOSING = Buffer.from('--b--\r\n')
const form = (...pieces: Piece[]): Buffer => Buffer.concat([...pieces.map(piece), CLOSING])
const field = (name: string, bytes: string | Uint8Array, type = ''): Piece => ({ name, bytes, type })

/** What each API that takes a form wants besides its file. */
const FORMS = {
  files: { name: 'file', bytes: 'words', rest: field('purpose', 'user_data') },
  'images/edits': { name: 'image', bytes: Buffer.from(PIXEL, 'base64'), rest: field('prompt', 'red') },
  'audio/transcriptions': { name: 'file', bytes: toneWav(1), rest: field('model', 'x') },
}
const MULTIPART = 'multipart/form-data; boundary=b'

describe.each(Object.entries(FORMS))('a form for /v1/%s', (path, { name, bytes, rest }) => {
  const file = { name, filename: 'a.bin', bytes }
  const post = (body: Buffer, type = MULTIPART) => send(path, new Uint8Array(body), type)

  test.each([
    ['in any order', form(file, rest), MULTIPART],
    ['with a quoted boundary', form(rest, file), 'multipart/form-data; boundary="b"'],
    ['with a file without a name', form(rest, { ...file, filename: '' }), MULTIPART],
    ['with a file whose name holds NUL', form(rest, { ...file, filename: 'a\0b.png' }), MULTIPART],
    [
      'with a file whose name has 5,000 characters',
      form(rest, { ...file, filename: `${'x'.repeat(5_000)}.png` }),
      MULTIPART,
    ],
    ['with a file whose name is a path', form(rest, { ...file, filename: '../../etc/passwd' }), MULTIPART],
    ['with members of all objects', form(rest, field('__proto__', '1'), field('constructor', '1'), file), MULTIPART],
    ['with a part that says nothing of itself', form(rest, { ...file, more: 'X-A: b\r\n' }), MULTIPART],
    ['after which more is sent', Buffer.concat([form(rest, file), Buffer.from('epilogue')]), MULTIPART],
  ])('is taken %s', async (_, body, type) => {
    expect(await post(body, type)).toMatchObject({ status: 200 })
  })

  test.each([
    ['without its file', form(rest), name],
    ['with its file as a text', form(rest, field(name, 'words')), name],
    ['with a field without a name', form(rest, { name: null, bytes: 'x' }, file), null],
    ['with NUL in a field', form(rest, field('language', 'e\0n'), file), 'language'],
    [
      'with half of a surrogate pair',
      form(rest, field('user', Buffer.from([0, 0xd8]), 'text/plain; charset=utf-16le'), file),
      'user',
    ],
    ['with a field that is too long', form(rest, field('user', 'x'.repeat(70_000)), file), 'user'],
    ['with too many files', form(rest, ...Array(6).fill(file)), null],
    ['with too many fields', form(...Array.from({ length: 40 }, (_, at) => field(`f${at}`, 'x')), file), null],
    ['without its end', Buffer.concat([piece(rest), piece(file)]), null],
    ['that ends in its file', form(rest, file).subarray(0, -20), null],
    ['of no part', CLOSING, path === 'audio/transcriptions' ? 'file' : expect.any(String)],
    ['of no byte', Buffer.alloc(0), null],
  ])('is refused %s', async (_, body, param) => {
    expect(await post(body)).toEqual(refused(param))
  })

  test('with a file of no bytes is refused, and names it', async () => {
    const { status, param } = await post(form(rest, { ...file, bytes: '' }))
    expect({ status, param }).toEqual({ status: path === 'images/edits' ? 415 : 400, param: name })
  })

  test.each([
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary=other',
    `multipart/form-data; boundary=${'x'.repeat(5_000)}`,
    'multipart/form-data; boundary=(.*)+[',
  ])('with the type %s is refused', async (type) => {
    expect(await post(form(rest, file), type)).toEqual(refused(null))
  })

  test.each(['application/json', 'application/x-www-form-urlencoded', 'text/plain'])('as %s is 415', async (type) => {
    expect((await post(form(rest, file), type)).status).toBe(415)
  })
})

describe('fields of a form', () => {
  const tables: [keyof typeof FORMS, string, string, string][] = [
    ['files', 'purpose', '', 'purpose'],
    ['files', 'purpose', 'toString', 'purpose'],
    ['files', 'purpose', 'batch_output', 'purpose'],
    ['files', 'expires_after[anchor]', 'now', 'expires_after[anchor]'],
    ['files', 'expires_after[seconds]', '3600', 'expires_after[anchor]'],
    ['images/edits', 'prompt', 'é'.repeat(4_001), 'prompt'],
    ...['0', '5', '1.5', 'two', '', '0x2', '1e0', 'NaN'].map((n): (typeof tables)[number] => [
      'images/edits',
      'n',
      n,
      'n',
    ]),
    ['images/edits', 'size', '7x7', 'size'],
    ['images/edits', 'stream', 'constructor', 'stream'],
    ['images/edits', 'mask', 'words', 'mask'],
    ['images/edits', 'output_format', 'gif', 'output_format'],
    ['audio/transcriptions', 'stream', 'yes', 'stream'],
    ['audio/transcriptions', 'response_format', 'diarized_json', 'response_format'],
    ['audio/transcriptions', 'temperature', 'Infinity', 'temperature'],
    ['audio/transcriptions', 'language', 'klingon', 'language'],
    ['audio/transcriptions', 'timestamp_granularities[]', 'syllable', 'timestamp_granularities[]'],
  ]
  test.each(tables)('POST /v1/%s refuses %s %j', async (path, name, value, param) => {
    const { rest, ...file } = FORMS[path]
    const body = form(rest, field(name, value), { ...file, filename: 'a.bin' })
    expect(await send(path, new Uint8Array(body), MULTIPART)).toEqual(refused(param))
  })

  test('a prompt of 4,000 characters of two bytes reaches the engine whole', async () => {
    const prompt = 'é'.repeat(4_000)
    const { rest: _, ...file } = FORMS['images/edits']
    const body = form(field('prompt', prompt), { ...file, filename: 'a.png' })
    expect(await send('images/edits', new Uint8Array(body), MULTIPART)).toMatchObject({ status: 200 })
    expect(painter.calls.at(-1)!.prompt).toBe(prompt)
  })
})

test('a batch names the member that holds its unknown file', async () => {
  const answer = await send('batches', JSON.stringify(ORDERS.batches), 'application/json')
  expect({ status: answer.status, param: answer.param }).toEqual({ status: 404, param: 'input_file_id' })
})

describe('what is read by an address', () => {
  const tables: [string, number, string | undefined][] = [
    ['files?limit=0', 400, 'limit'],
    ['files?limit=1001', 400, 'limit'],
    ['files?limit=1e3x', 400, 'limit'],
    ['files?order=up', 400, 'order'],
    ['files?after=nothing', 400, 'after'],
    ['files?after=%00', 400, 'after'],
    ['batches?limit=0', 400, 'limit'],
    ['batches?limit=101', 400, 'limit'],
    ['batches?after=batch_none', 400, 'after'],
    ['files/%00', 404, undefined],
    ['files/..%2F..%2Fetc%2Fpasswd/content', 404, undefined],
    [`files/file-${'x'.repeat(5_000)}`, 404, undefined],
    ['batches/%00', 404, undefined],
    ['batches/%F0%9F%98%80', 404, undefined],
    ['models/%00', 404, undefined],
    ['models/__proto__', 404, undefined],
  ]
  test.each(tables)('GET /v1/%s is %d', async (path, status, param) => {
    const { key } = await world.person()
    const headers = { authorization: `Bearer ${key}` }
    const reply = await world.app.api.handle(new Request(`http://localhost/v1/${path}`, { headers }))
    const { error } = (await reply.json()) as { error: { param?: string } }
    expect({ path, status: reply.status, param: error.param }).toEqual({ path, status, param })
  })
})
