import { expect, test } from 'bun:test'
import { EngineFailure } from '../../src/engines/engine'
import { tryTarget } from '../../src/engines/trial'
import { fakeClock } from '../support/clock'

type Target = Parameters<typeof tryTarget>[0]

/** A target whose every answer is this text, or fails like this. */
const saying = (answer: string | Error): Target => {
  const complete = async () => {
    if (answer instanceof Error) throw answer
    return { text: answer }
  }
  async function* stream() {
    yield { type: 'text-delta' as const, text: (await complete()).text }
  }
  return { model: 'small', can: {}, driver: { complete, stream, probe: async () => undefined } } as unknown as Target
}

test.each([
  ['prose', 'Of course! Here it is.', 'the answer is not JSON: Of course! Here it is.'],
  ['nothing', ' ', 'an empty answer'],
  ['a refusal', new EngineFailure('refused', 'The model is gone.'), 'refused: The model is gone.'],
  ['a fault', new Error('socket hang up'), 'socket hang up'],
  ['silence', new DOMException('too late', 'TimeoutError'), 'no whole answer within 30 s'],
])('an engine that answers with %s where JSON was asked for is told why that failed', async (_, answer, detail) => {
  const json = (await tryTarget(saying(answer), fakeClock())).find(({ check }) => check === 'json')
  expect(json).toMatchObject({ ok: false, detail })
})

test('an engine that can do all three passes', async () => {
  const checks = await tryTarget(saying('{"ok": true}'), fakeClock())
  expect(checks.map(({ check, ok }) => [check, ok])).toEqual([
    ['answer', true],
    ['stream', true],
    ['json', true],
  ])
})
