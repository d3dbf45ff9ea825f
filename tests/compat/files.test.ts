import { afterAll, describe, expect, test } from 'bun:test'
import { createUpstreamWorld, freshPrompt } from '../completions/upstream-world'
import { soundUpstream, toneWav } from '../media/audio/support'
import type { Format } from '../suites/compat'
import { listen } from '../support/listening'
import { PIXEL } from '../support/pixel'
import { startUpstream } from '../support/upstream'
import { createWorld } from '../support/world'
import { pdfOf, pdfScan } from '../tools/pdf'
import { chat, messages, responses } from './formats'

const { world, upstream } = await createUpstreamWorld()
/** Writes the documents: without a model, a prompt is their text. */
const maker = await createWorld()
const { origin } = listen(maker)
const author = await maker.person()
const ada = await world.person()
const eve = await world.person()
const model = 'svc-1-flash'
const sent = () => JSON.stringify(upstream.calls.at(-1)!.body.messages)

const TEXT = '# Tides\n\nThe moon pulls the heliotrope sea.\n\n| Port | Height |\n|---|---|\n| Brest | 7.2 |'

/** A file of this server's own making. */
async function made(format: string): Promise<Buffer> {
  const { body } = await author.send('POST', 'documents', { prompt: TEXT, format })
  const { pathname, search } = new URL(body.download_url, origin)
  return Buffer.from(await (await fetch(`${origin}${pathname}${search}`)).arrayBuffer())
}

const base64Of = (bytes: Uint8Array | string) => Buffer.from(bytes).toString('base64')
/** A request with one file. */
const send = (format: Format, bytes: Uint8Array | string, name: string, by = ada, prompt = freshPrompt()) =>
  by.send('POST', `/v1${format.path}`, format.send({ prompt, file: { name, base64: base64Of(bytes) } }))
const asDataUrl = (bytes: Uint8Array | string) => `data:application/octet-stream;base64,${base64Of(bytes)}`

describe.each(Object.entries({ chat, responses, messages }))('a file in %s (docs/api.md 33.3)', (api, format) => {
  test('is read as its text, under its name', async () => {
    for (const type of ['pdf', 'docx', 'pptx', 'xlsx', 'csv']) {
      const { status, body } = await send(format, await made(type), `tides.${type}`)
      expect({ type, status, body: status === 200 ? null : body }).toEqual({ type, status: 200, body: null })
      expect({ type, text: sent() }).toEqual({ type, text: expect.stringContaining('Brest') })
      expect(sent()).toContain(`tides.${type}`)
    }
    await send(format, '<p>A <b>plain</b> page</p>', 'page.html')
    expect(sent()).toContain('plain')
    const mail =
      'From: ada@example.com\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n'
    await send(format, `${mail}${base64Of('Heliotrope tides')}`, 'tides.eml')
    expect(sent()).toContain('Heliotrope tides')
    await send(format, String.raw`{\rtf1{\fonttbl Arial;}Heliotrope \b waves\b0}`, 'tides.rtf')
    expect(sent()).toContain('Heliotrope waves')
    expect(sent()).not.toContain('Arial')
  })

  test('that cannot be read is refused with its path', async () => {
    for (const bytes of ['PK\u0003\u0004 broken', '\u0000\u0001\u0002', '%PDF-1.7 broken']) {
      const { status, body } = await send(format, bytes, 'x.bin')
      expect(status).toBe(400)
      const error = api === 'messages' ? body.error.details : body.error
      expect(error.param).toMatch(/^(?:messages|input)\[0\]\.content\[1\]$/)
    }
  })
})

test('a stored file is named by its id, which only its owner knows', async () => {
  const form = new FormData()
  form.set('purpose', 'user_data')
  form.set('file', new File(['Heliotrope tides'], 'tides.txt'))
  const { id } = (await ada.send('POST', 'files', form)).body
  const ask = { type: 'input_text', text: 'What?' }
  const input = [{ role: 'user', content: [{ type: 'input_file', file_id: id }, ask] }]
  expect((await ada.send('POST', 'responses', { model, input })).status).toBe(200)
  expect(sent()).toContain('Heliotrope tides')
  expect((await eve.send('POST', 'responses', { model, input })).status).toBe(404)
})

test('more than ten files are refused, and counting reads them too', async () => {
  const part = { type: 'input_file', file_data: asDataUrl('Heliotrope '.repeat(100)), filename: 'a.txt' }
  const of = (count: number) => ({ model, input: [{ role: 'user', content: Array(count).fill(part) }] })
  expect((await ada.send('POST', 'responses', of(11))).body.error).toMatchObject({ param: 'input[0].content[10]' })
  expect((await ada.send('POST', 'responses/input_tokens', of(2))).body.input_tokens).toBeGreaterThan(300)
})

test('a recording is given as its words, which are charged, with a warning', async () => {
  const sound = soundUpstream(new Uint8Array())
  const { world: hearing, upstream: engine } = await createUpstreamWorld({
    config: { sttBaseUrl: sound.url, sttApiKey: 'sk-stt' },
  })
  const bob = await hearing.person()
  const data = base64Of(toneWav(2))
  const content = [
    { type: 'input_audio', input_audio: { data, format: 'wav' } },
    { type: 'text', text: freshPrompt() },
  ]
  const order = { model, messages: [{ role: 'user', content }] }
  const { status, body } = await bob.send('POST', 'chat/completions', order)
  expect(status).toBe(200)
  expect(JSON.stringify(engine.calls.at(-1)!.body.messages)).toContain('The tide comes in.')
  expect(JSON.stringify(body)).toContain('was transcribed')
  expect(sound.heard).toHaveLength(1)
  const without = await ada.send('POST', 'chat/completions', order)
  expect(without).toMatchObject({ status: 503, body: { error: { code: 'stt_unavailable' } } })
  const broken = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }
  const refused = await bob.send('POST', 'chat/completions', { model, messages: [{ role: 'user', content: [broken] }] })
  expect(refused).toMatchObject({ status: 400, body: { error: { param: 'messages[0].content[0].input_audio' } } })
})

describe('pictures and long texts', () => {
  test('a picture that was uploaded is shown by its id', async () => {
    const form = new FormData()
    form.set('purpose', 'vision')
    form.set('file', new File([Buffer.from(PIXEL, 'base64')], 'dot.png', { type: 'image/png' }))
    const { body: file } = await ada.send('POST', 'files', form)
    const auto = 'svc-1-auto'
    const ask = { type: 'input_text', text: freshPrompt() }
    const input = [{ role: 'user', content: [{ type: 'input_image', file_id: file.id }, ask] }]
    expect((await ada.send('POST', 'responses', { model: auto, input })).status).toBe(200)
    expect(sent()).toContain(PIXEL)
    const picture = { type: 'image', source: { type: 'file', file_id: file.id } }
    const messages = [{ role: 'user', content: [picture, { type: 'text', text: freshPrompt() }] }]
    expect((await ada.send('POST', 'messages', { model: auto, max_tokens: 50, messages })).status).toBe(200)
    expect(sent()).toContain(PIXEL)
    expect((await eve.send('POST', 'responses', { model: auto, input })).status).toBe(404)
  })

  test('a warning says where a text was cut', async () => {
    const { status, body } = await send(chat, 'word '.repeat(50_000), 'long.txt')
    expect(status).toBe(200)
    expect(body.svc_metadata.warnings.join()).toContain('only its first 200,000 characters')
  })
})

describe('an engine that takes files as they are (docs/api.md 33.3)', async () => {
  const engine = await startUpstream()
  afterAll(() => engine.stop())
  const able = { kind: 'compat' as const, baseUrl: engine.url, files: true, audio: true }
  const other = await createWorld({
    config: {
      engines: {
        upstreams: { able, plain: { kind: 'compat', baseUrl: engine.url } },
        models: { 'svc-1-flash': ['able:m'], 'svc-1-reason': ['plain:m'], 'svc-1-vision': ['plain:eyes'] },
      },
    },
  })
  const person = await other.person()
  const lastParts = () => (engine.calls.at(-1)!.body.messages as { content: unknown }[]).at(-1)!.content
  const jpeg = new Uint8Array(await new Bun.Image(Buffer.from(PIXEL, 'base64')).resize(40, 30).jpeg().bytes())
  const ask = (part: object, named = 'svc-1-flash') =>
    person.send('POST', 'chat/completions', {
      model: named,
      messages: [{ role: 'user', content: [part, { type: 'text', text: freshPrompt('Read it') }] }],
    })
  const pdf = (bytes: Uint8Array) => ({ type: 'file', file: { file_data: asDataUrl(bytes), filename: 'tides.pdf' } })
  const asIs = (bytes: Uint8Array) => ({
    type: 'file',
    file: { filename: 'tides.pdf', file_data: `data:application/pdf;base64,${base64Of(bytes)}` },
  })

  test('gets a document itself through every API, others its text', async () => {
    const bytes = pdfOf('The moon pulls the heliotrope sea.')
    expect((await ask(pdf(bytes))).status).toBe(200)
    expect(lastParts()).toEqual([asIs(bytes), { type: 'text', text: expect.stringContaining('Read it') }])
    const text = freshPrompt()
    await send(responses, bytes, 'tides.pdf', person, text)
    expect(lastParts()).toEqual([{ type: 'text', text }, asIs(bytes)])
    await send(messages, bytes, 'tides.pdf', person, text)
    expect(lastParts()).toEqual([{ type: 'text', text: `${text}\ntides.pdf:` }, asIs(bytes)])
    await ask(pdf(bytes), 'svc-1-reason')
    expect(JSON.stringify(lastParts())).toContain('heliotrope')
    expect(JSON.stringify(lastParts())).not.toContain('base64')
  })

  test('hears a recording itself: nothing is transcribed', async () => {
    const data = base64Of(toneWav(2))
    const { status, body } = await ask({ type: 'input_audio', input_audio: { data, format: 'wav' } })
    expect({ status, warnings: body.svc_metadata.warnings }).toEqual({ status: 200, warnings: undefined })
    expect(lastParts()).toContainEqual({ type: 'input_audio', input_audio: { data, format: 'wav' } })
    const listed = async (id: string) => (await person.send('GET', `models/${id}`)).body.input_modalities
    expect(await listed('svc-1-flash')).toEqual(['text', 'file', 'audio'])
    expect(await listed('svc-1-reason')).toEqual(['text'])
  })

  test('a text that a policy changed goes in its place, not the file', async () => {
    const eve = await other.person()
    const rules = [{ guardrail_id: 'pii', phase: 'input', verdict: 'redact', config: {} }]
    expect((await eve.send('POST', 'guardrail-policies', { name: 'Mine', rules, is_default: true })).status).toBe(201)
    await send(chat, pdfOf('Write to jane@example.org about it.'), 'tides.pdf', eve)
    expect(JSON.stringify(engine.calls.at(-1)!.body)).not.toMatch(/base64|jane@/)
  })

  test('a scanned document is taken as it is, or as pictures of ten pages by an engine that sees, or refused', async () => {
    const scan = pdfScan(jpeg, 40, 30, 12)
    await ask(pdf(scan))
    expect(lastParts()).toContainEqual(asIs(scan))
    const { status, body } = await ask(pdf(scan), 'svc-1-vision')
    expect(status).toBe(200)
    expect(body.svc_metadata.warnings.join()).toContain('first 10 pages')
    const shown = (lastParts() as { type: string }[]).filter(({ type }) => type === 'image_url')
    expect(shown).toHaveLength(10)
    expect(JSON.stringify(shown[0])).toContain('data:image/jpeg;base64,')
    const refused = await ask(pdf(scan), 'svc-1-reason')
    expect(refused).toMatchObject({ status: 400, body: { error: { param: 'messages[0].content[0]' } } })
  })

  test('more than 1,000 pages are refused', async () => {
    const message = expect.stringContaining('at most 1000 are read')
    expect(await ask(pdf(pdfScan(jpeg, 40, 30, 1_001)))).toMatchObject({ status: 400, body: { error: { message } } })
  })
})
