import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import type {
  Driver,
  EngineAnswer,
  EnginePart,
  EngineRequest,
  FailureKind,
  ImageRequest,
} from '../../src/engines/engine'
import { Collector } from '../../src/engines/meter'
import { PIXEL } from '../files/support'
import { eventually } from '../support/eventually'
import { pulled } from '../support/pulled'
import { UPSTREAM_SECRET, type Upstream } from '../support/upstream'
import type { startPictureServer } from '../support/upstream/pictures'

export const request = (prompt: string, more: Partial<EngineRequest> = {}): EngineRequest => ({
  model: 'scripted-model',
  mode: 'fast',
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: prompt },
  ],
  maxOutputTokens: 1_000,
  signal: new AbortController().signal,
  ...more,
})

/** The whole answer of one exchange. */
export async function plain(driver: Driver, input: EngineRequest): Promise<EngineAnswer> {
  const collected = new Collector()
  await driver.ask(input, collected)
  return collected.answer
}

/** The parts of a stream; a reader that stops makes the sink throw. */
export const streamed = (driver: Driver, input: EngineRequest): AsyncGenerator<EnginePart> =>
  pulled((take) => driver.ask(input, { streams: true, take }))

export async function collect(parts: AsyncGenerator<EnginePart>): Promise<EnginePart[]> {
  const all: EnginePart[] = []
  for await (const part of parts) all.push(part)
  return all
}

export const textOf = (parts: readonly EnginePart[]): string =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

/** What every driver owes, whatever stands behind it. */
export function engineSuite(name: string, driver: Driver, prompt: string): void {
  describe(`${name}: any driver`, () => {
    test('a stream is text, then exactly one finish, last', async () => {
      const parts = await collect(streamed(driver, request(prompt)))
      expect(textOf(parts).length).toBeGreaterThan(0)
      expect(parts.filter((part) => part.type === 'finish')).toHaveLength(1)
      expect(parts.at(-1)).toEqual({ type: 'finish', reason: 'stop' })
    })

    test('the plain answer says what the stream says', async () => {
      const whole = await plain(driver, request(prompt))
      const parts = await collect(streamed(driver, request(prompt)))
      expect(whole.text).toBe(textOf(parts))
      expect(whole.finish).toBe('stop')
    })

    test('a caller who left before the start gets their own reason back', async () => {
      const left = new Error('left')
      const signal = AbortSignal.abort(left)
      await expect(collect(streamed(driver, request(prompt, { signal })))).rejects.toBe(left)
      await expect(plain(driver, request(prompt, { signal }))).rejects.toBe(left)
    })

    test('it can be probed', async () => {
      await driver.probe(new AbortController().signal)
    })
  })
}

type Behaviour = { script: string; plain: FailureKind | null; streamed: FailureKind | null }

const FAULTS: Behaviour[] = [
  { script: '[[400]]', plain: 'rejected', streamed: 'rejected' },
  { script: '[[413]]', plain: 'rejected', streamed: 'rejected' },
  { script: '[[422]]', plain: 'rejected', streamed: 'rejected' },
  { script: '[[404]]', plain: 'config', streamed: 'config' },
  { script: '[[401]]', plain: 'config', streamed: 'config' },
  { script: '[[403]]', plain: 'config', streamed: 'config' },
  { script: '[[302]]', plain: 'config', streamed: 'config' },
  { script: '[[429:7]]', plain: 'throttled', streamed: 'throttled' },
  { script: '[[500]]', plain: 'server', streamed: 'server' },
  { script: '[[502]]', plain: 'server', streamed: 'server' },
  { script: '[[503]]', plain: 'server', streamed: 'server' },
  { script: '[[529]]', plain: 'server', streamed: 'server' },
  { script: '[[hang]]', plain: 'timeout', streamed: 'timeout' },
  { script: '[[stall]]', plain: 'timeout', streamed: 'timeout' },
  { script: '[[drop]]', plain: 'refused', streamed: 'refused' },
  { script: '[[cut]] [[tokens:20]]', plain: 'truncated', streamed: 'truncated' },
  { script: '[[truncate]] [[tokens:20]]', plain: 'malformed', streamed: 'truncated' },
  { script: '[[malformed]]', plain: 'malformed', streamed: 'malformed' },
  { script: '[[html]]', plain: 'malformed', streamed: 'malformed' },
  { script: '[[empty]]', plain: 'malformed', streamed: 'malformed' },
  { script: '[[wrong-type]]', plain: 'malformed', streamed: 'malformed' },
  { script: '[[error-event]]', plain: 'server', streamed: 'server' },
  { script: '[[huge-event]]', plain: null, streamed: 'too-large' },
  { script: '[[flood]]', plain: 'too-large', streamed: 'too-large' },
]

export type UpstreamSuiteOptions = {
  driver: Driver
  /** The same with a short patience, for upstreams that say nothing; a busy machine must not look like one. */
  impatient: Driver
  upstream: Upstream
  /** Kinds this driver cannot tell apart, and what it says instead. */
  instead?: Partial<Record<string, FailureKind[]>>
}

/** What a driver with a server behind it owes when that server misbehaves (docs/design.md 5). */
export function upstreamSuite(name: string, { driver, impatient, upstream, instead = {} }: UpstreamSuiteOptions): void {
  describe(`${name}: over an upstream`, () => {
    beforeEach(() => upstream.reset())
    afterAll(() => upstream.stop())

    const driverFor = (kind: FailureKind | null) => (kind === 'timeout' ? impatient : driver)

    const kindsOf = (script: string, kind: FailureKind) => instead[script.split(']]')[0]!.slice(2)] ?? [kind]

    const expectFailure = async (attempt: Promise<unknown>, kinds: FailureKind[]) => {
      const failure = await attempt.then(
        () => ({ kind: 'none', message: '' }),
        (error: { kind: string; message: string }) => error,
      )
      expect(kinds as string[]).toContain(failure.kind)
      expect(failure.message).not.toContain(UPSTREAM_SECRET)
    }

    test.each(FAULTS.filter((fault) => fault.plain !== null))(
      'plain $script fails as $plain',
      async ({ script, plain: kind }) => {
        await expectFailure(plain(driverFor(kind), request(script)), kindsOf(script, kind!))
      },
    )

    test.each(FAULTS)('streamed $script fails as $streamed', async ({ script, streamed: kind }) => {
      await expectFailure(collect(streamed(driverFor(kind), request(script))), kindsOf(script, kind!))
    })

    test('one call is one call: nothing is retried here', async () => {
      await plain(driver, request('[[500]]')).catch(() => null)
      expect(upstream.calls).toHaveLength(1)
    })

    test('the wait an upstream asks for is carried along', async () => {
      const failure = await plain(driver, request('[[429:7]]')).catch((error) => error)
      expect(failure).toMatchObject({ kind: 'throttled', retryAfterS: 7, retryable: false })
    })

    test.each(['length', 'content_filter'] as const)('a finish of %s is passed on', async (finish) => {
      const answer = await plain(driver, request(`[[finish:${finish}]] x`))
      const parts = await collect(streamed(driver, request(`[[finish:${finish}]] x`)))
      const expected = finish === 'length' ? 'length' : 'content-filter'
      expect(answer.finish).toBe(expected)
      expect(parts.at(-1)).toEqual({ type: 'finish', reason: expected })
    })

    test('a tool call arrives whole, plain and streamed', async () => {
      const tools = [{ name: 'look', description: 'Looks', parameters: { type: 'object', properties: {} } }]
      const whole = await plain(driver, request('[[tool:look]]', { tools }))
      const parts = await collect(streamed(driver, request('[[tool:look]]', { tools })))
      expect(whole.toolCalls).toMatchObject([{ name: 'look' }])
      expect(JSON.parse(whole.toolCalls[0]!.arguments)).toEqual({ q: 'x' })
      expect(parts.filter((part) => part.type === 'tool-call')).toMatchObject([{ name: 'look' }])
      expect(parts.at(-1)).toEqual({ type: 'finish', reason: 'tool-calls' })
    })

    test('a caller who leaves ends the upstream call', async () => {
      for (const run of [
        (signal: AbortSignal) => plain(driver, request('[[hang]]', { signal })),
        (signal: AbortSignal) => collect(streamed(driver, request('[[slow:40]] [[tokens:500]]', { signal }))),
      ]) {
        upstream.reset()
        const leaving = new AbortController()
        const attempt = run(leaving.signal).catch((error) => error)
        await eventually(() => upstream.calls.length === 1)
        leaving.abort(new Error('left'))
        expect(await attempt).toMatchObject({ message: 'left' })
        await eventually(() => upstream.aborted() === 1)
      }
    })

    test('a reader who stops reading ends the upstream call', async () => {
      for await (const part of streamed(driver, request('[[never]]'))) {
        if (part.type === 'text') break
      }
      await eventually(() => upstream.aborted() === 1)
    })

    test('a picture reaches the upstream with its bytes', async () => {
      const content = [
        { type: 'text' as const, text: 'What is it?' },
        { type: 'image' as const, mimeType: 'image/png', base64: 'iVBORw0KGgo=' },
      ]
      await plain(driver, request('', { messages: [{ role: 'user', content }] }))
      expect(JSON.stringify(upstream.calls[0]!.body)).toContain('iVBORw0KGgo=')
    })
  })
}

export type ImageSuiteOptions = {
  driver: Driver
  server: ReturnType<typeof startPictureServer>
  /** A model that changes the picture it is sent, and one that only reads descriptions, where there are such. */
  models: { edits?: string; describes?: string }
}

/** What a driver of pictures owes. */
export function imageSuite(name: string, { driver, server, models }: ImageSuiteOptions): void {
  const request = (more: Partial<ImageRequest> = {}): ImageRequest => ({
    model: models.edits ?? models.describes!,
    prompt: 'a pixel',
    changes: [],
    style: null,
    aspectRatio: null,
    quality: 'standard',
    variant: 0,
    signal: new AbortController().signal,
    ...more,
  })
  const base = { bytes: new Uint8Array(PIXEL), mimeType: 'image/png' }
  const changed = { changes: ['make it red', 'now larger'], base, style: 'flat' }

  describe(`${name}: pictures`, () => {
    beforeEach(() => void server.calls.splice(0))
    afterAll(() => server.stop())

    test('are the bytes that the upstream made of the description', async () => {
      const { bytes } = await driver.image!(request({ style: 'flat', aspectRatio: '16:9' }))
      expect(Buffer.from(bytes).equals(PIXEL)).toBe(true)
      expect(server.calls).toMatchObject([{ prompt: 'a pixel. Style: flat. Aspect ratio: 16:9.', sent: [] }])
    })

    if (models.edits)
      test('are changed where the model can: it gets the picture and the last change', async () => {
        expect((await driver.image!(request({ ...changed, model: models.edits! }))).bytes.length).toBe(PIXEL.length)
        expect(server.calls).toMatchObject([{ prompt: 'now larger. Style: flat.', sent: [PIXEL.length] }])
      })

    if (models.describes)
      test('are described again to a model that cannot change them', async () => {
        await driver.image!(request({ ...changed, model: models.describes! }))
        const prompt = 'a pixel. Change: make it red. Change: now larger. Style: flat.'
        expect(server.calls).toMatchObject([{ prompt, sent: [] }])
      })

    test.each([
      ['[[400]]', 'rejected'],
      ['[[401]]', 'config'],
      ['[[404]]', 'config'],
      ['[[429]]', 'throttled'],
      ['[[500]]', 'server'],
      ['[[text]]', 'malformed'],
    ] as const)('%s fails as %s', async (script, kind) => {
      const failure = await driver.image!(request({ prompt: script })).then(
        () => null,
        (error: { kind: string }) => error,
      )
      expect(failure?.kind).toBe(kind)
    })

    test('a caller who left before the start gets their own reason back', async () => {
      const left = new Error('left')
      await expect(driver.image!(request({ signal: AbortSignal.abort(left) }))).rejects.toBe(left)
      expect(server.calls).toEqual([])
    })
  })
}
