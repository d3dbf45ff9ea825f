import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { eventually } from '../support/eventually'
import { startUpstream, UPSTREAM_SECRET } from '../support/upstream'
import { ask, begin, long, NO_ENGINES, openEngines, waitingClock } from './setup'

const first = await startUpstream({ text: 'first' })
const second = await startUpstream({ text: 'second' })
const down = 'http://127.0.0.1:9/v1'
afterAll(async () => void (await Promise.all([first.stop(), second.stop()])))
beforeEach(() => {
  first.reset()
  second.reset()
})

const both = long({ one: first, two: second }, { 'svc-1-reason': ['one:a'], 'svc-1-flash': ['two:b'] })
const lonely = long({ one: first }, { '*': ['one:a'] })

async function streamed(engines: ReturnType<typeof openEngines>['engines'], prompt: string, engineId = 'svc-1-reason') {
  const running = await begin(engines, engineId, ask(prompt))
  let text = ''
  for await (const part of running.parts) if (part.type === 'text') text += part.text
  return { ...running.source!, text }
}

/** The same promise holds for a plain answer and for a stream: asked both ways. */
const ways = [
  [
    'plain',
    (engines: ReturnType<typeof openEngines>['engines'], prompt: string) => engines.answer('svc-1-reason', ask(prompt)),
  ],
  ['streamed', streamed],
] as const

describe.each(ways)('%s', (_way, call) => {
  test('the primary answers, under the service id alone', async () => {
    expect(await call(openEngines(both).engines, 'Hi')).toMatchObject({
      text: 'first',
      engineId: 'svc-1-reason',
      fallbackUsed: false,
      free: false,
    })
    expect(second.calls).toHaveLength(0)
  })

  test('one that fails by itself is asked three times, with growing pauses, then the fallback engine', async () => {
    const { engines, clock } = openEngines(both)
    second.reset()
    const answer = await call(engines, '[[500]]').catch((error) => error)
    expect(answer).toMatchObject({ kind: 'unavailable', code: 'engine_unavailable' })
    expect(first.calls).toHaveLength(3)
    expect(second.calls).toHaveLength(1)
    expect(clock.slept).toEqual([625, 1125])
  })

  test('two failures and then an answer is an answer', async () => {
    expect(await call(openEngines(both).engines, '[[fail:2]] Hi')).toMatchObject({ text: 'first', fallbackUsed: false })
    expect(first.calls).toHaveLength(3)
  })

  test('nobody at the address: the fallback engine answers', async () => {
    const { engines } = openEngines(
      long({ one: down, two: second }, { 'svc-1-reason': ['one:a'], 'svc-1-flash': ['two:b'] }),
    )
    expect(await call(engines, 'Hi')).toMatchObject({ text: 'second', engineId: 'svc-1-flash', fallbackUsed: true })
  })

  test('targets of the engine itself come before its fallback, and are no fallback', async () => {
    const { engines } = openEngines(long({ one: down, two: second }, { 'svc-1-reason': ['one:a', 'two:b'] }))
    expect(await call(engines, 'Hi')).toMatchObject({ text: 'second', engineId: 'svc-1-reason', fallbackUsed: false })
  })

  test('a target that both engines share is asked once', async () => {
    await call(openEngines(lonely).engines, '[[html]]').catch(() => null)
    expect(first.calls).toHaveLength(1)
  })

  const quiet = ['[[hang]]', '[[html]]', '[[empty]]', '[[malformed]]', '[[wrong-type]]', '[[error-event]]'] as const
  test.each(quiet)('%s ends as 503 with Retry-After and the sentence of docs/operating.md 6.3', async (script) => {
    const impatient = long({ one: first }, { '*': ['one:a'] }, { silenceMs: 800 })
    const { engines } = openEngines(impatient, { clock: waitingClock() })
    const error = await call(engines, script).catch((failure) => failure)
    expect(error).toMatchObject({ kind: 'unavailable', code: 'engine_unavailable', retryAfterS: 5 })
    expect(error.message).toStartWith('The engine for mode "think" did not answer. Nothing was charged.')
  })

  test.each(['[[401]]', '[[403]]', '[[404]]', '[[302]]'])(
    '%s is the operator’s fault: the fallback engine is asked, then 503; logged',
    async (script) => {
      const { engines, lines } = openEngines(both)
      const error = await call(engines, script).catch((failure) => failure)
      expect(error).toMatchObject({ kind: 'unavailable', code: 'engine_unavailable', retryAfterS: 60 })
      expect({ first: first.calls.length, second: second.calls.length }).toEqual({ first: 1, second: 1 })
      const [line] = lines.map((text) => JSON.parse(text))
      expect(line).toMatchObject({ level: 50, target: 'one:a', failure: 'config', request_id: 'req_1' })
      expect(line.msg).toContain(`the upstream answered ${script.slice(2, 5)} (scripted): it `)
    },
  )

  test.each(['[[400]]', '[[413]]', '[[422]]'])(
    '%s is about the request: 400, and no other engine is asked',
    async (script) => {
      const { engines, lines } = openEngines(both)
      const error = await call(engines, script).catch((failure) => failure)
      expect(error).toMatchObject({ kind: 'invalid', code: 'validation_error' })
      expect(error.message).not.toContain('acme')
      expect({ first: first.calls.length, second: second.calls.length }).toEqual({ first: 1, second: 0 })
      const [line] = lines.map((text) => JSON.parse(text))
      expect(line).toMatchObject({ level: 40, target: 'one:a', failure: 'rejected', request_id: 'req_1' })
      expect(line.upstream_said).toContain('acme-vendor internal failure at 10.1.2.3')
      expect(line.upstream_said).not.toContain('sk-upstream-secret')
    },
  )

  test.each(['[[500]]', '[[401]]', '[[429:9]]', '[[html]]'])(
    '%s: no word of the upstream reaches a tenant or the log',
    async (script) => {
      const { engines, lines } = openEngines(lonely)
      expect((await call(engines, script).catch((failure) => failure)).message).not.toContain('acme')
      expect(lines.join('')).not.toContain(UPSTREAM_SECRET)
      expect(lines.join('')).not.toContain('sk-test')
    },
  )

  test.each([
    ['[[429:3]]', [3_000], 2, 3],
    ['[[429:7]]', [], 1, 7],
    ['[[429:100000]]', [], 1, 60],
    ['[[429]]', [], 1, 5],
    ['[[429:-1]]', [], 1, 5],
    ['[[429:soon]]', [], 1, 5],
    ['[[429:Thu, 01 Jan 2026 00:00:04 GMT]]', [4_000], 2, 0],
    ['[[429:Thu, 01 Jan 2026 01:00:00 GMT]]', [], 1, 60],
  ])(
    '%s is waited for as %p, asked %p times, and never shown as the caller’s own 429',
    async (script, slept, calls, retryAfterS) => {
      const { engines, clock } = openEngines(lonely)
      const error = await call(engines, script).catch((failure) => failure)
      expect(error).toMatchObject({ code: 'engine_unavailable', retryAfterS })
      expect(clock.slept).toEqual(slept)
      expect(first.calls).toHaveLength(calls)
    },
  )

  test('a throttled primary hands over to the fallback engine', async () => {
    const answer = await call(openEngines(both).engines, '[[429:30]]').catch((error) => error)
    expect(answer).toMatchObject({ code: 'engine_unavailable', retryAfterS: 30 })
    expect(second.calls).toHaveLength(1)
  })

  test('the caller who leaves gets their own reason, and no further target is asked', async () => {
    const { engines } = openEngines(both)
    const leaving = new AbortController()
    const attempt = engines.answer('svc-1-reason', ask('[[hang]]', { signal: leaving.signal })).catch((error) => error)
    await eventually(() => first.calls.length === 1)
    leaving.abort(new Error('left'))
    expect(await attempt).toMatchObject({ message: 'left' })
    expect(second.calls).toHaveLength(0)
  })
})

test('the caller is told of a fallback once', async () => {
  const { engines } = openEngines(
    long({ one: down, two: second }, { 'svc-1-reason': ['one:a'], 'svc-1-flash': ['two:b'] }),
  )
  const notices: string[] = []
  await engines.answer('svc-1-reason', ask('Hi'), { onFallback: (from, to) => void notices.push(`${from} → ${to}`) })
  expect(notices).toEqual(['svc-1-reason → svc-1-flash'])
})

describe('the built-in engine', () => {
  test('answers every text engine that has no upstream, free of charge', async () => {
    const { engines } = openEngines(NO_ENGINES)
    expect(await engines.answer('svc-1-flash', ask('2+2'))).toMatchObject({
      text: '2+2 = 4',
      free: true,
      engineId: 'svc-1-flash',
    })
    expect(await streamed(engines, '2+2')).toMatchObject({ text: '2+2 = 4', free: true })
  })

  test('never stands in for an upstream that fails', async () => {
    const { engines } = openEngines(long({ one: down }, { 'svc-1-reason': ['one:a'] }))
    await expect(engines.answer('svc-1-reason', ask('2+2'))).rejects.toMatchObject({ code: 'engine_unavailable' })
  })

  test('can be left out', async () => {
    const { engines } = openEngines({ ...NO_ENGINES, engineBuiltin: false })
    await expect(engines.answer('svc-1-flash', ask('2+2', { mode: 'fast' }))).rejects.toThrow(
      'No engine for mode "fast" is connected',
    )
  })
})

test.each(['svc-1-create', 'svc-1-motion'])('%s has no engine yet: 503 with a wait', async (engineId) => {
  const { engines } = openEngines(lonely)
  const error = await begin(engines, engineId, ask('a cat', { mode: 'image' })).catch((failure) => failure)
  expect(error).toMatchObject({ kind: 'unavailable', code: 'engine_unavailable', retryAfterS: 60 })
})
