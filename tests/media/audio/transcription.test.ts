import { beforeEach, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { zipSync } from 'fflate'
import OpenAI, { toFile } from 'openai'
import { makingIn } from '../../charging/making/support'
import { onTerms, under } from '../../guardrails/support'
import { createWorld } from '../../support/world'
import { formTo, recording, soundUpstream, toneWav } from './support'

const upstream = soundUpstream(new Uint8Array())
const world = await createWorld({ config: { sttBaseUrl: upstream.url, sttApiKey: 'sk-stt', sttModel: 'whisper-9' } })
const deaf = await createWorld()
const { walletOf, auditOf } = makingIn(world)
const plainAnswer = upstream.answers.transcription
const two = toneWav(2)
const left = () => readdirSync(join(world.folder, 'files', 'incoming'))
beforeEach(() => {
  upstream.heard.length = 0
  upstream.answers.transcription = plainAnswer
})

describe('POST /audio/stt (docs/api.md 6)', () => {
  test('answers the words, the language and the measured length, and charges its minutes', async () => {
    const ada = await world.person({ cents: 100 })
    const { status, body } = await formTo(world, ada, 'audio/stt', recording(two, '../../x.exe'))
    expect(status).toBe(200)
    expect(body).toEqual({
      id: expect.stringMatching(/^stt_[0-9A-Za-z]{24}$/),
      object: 'transcript',
      created: expect.any(String),
      text: 'The tide comes in.',
      language: 'en',
      duration_seconds: 2,
      usage: { cost_cents: 0.02 },
      request_id: expect.stringMatching(/^req_/),
    })
    expect(await walletOf(ada)).toEqual({ cents: 99.98, held: 0 })
    expect((await auditOf(ada))[0]).toMatchObject({ action: 'stt.created', entityId: body.id })
    const [call] = upstream.heard
    expect(call).toMatchObject({
      authorization: 'Bearer sk-stt',
      fields: { model: 'whisper-9', response_format: 'verbose_json' },
    })
    expect(call!.file.name).toBe('recording.wav')
    expect(new Uint8Array(await call!.file.arrayBuffer())).toEqual(two)
    expect(Number(call!.length)).toBeGreaterThan(two.length)
    expect(left()).toEqual([])
  })

  test.each([
    ['of zero, as its recorder left it unfinished', 0, 0],
    ['of the most there can be, as a program streams it', 0xffffffff, 0xffffffff],
    ['of zero for its samples only', 0x24, 0],
  ])('a WAV with sizes %s, is heard and measured', async (_, whole, samples) => {
    const unfinished = Buffer.from(two)
    unfinished.writeUInt32LE(whole, 4)
    unfinished.writeUInt32LE(samples, 40)
    const { status, body } = await formTo(world, await world.person(), 'audio/stt', recording(unfinished))
    expect({ status, text: body.text, seconds: body.duration_seconds }).toEqual({
      status: 200,
      text: 'The tide comes in.',
      seconds: 2,
    })
  })

  test('a streamed WAV of ADPCM is measured by its blocks', async () => {
    const head = Buffer.from(
      '52494646ffffffff57415645666d742014000000110001008000000000000000000104000200f901666163740400000000000000',
      'hex',
    )
    head.writeUInt32LE(8_000, 24)
    head.writeUInt32LE(64_000, 28)
    const data = Buffer.concat([Buffer.from('data\xff\xff\xff\xff', 'latin1'), Buffer.alloc(256 * 32)])
    const { body } = await formTo(
      world,
      await world.person(),
      'audio/stt',
      recording(new Uint8Array(Buffer.concat([head, data]))),
    )
    expect(body.duration_seconds).toBeCloseTo((505 * 32) / 8_000, 3)
  })

  test.each([
    ['a WebM that a browser records, without a duration', 'streamed.webm', 1, 0.05],
    ['a QuickTime file of plain samples', 'samples.mov', 0.1, 0.01],
  ])('%s is measured', async (_, name, seconds, near) => {
    const sent = new Uint8Array(readFileSync(join(import.meta.dir, name)))
    const { status, body } = await formTo(world, await world.person(), 'audio/stt', recording(sent, name))
    expect(status).toBe(200)
    expect(Math.abs(body.duration_seconds - seconds)).toBeLessThan(near)
  })

  test('a WAV in the form of long recordings, RF64, is heard and measured', async () => {
    const sizes = Buffer.alloc(36)
    sizes.write('ds64', 0)
    sizes.writeUInt32LE(28, 4)
    const long = Buffer.concat([two.subarray(0, 12), sizes, two.subarray(12)])
    long.write('RF64', 0)
    long.fill(0xff, 4, 8)
    long.fill(0xff, 12 + 36 + 28, 12 + 36 + 32)
    const { status, body } = await formTo(world, await world.person(), 'audio/stt', recording(new Uint8Array(long)))
    expect({ status, text: body.text }).toEqual({ status: 200, text: 'The tide comes in.' })
    expect(body.duration_seconds).toBe(2)
    expect(upstream.heard[0]!.file.name).toBe('recording.wav')
  })

  test.each([
    ['an MP3 behind zeros', 300, 200],
    ['too many zeros', 70_000, 415],
  ])('%s is %i zeros: %i', async (_, zeros, wanted) => {
    const tone = readFileSync(join(import.meta.dir, 'tone.mp3'))
    const padded = new Uint8Array(Buffer.concat([Buffer.alloc(zeros), tone]))
    const { status } = await formTo(world, await world.person(), 'audio/stt', recording(padded))
    expect(status).toBe(wanted)
  })

  test('a model without `verbose_json` is asked for words only', async () => {
    upstream.answers.transcription = () =>
      upstream.heard.at(-1)!.fields.response_format
        ? Response.json({ error: { message: 'No such format', param: 'response_format' } }, { status: 400 })
        : Response.json({ text: 'The tide comes in.' })
    const { status, body } = await formTo(world, await world.person(), 'audio/stt', recording(two))
    expect({ status, text: body.text, asked: upstream.heard.length }).toEqual({
      status: 200,
      text: 'The tide comes in.',
      asked: 2,
    })
  })

  test('the language of the request is handed on; one that is none is 400', async () => {
    const ada = await world.person()
    expect((await formTo(world, ada, 'audio/stt', recording(two, 'a.wav', { language: 'DE' }))).status).toBe(200)
    expect(upstream.heard[0]!.fields.language).toBe('de')
    const { body } = await formTo(world, ada, 'audio/stt', recording(two, 'a.wav', { language: 'Klingon' }))
    expect(body.error).toMatchObject({ code: 'validation_error', param: 'language' })
  })

  test('no file, an empty one, text or another name is 400 `missing_file` (O2)', async () => {
    const ada = await world.person()
    const text = new FormData()
    text.set('file', 'words')
    const other = new FormData()
    other.set('sound', new File([two], 'a.wav'))
    const empty = recording(new Uint8Array())
    const none = new FormData()
    none.set('language', 'en')
    for (const form of [text, other, empty, none]) {
      const { status, body } = await formTo(world, ada, 'audio/stt', form)
      expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'missing_file' })
    }
    expect((await ada.send('POST', 'audio/stt')).body.error.code).toBe('missing_file')
    expect(left()).toEqual([])
  })

  test('two files are 400 (O2)', async () => {
    const ada = await world.person()
    const form = recording(two)
    form.append('file', new File([two], 'b.wav'))
    expect((await formTo(world, ada, 'audio/stt', form)).status).toBe(400)
  })

  const bytes = (text: string) => new TextEncoder().encode(text)
  test.each([
    ['HTML as .mp3', 'a.mp3', bytes('<html><script>alert(1)</script></html>')],
    ['a GIF with script', 'a.ogg', bytes('GIF89a/*\u0001*/=1;alert(1)')],
    ['SVG with script', 'a.webm', bytes('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>')],
    ['a PDF', 'a.m4a', bytes('%PDF-1.7\n1 0 obj\nPK\u0003\u0004')],
    ['a program as .wav', 'a.wav', bytes(`MZ${'\u0090'.repeat(200)}`)],
    ['a WAV of nothing but its mark', 'a.wav', bytes('RIFF\u0000\u0000\u0000\u0000WAVE')],
    ['words', 'a.mp3', bytes('these are only words')],
    ['a zip of 64 MB of nothing', 'a.m4a', zipSync({ 'word/document.xml': new Uint8Array(64 * 1024 * 1024) })],
  ])('%s is 415 by its bytes (O5, O8)', async (_, name, content) => {
    const { status, body } = await formTo(world, await world.person(), 'audio/stt', recording(content as never, name))
    expect({ status, code: body.error.code }).toEqual({ status: 415, code: 'unsupported_media_type' })
    expect(upstream.heard).toHaveLength(0)
  })

  const phone = new Uint8Array(readFileSync(join(import.meta.dir, 'phone.m4a')))
  const branded = (brand: string) => {
    const copy = phone.slice()
    copy.set(bytes(brand), 8)
    return copy
  }
  test.each([
    ...['3gp4', '3gp5', '3gp6', '3g2a', 'M4A ', 'M4B '].map((brand) => [brand, 'recording.m4a']),
    ...['isom', 'mp42', 'qt  ', 'M4V ', 'dash'].map((brand) => [brand, 'recording.mp4']),
  ])('a recording of brand %s is sound, whatever it is declared as (docs/api.md 6)', async (brand, name) => {
    const ada = await world.person()
    const form = new FormData()
    form.set('file', new File([branded(brand!)], 'Voice 001.m4a', { type: 'application/octet-stream' }))
    const { status, body } = await formTo(world, ada, 'audio/stt', form)
    expect({ status, text: body.text }).toEqual({ status: 200, text: 'The tide comes in.' })
    expect(body.duration_seconds).toBeGreaterThan(0)
    expect(upstream.heard[0]!.file.name).toBe(name!)
    expect(new Uint8Array(await upstream.heard[0]!.file.arrayBuffer())).toEqual(branded(brand!))
  })

  test('more than 25 MB is 413, exactly 25 MB is not', async () => {
    const ada = await world.person()
    const max = 25 * 1024 * 1024
    const sized = (size: number) => {
      const whole = new Uint8Array(size)
      whole.set(toneWav(60))
      return whole
    }
    const over = await formTo(world, ada, 'audio/stt', recording(sized(max + 1)))
    expect({ status: over.status, code: over.body.error.code }).toEqual({ status: 413, code: 'payload_too_large' })
    expect((await formTo(world, ada, 'audio/stt', recording(sized(max)))).status).toBe(200)
    expect(left()).toEqual([])
  })

  test('JSON that poses as an upload is 415 (B20)', async () => {
    const ada = await world.person()
    const body = '{"file":{"filepath":"/etc/passwd"}}'
    const headers = { 'content-type': 'application/json', 'content-length': String(body.length) }
    expect((await ada.send('POST', 'audio/stt', body, headers)).status).toBe(415)
  })

  test('a transcriber that fails is 502, and nothing is charged', async () => {
    const ada = await world.person({ cents: 100 })
    for (const answer of [
      () => new Response('boom', { status: 500 }),
      () => Response.json({ words: [] }),
      () => new Response('no json'),
    ]) {
      upstream.answers.transcription = answer
      const { status, body } = await formTo(world, ada, 'audio/stt', recording(two))
      expect({ status, code: body.error.code }).toEqual({ status: 502, code: 'stt_provider_error' })
    }
    expect(await walletOf(ada)).toEqual({ cents: 100, held: 0 })
    expect(left()).toEqual([])
  })

  test('503 that names the setting where nothing transcribes', async () => {
    const { status, body } = await formTo(deaf, await deaf.person(), 'audio/stt', recording(two))
    expect({ status, code: body.error.code }).toEqual({ status: 503, code: 'stt_unavailable' })
    expect(body.error.message).toContain('SVC_STT_BASE_URL')
  })

  test('the policy of the key reads what was written', async () => {
    const ada = await world.person()
    await under(ada, [onTerms('output', 'redact', ['tide'])])
    const { body } = await formTo(world, ada, 'audio/transcriptions', verbose())
    expect(body.text).not.toContain('tide')
    expect(body.segments).toEqual([])
  })
})

const verbose = () => recording(two, 'a.wav', { response_format: 'verbose_json' })

describe('POST /audio/transcriptions (docs/api.md 28.1)', () => {
  test('the client of the openai package works unchanged, in all three formats', async () => {
    const ada = await world.person()
    const client = new OpenAI({
      apiKey: ada.key,
      baseURL: 'http://localhost/api/v1',
      fetch: async (url, init) => world.app.api.handle(new Request(url as string, init as RequestInit)),
    })
    const request = async () => ({ file: await toFile(Buffer.from(two), 'a.wav'), model: 'whisper-1' })
    expect((await client.audio.transcriptions.create(await request())).text).toBe('The tide comes in.')
    const text = await client.audio.transcriptions.create({ ...(await request()), response_format: 'text' })
    expect(text as unknown as string).toBe('The tide comes in.')
    const all = await client.audio.transcriptions.create({ ...(await request()), response_format: 'verbose_json' })
    expect(all).toMatchObject({
      task: 'transcribe',
      language: 'en',
      duration: 2,
      segments: [{ id: 0, start: 0, end: 1.5, text: 'The tide comes in.' }],
    })
  })

  test('another format is 400', async () => {
    const ada = await world.person()
    const { body } = await formTo(world, ada, 'audio/transcriptions', recording(two, 'a', { response_format: 'docx' }))
    expect(body.error).toMatchObject({ code: 'validation_error', param: 'response_format' })
  })
})
