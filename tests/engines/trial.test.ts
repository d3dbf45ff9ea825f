import { expect, test } from 'bun:test'
import { type Driver, EngineFailure } from '../../src/engines/engine'
import { tryTarget } from '../../src/engines/trial'
import { fakeClock } from '../support/clock'

type Target = Parameters<typeof tryTarget>[0]

/** A target whose every answer is this text, or fails like this. */
const saying = (answer: string | Error): Target => {
  const ask: Driver['ask'] = async (_, sink) => {
    if (answer instanceof Error) throw answer
    await sink.take({ type: 'text', text: answer })
  }
  return { model: 'small', makes: 'text', can: {}, driver: { ask, probe: async () => undefined } } as unknown as Target
}

test.each([
  [
    'prose',
    'Of course! Here it is.',
    'the answer is not JSON: Of course! Here it is.; if it cannot answer in JSON, say so: engines add or update with --json-output no',
  ],
  ['nothing', ' ', 'an empty answer'],
  ['a refusal', new EngineFailure('refused', 'The model is gone.'), 'refused: The model is gone.'],
  ['a fault', new Error('socket hang up'), 'socket hang up'],
  ['silence', new DOMException('too late', 'TimeoutError'), 'no complete answer within 30 s'],
])('an engine that answers with %s where JSON was asked for is told why that failed', async (_, answer, detail) => {
  const json = (await tryTarget(saying(answer), fakeClock())).find(({ check }) => check === 'json')
  expect(json).toMatchObject({ ok: false, detail })
})

test('an engine that can do all three passes', async () => {
  expect((await tryTarget(saying('{"ok": true}'), fakeClock())).map(({ check, ok }) => [check, ok])).toEqual([
    ['answer', true],
    ['stream', true],
    ['json', true],
  ])
})

const making = (makes: string, driver: object): Target =>
  ({ model: 'small', makes, can: {}, driver: { probe: async () => [{ id: 'small' }], ...driver } }) as unknown as Target

test('what makes no text has one check of its own, and no video is ordered', async () => {
  const requests: string[] = []
  const driver = {
    async speak({ text }: { text: string }) {
      requests.push(text)
      return new Uint8Array(9)
    },
    async transcribe({ path }: { path: string }) {
      requests.push(`${Bun.file(path).size} bytes`)
      return { text: '', language: null, segments: [] }
    },
    video: { order: () => requests.push('a video') },
  }
  for (const [makes, detail] of [
    ['speech', 'audio/mpeg, 9 bytes'],
    ['transcription', 'transcribed half a second of silence as no text'],
    ['video', 'it answers; no video was requested, because that costs money'],
  ] as const) {
    const checks = await tryTarget(making(makes, driver), fakeClock())
    expect(checks).toEqual([{ check: makes, ok: true, latencyMs: 0, detail }])
  }
  expect(requests).toEqual(['Hi.', '16044 bytes'])
})

test.each(['speech', 'transcription', 'video', 'image'])('an upstream without %s is told so', async (makes) => {
  const [check] = await tryTarget(making(makes, {}), fakeClock())
  expect(check).toMatchObject({ check: makes, ok: false, detail: expect.stringContaining('config: ') })
})
