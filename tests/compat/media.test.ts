// SQLite only: charging is run on both databases by tests/charging.
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { parseBuffer } from 'music-metadata'
import OpenAI, { toFile } from 'openai'
import { imageSize } from '../../src/files'
import { makingIn } from '../charging/making/support'
import { PIXEL } from '../files/support'
import { bytesOf, soundUpstream, toneWav } from '../media/audio/support'
import { programOf } from '../media/support'
import { listen } from '../support/listening'
import { startUpstream } from '../support/upstream'
import { startPictureServer } from '../support/upstream/pictures'
import { createWorld } from '../support/world'

const ffmpeg = programOf('ffmpeg')
const painter = startPictureServer()
afterAll(() => painter.stop())
const tone = new Uint8Array(await Bun.file(join(import.meta.dir, '../media/audio/tone.mp3')).arrayBuffer())
const sound = soundUpstream(tone)
const scripted = await startUpstream()
afterAll(() => scripted.stop())

const compat = (baseUrl: string) => ({ kind: 'compat' as const, baseUrl })
const upstreams = {
  painter: { ...compat(painter.url), imageEdits: true },
  sound: compat(sound.url),
  english: { ...compat(sound.url), translates: true },
}
const models = {
  'svc-1-create': ['painter:gpt-image-1'],
  'svc-1-voice': ['sound:tts-2'],
  'svc-1-transcribe': ['sound:whisper-9'],
}
const world = await createWorld({ config: { engines: { upstreams, models } } })
const { walletOf, auditOf } = makingIn(world)
const { origin } = listen(world)
const ada = await world.person({ cents: 1_000 })
const clientOf = (apiKey: string, base = origin) => new OpenAI({ baseURL: `${base}/v1`, apiKey, maxRetries: 0 })
const openai = clientOf(ada.key)
const plain = await createWorld({ config: { videoMarker: '' } })
const bare = clientOf((await plain.person({ cents: 1_000 })).key, listen(plain).origin)

const pixel = (name = 'a.png') => toFile(PIXEL, name, { type: 'image/png' })
const recording = () => toFile(toneWav(2), 'a.wav', { type: 'audio/wav' })
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    ({ status, code, param, message }: InstanceType<typeof OpenAI.APIError>) => ({ status, code, param, message }),
  )
const pixels = (base64: string | undefined) => imageSize(Buffer.from(base64!, 'base64'))
const plainTranscript = sound.answers.transcription
beforeEach(() => {
  painter.calls.length = 0
  sound.spoken.length = 0
  sound.heard.length = 0
  sound.answers.transcription = plainTranscript
})

describe('POST /images/generations (docs/api.md 32.4)', () => {
  test('answers bytes to a model whose clients read nothing else, an address to others', async () => {
    const { data, usage } = await openai.images.generate({ model: 'gpt-image-1', prompt: 'a pixel' })
    expect(pixels(data![0]!.b64_json)).toMatchObject({ format: 'PNG' })
    expect(usage).toMatchObject({ input_tokens: 0, output_tokens: 0, total_tokens: 0 })
    expect((await openai.images.generate({ prompt: 'a pixel' })).data![0]!.url).toContain('http')
  })

  test.each(['jpeg', 'webp', 'png'] as const)('writes %s where that is asked for', async (format) => {
    const { data } = await openai.images.generate({ model: 'gpt-image-1', prompt: 'a pixel', output_format: format })
    expect(pixels(data![0]!.b64_json)?.format.toLowerCase()).toBe(format)
  })

  test('streams one event a picture', async () => {
    const stream = await openai.images.generate({ model: 'gpt-image-1', prompt: 'a pixel', n: 2, stream: true })
    const events = []
    for await (const event of stream) events.push(event)
    expect(events.map(({ type }) => type)).toEqual(['image_generation.completed', 'image_generation.completed'])
    expect(events[0]).toMatchObject({ size: '1x1', quality: 'auto', output_format: 'png' })
    expect(pixels(events[0]!.b64_json)).toMatchObject({ width: 1 })
  })

  test('names what it has no setting for, and makes at most four', async () => {
    const order = { prompt: 'a pixel', background: 'opaque' as const, moderation: 'low' as const }
    const { data, response } = await openai.images.generate(order).withResponse()
    expect(response.headers.get('x-svc-ignored')).toBe('background, moderation')
    expect((data as never as { svc_metadata: { warnings: string[] } }).svc_metadata.warnings[0]).toContain('background')
    expect(await failure(openai.images.generate({ prompt: 'a pixel', n: 5 }))).toMatchObject({
      status: 400,
      param: 'n',
    })
  })
})

describe('POST /images/edits (docs/api.md 32.4)', () => {
  test('sends the pictures and the mask to an engine that edits, and charges the pictures', async () => {
    const eve = await world.person({ cents: 100 })
    const mask = await pixel('mask.png')
    const image = [await pixel(), await pixel('b.png')]
    const { data } = await clientOf(eve.key).images.edit({ image, mask, prompt: 'make it red', n: 2 })
    expect(data).toHaveLength(2)
    expect(painter.calls).toHaveLength(2)
    expect(painter.calls[0]).toMatchObject({
      path: '/v1/images/edits',
      prompt: 'make it red',
      sent: [PIXEL.length, PIXEL.length, PIXEL.length],
    })
    expect(await walletOf(eve)).toEqual({ cents: 92, held: 0 })
    expect((await auditOf(eve))[0]).toMatchObject({ action: 'image.created' })
  })

  test('streams, and reads the model of a deployment', async () => {
    const stream = await openai.images.edit({ image: await pixel(), prompt: 'red', stream: true })
    const events = []
    for await (const event of stream) events.push(event.type)
    expect(events).toEqual(['image_edit.completed'])
    const azure = new OpenAI({ baseURL: `${origin}/openai/deployments/gpt-image-1`, apiKey: ada.key })
    const { data } = await azure.images.edit({ image: await pixel(), prompt: 'red' })
    expect(data![0]!.b64_json).toBeString()
  })

  test('refuses what is no picture, a mask that hides all, and a form without a picture or prompt', async () => {
    const image = await pixel()
    const text = await toFile(Buffer.from('words'), 'a.png')
    const edit = (order: object) => failure(openai.images.edit({ image, prompt: 'red', ...order } as never))
    expect(await edit({ image: text })).toMatchObject({ status: 415, code: 'unsupported_media_type' })
    expect(await edit({ mask: await toFile(await opaque(), 'mask.png') })).toMatchObject({ status: 400, param: 'mask' })
    expect(await edit({ image: undefined })).toMatchObject({ status: 400, param: 'image' })
    expect(await edit({ prompt: ' ' })).toMatchObject({ status: 400, code: 'missing_prompt' })
    expect(await edit({ n: 9 })).toMatchObject({ status: 400, param: 'n' })
    const large = await toFile(Buffer.alloc(15 * 1024 * 1024 + 1), 'a.png')
    expect(await edit({ image: large })).toMatchObject({ status: 413 })
    const five = await Promise.all(Array.from({ length: 5 }, () => pixel()))
    expect(await edit({ image: five })).toMatchObject({ status: 400, param: 'image' })
    expect(painter.calls).toEqual([])
  })

  test('without an engine that edits it is 503, and names the setting', async () => {
    const refused = await failure(bare.images.edit({ image: await pixel(), prompt: 'red' }))
    expect(refused).toMatchObject({ status: 503, code: 'engine_unavailable' })
    expect(refused!.message).toContain('imageEdits')
  })

  test('variations are 404 and name the edits', async () => {
    const refused = await failure(openai.images.createVariation({ image: await pixel() }))
    expect(refused).toMatchObject({ status: 404 })
    expect(refused!.message).toContain('/images/edits')
  })
})

/** A picture of one pixel that cannot be seen through. */
const opaque = async () => Buffer.from(await new Bun.Image(PIXEL).jpeg().bytes())

describe('POST /audio/speech (docs/api.md 32.5)', () => {
  const speak = (order: object = {}) =>
    openai.audio.speech.create({ model: 'tts-1', voice: 'alloy', input: 'The tide comes in.', ...order } as never)

  test.skipIf(!ffmpeg).each([
    ['wav', 'audio/wav'],
    ['opus', 'audio/ogg'],
    ['flac', 'audio/flac'],
    ['aac', 'audio/aac'],
    ['pcm', 'audio/pcm'],
  ])('writes %s', async (format, type) => {
    const answer = await speak({ response_format: format })
    expect(answer.headers.get('content-type')).toBe(type)
    const bytes = new Uint8Array(await answer.arrayBuffer())
    expect(sound.spoken[0]!.body.response_format).toBe('mp3')
    const measured = async (sound: Uint8Array, mimeType: string) =>
      (await parseBuffer(sound, { mimeType }, { duration: true })).format.duration!
    const seconds = format === 'pcm' ? bytes.length / 48_000 : await measured(bytes, type)
    expect(seconds).toBeCloseTo(await measured(tone, 'audio/mpeg'), 0)
  })

  test('without ffmpeg the voice engine is asked for the format, and the server alone refuses it', async () => {
    const few = await createWorld({ config: { engines: { upstreams, models }, videoMarker: '' } })
    const person = await few.person()
    const order = { input: 'The tide.', response_format: 'wav' }
    sound.answers.speech = () => new Response(toneWav(1))
    const { status, bytes } = await bytesOf(few, person, 'audio/speech', order)
    sound.answers.speech = () => new Response(tone)
    expect({ status, length: bytes.length }).toEqual({ status: 200, length: toneWav(1).length })
    expect(sound.spoken[0]!.body.response_format).toBe('wav')
    const refused = await failure(
      bare.audio.speech.create({ model: 'x', voice: 'alloy', input: 'Hi.', response_format: 'flac' }),
    )
    expect(refused).toMatchObject({ status: 400, param: 'response_format' })
    expect(refused!.message).toContain('mp3')
  })

  test('hands instructions on, or names them as ignored', async () => {
    await speak({ instructions: 'Whisper.' })
    expect(sound.spoken[0]!.body.instructions).toBe('Whisper.')
    const answer = await bare.audio.speech.create({
      model: 'x',
      voice: 'alloy',
      input: 'Hi.',
      instructions: 'Whisper.',
    })
    expect(answer.headers.get('x-svc-ignored')).toBe('instructions')
  })

  test('streams events with the sound', async () => {
    const text = await (await speak({ stream_format: 'sse' })).text()
    const events = text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []))
    const pieces = events.flatMap(({ type, audio }) => (type === 'speech.audio.delta' ? [audio] : []))
    expect(Buffer.from(pieces.join(''), 'base64').equals(tone)).toBe(true)
    expect(events.at(-1)).toMatchObject({ type: 'speech.audio.done', usage: { total_tokens: 0 } })
  })
})

describe('POST /audio/transcriptions (docs/api.md 32.5)', () => {
  test('hands on what decides the words, and answers those of the engine', async () => {
    sound.answers.transcription = () =>
      Response.json({ text: 'The tide.', words: [{ word: 'The', start: 0, end: 0.5 }, { word: 7 }], segments: [] })
    const answer = await openai.audio.transcriptions.create({
      ...{ model: 'whisper-1', file: await recording(), response_format: 'verbose_json' as const },
      ...{ prompt: 'Of the sea.', temperature: 0.2, timestamp_granularities: ['word'] },
    })
    expect(answer).toMatchObject({ task: 'transcribe', words: [{ word: 'The', start: 0, end: 0.5 }] })
    expect(sound.heard[0]!.fields).toMatchObject({
      ...{ prompt: 'Of the sea.', temperature: '0.2', 'timestamp_granularities[]': 'word' },
    })
  })

  test('writes subtitles', async () => {
    const ask = async (format: 'srt' | 'vtt') =>
      openai.audio.transcriptions.create({ model: 'x', file: await recording(), response_format: format })
    expect(await ask('srt')).toBe('1\n00:00:00,000 --> 00:00:01,500\nThe tide comes in.\n' as never)
    expect(await ask('vtt')).toBe('WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nThe tide comes in.\n' as never)
    sound.answers.transcription = () => Response.json({ text: 'The tide.' })
    expect(await ask('srt')).toBe('1\n00:00:00,000 --> 00:00:02,000\nThe tide.\n' as never)
  })

  test('streams its text, and refuses a format it does not have before it begins', async () => {
    const stream = await openai.audio.transcriptions.create({ model: 'x', file: await recording(), stream: true })
    const events = []
    for await (const event of stream) events.push(event)
    expect(events as object[]).toEqual([
      { type: 'transcript.text.delta', delta: 'The tide comes in.' },
      { type: 'transcript.text.done', text: 'The tide comes in.' },
    ])
    const order = { model: 'x', file: await recording(), response_format: 'diarized_json' as const }
    expect(await failure(openai.audio.transcriptions.create(order))).toMatchObject({ status: 400 })
    expect(
      await failure(openai.audio.transcriptions.create({ ...order, response_format: 'json', temperature: 3 })),
    ).toMatchObject({
      ...{ status: 400, param: 'temperature' },
    })
  })
})

describe('POST /audio/translations (docs/api.md 32.5)', () => {
  const german = () => Response.json({ text: 'Die Flut kommt.', language: 'german', segments: [] })
  const translate = async (client: OpenAI, more = {}) =>
    client.audio.translations.create({ model: 'whisper-1', file: await recording(), ...more })

  test('an engine that translates does it in one call', async () => {
    const other = await createWorld({
      config: { engines: { upstreams, models: { 'svc-1-transcribe': ['sound:a', 'english:b'] } } },
    })
    const client = clientOf((await other.person()).key, listen(other).origin)
    const answer = await translate(client, { response_format: 'verbose_json', prompt: 'Of the sea.' })
    expect(answer).toMatchObject({ task: 'translate', text: 'The tide comes in.', language: 'en' })
    expect(sound.heard).toMatchObject([
      { path: '/v1/audio/translations', fields: { model: 'b', prompt: 'Of the sea.' } },
    ])
  })

  test('otherwise the text is put into English, for the price of both; nothing is charged where that fails', async () => {
    const other = await createWorld({
      config: {
        engineBaseUrl: scripted.url,
        engines: { upstreams, models: { 'svc-1-transcribe': ['sound:a'] } },
        prices: { 'svc-1-flash': { promptPer1k: 10_000_000, completionPer1k: 10_000_000 } },
      },
    })
    const person = await other.person({ cents: 100 })
    const client = clientOf(person.key, listen(other).origin)
    sound.answers.transcription = german
    const answer = await translate(client, { response_format: 'verbose_json' })
    expect(answer).toMatchObject({ text: 'Hello from the scripted upstream.', language: 'de' })
    const { cents } = await makingIn(other).walletOf(person)
    // Two seconds of sound cost 0.02 cents; the tokens of the other engine more.
    expect(cents).toBeLessThan(99.9)
    sound.answers.transcription = () => Response.json({ text: '[[500]]', language: 'german' })
    expect(await failure(translate(client))).toMatchObject({ status: 503 })
    expect(await makingIn(other).walletOf(person)).toEqual({ cents, held: 0 })
  })

  test('where nothing translates it is 503', async () => {
    expect(await failure(translate(openai))).toMatchObject({ status: 503, code: 'engine_unavailable' })
    expect(sound.heard).toEqual([])
  })
})
