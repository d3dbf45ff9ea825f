import { beforeEach, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import OpenAI from 'openai'
import { makingIn } from '../../charging/making/support'
import { onTerms, under } from '../../guardrails/support'
import { createWorld } from '../../support/world'
import { bytesOf, decoded, programOf, soundUpstream } from './support'

const espeak = programOf('espeak-ng')
const ffmpeg = programOf('ffmpeg')
const SENTENCE = 'The tide comes in twice a day, and the moon is the reason for it.'

const mute = await createWorld({ config: { ttsLocal: '' } })
const local = await createWorld()
const mp3 = new Uint8Array(await Bun.file(join(import.meta.dir, 'tone.mp3')).arrayBuffer())
const upstream = soundUpstream(mp3)
const world = await createWorld({
  config: { ttsBaseUrl: upstream.url, ttsApiKey: 'sk-tts', ttsVoices: { deep: 'bass' } },
})
const { walletOf, auditOf } = makingIn(world)
const ofTone = () => new Response(mp3, { headers: { 'content-type': 'audio/mpeg' } })
beforeEach(() => {
  upstream.spoken.length = 0
  upstream.answers.speech = ofTone
})

describe('POST /audio/tts through an upstream (docs/api.md 6)', () => {
  test('answers its MP3, with the headers of speech, and charges its minutes', async () => {
    const ada = await world.person({ cents: 100 })
    const { status, headers, bytes } = await bytesOf(world, ada, 'audio/tts', { text: SENTENCE, speed: 1.5 })
    expect(status).toBe(200)
    expect(bytes).toEqual(mp3)
    expect(headers.get('content-type')).toBe('audio/mpeg')
    expect(headers.get('content-length')).toBe(String(mp3.length))
    expect(headers.get('x-request-id')).toMatch(/^tts_[0-9A-Za-z]{24}$/)
    // Two seconds at 1.5 cents a minute.
    expect(Number(headers.get('x-cost-cents'))).toBeCloseTo(0.05, 2)
    expect((await walletOf(ada)).held).toBe(0)
    expect((await walletOf(ada)).cents).toBeCloseTo(99.95, 2)
    const [row] = await auditOf(ada)
    expect(row).toMatchObject({ action: 'tts.created', entityId: headers.get('x-request-id') })
    expect(JSON.stringify(row)).not.toContain('moon')
    expect(upstream.spoken).toEqual([
      {
        path: '/v1/audio/speech',
        authorization: 'Bearer sk-tts',
        body: { model: 'tts-1', input: SENTENCE, voice: 'alloy', speed: 1.5, response_format: 'mp3' },
      },
    ])
  })

  test.each([
    ['svc-voice-deep', 'bass'],
    ['svc-voice-storyteller', 'fable'],
    ['../../etc/passwd', 'alloy'],
  ])('the voice %s is %s there', async (voice, name) => {
    expect((await bytesOf(world, await world.person(), 'audio/tts', { text: 'Hello.', voice })).status).toBe(200)
    expect(upstream.spoken[0]!.body.voice).toBe(name)
  })

  test('an upstream that fails, or sends something else, is 502, and nothing is charged', async () => {
    const ada = await world.person({ cents: 100 })
    const wrong = [
      () => new Response('upstream is sad', { status: 500 }),
      () => new Response('<html>', { headers: { 'content-type': 'audio/mpeg' } }),
      () => new Response(null, { status: 401 }),
    ]
    for (const answer of wrong) {
      upstream.answers.speech = answer
      const reply = await ada.send('POST', 'audio/tts', { text: SENTENCE })
      expect(reply.status).toBe(502)
      expect(reply.body.error).toMatchObject({ code: 'tts_provider_error', type: 'api_error' })
      expect(reply.text).not.toContain('sad')
      expect(reply.body.error.request_id).toMatch(/^tts_/)
    }
    expect(await walletOf(ada)).toEqual({ cents: 100, held: 0 })
    expect((await auditOf(ada))[0]).toMatchObject({ action: 'tts.failed', outputSummary: { status: 502 } })
  })

  test('the policy of the key reads the text before it is spoken', async () => {
    const ada = await world.person()
    await under(ada, [onTerms('input', 'redact', ['moon'])])
    expect((await bytesOf(world, ada, 'audio/tts', { text: SENTENCE })).status).toBe(200)
    expect(upstream.spoken[0]!.body.input).not.toContain('moon')
    const eve = await world.person()
    await under(eve, [onTerms('input', 'block', ['moon'])])
    const refused = await eve.send('POST', 'audio/tts', { text: SENTENCE })
    expect(refused.body.error).toMatchObject({ code: 'guardrail_blocked', param: 'text' })
    expect(upstream.spoken).toHaveLength(1)
  })

  test('a wallet that cannot pay is 402, before the upstream is asked', async () => {
    const poor = await world.person({ cents: 0 })
    expect((await poor.send('POST', 'audio/tts', { text: SENTENCE })).body.error.code).toBe('insufficient_credits')
    expect(upstream.spoken).toHaveLength(0)
  })
})

describe('what is refused', () => {
  test.each([
    [{}, 'missing_text', 'text'],
    [{ text: ' \n ' }, 'missing_text', 'text'],
    [{ text: 'x'.repeat(4_097) }, 'validation_error', 'text'],
    [{ text: 'x', speed: 5 }, 'validation_error', 'speed'],
    [{ text: 'x', speed: '1' }, 'validation_error', 'speed'],
    [{ text: 7 }, 'validation_error', 'text'],
    [{ text: 'x', voice: ['a'] }, 'validation_error', 'voice'],
  ])('%j is 400 %s', async (body, code, param) => {
    const { status, body: answer } = await (await world.person()).send('POST', 'audio/tts', body)
    expect(status).toBe(400)
    expect(answer.error).toMatchObject({ code, param })
  })

  test('a megabyte of text, a voice that is a path and an unknown format (S7)', async () => {
    const ada = await world.person()
    const long = { text: 'x'.repeat(1_000_000), voice: '../x', format: 'exe' }
    expect((await ada.send('POST', 'audio/tts', long)).body.error.code).toBe('validation_error')
    const exe = await ada.send('POST', 'audio/speech', { input: 'x', voice: 'alloy', response_format: 'exe' })
    expect(exe.body.error).toMatchObject({ code: 'validation_error', param: 'response_format' })
  })

  test('503 that names the setting where nothing speaks', async () => {
    const { status, headers, body } = await (await mute.person()).send('POST', 'audio/tts', { text: 'Hello.' })
    expect(status).toBe(503)
    expect(headers.get('retry-after')).toBe('60')
    expect(body.error.code).toBe('tts_unavailable')
    expect(body.error.message).toContain('SVC_TTS_BASE_URL')
  })
})

describe('POST /audio/speech (docs/api.md 28.1)', () => {
  test('the client of the openai package works unchanged', async () => {
    const ada = await world.person()
    const client = new OpenAI({
      apiKey: ada.key,
      baseURL: 'http://localhost/api/v1',
      fetch: async (url, init) => world.app.api.handle(new Request(url as string, init as RequestInit)),
    })
    const speech = await client.audio.speech.create({ model: 'tts-1', voice: 'nova', input: SENTENCE, speed: 2 })
    expect(new Uint8Array(await speech.arrayBuffer())).toEqual(mp3)
    expect(upstream.spoken[0]!.body).toMatchObject({ input: SENTENCE, voice: 'alloy', speed: 2 })
  })

  test('refusals name its own fields', async () => {
    expect((await (await world.person()).send('POST', 'audio/speech', { voice: 'alloy' })).body.error).toMatchObject({
      code: 'missing_text',
      param: 'input',
    })
  })
})

describe.skipIf(!espeak)('POST /audio/tts through an installed espeak-ng', () => {
  const textOf = async (body: object) => bytesOf(local, await local.person(), 'audio/tts', body)

  test('answers an MP3 that ffmpeg decodes, for nothing, and leaves no file', async () => {
    const ada = await local.person({ cents: 100 })
    const { status, headers, bytes } = await bytesOf(local, ada, 'audio/tts', { text: SENTENCE })
    expect({ status, costCents: headers.get('x-cost-cents') }).toEqual({ status: 200, costCents: '0' })
    expect(readdirSync(join(local.folder, 'files', 'incoming'))).toEqual([])
    if (!ffmpeg) return
    const { seconds, peak } = await decoded(ffmpeg, bytes)
    expect(seconds).toBeGreaterThan(2.5)
    expect(seconds).toBeLessThan(7)
    expect(peak).toBeGreaterThan(-20)
  })

  test('speaks faster and slower, beyond what the program can itself', async () => {
    const lengths = await Promise.all(
      [0.25, 0.5, 1, 4].map(async (speed) => (await textOf({ text: SENTENCE, speed })).bytes.length),
    )
    const [slowest, slow, plain, fast] = lengths as [number, number, number, number]
    expect(slowest / plain).toBeGreaterThan(3.2)
    expect(slow / plain).toBeGreaterThan(1.7)
    expect(plain / fast).toBeGreaterThan(2.5)
  })

  test('its six voices sound differently', async () => {
    const voices = ['classic', 'bright', 'storyteller', 'deep', 'warm', 'soft'].map((name) => `svc-voice-${name}`)
    const spoken = await Promise.all(
      voices.map(async (voice) => (await textOf({ text: 'Good morning.', voice })).bytes),
    )
    expect(new Set(spoken.map((bytes) => Bun.hash(bytes))).size).toBe(6)
  })

  test('text is never a command, an option or a spelling of sounds', async () => {
    for (const text of ['--help $(touch /tmp/x); `id`', '-f /etc/passwd', "[[h@l'oU]]"]) {
      expect((await textOf({ text })).status).toBe(200)
    }
  })

  test('a control character in a text is no command', async () => {
    const [plain, faster] = await Promise.all(
      ['', '\x01+90S'].map(async (sign) => (await textOf({ text: `One ${sign}two three four five.` })).bytes.length),
    )
    expect(faster).toBeGreaterThanOrEqual(plain!)
  })

  test('other languages are told and spoken as such', async () => {
    const german = 'Guten Morgen, wie geht es Ihnen heute? Das Wetter ist wunderschön.'
    const [notice, chinese] = await Promise.all([textOf({ text: german }), textOf({ text: '今天天气很好。' })])
    expect({ notice: notice.status, chinese: chinese.status }).toEqual({ notice: 200, chinese: 200 })
    expect(chinese.bytes.length).toBeGreaterThan(8_000)
  })
})
