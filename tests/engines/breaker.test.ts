import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { eventually } from '../support/eventually'
import { startUpstream } from '../support/upstream'
import { ask, begin, long, openEngines } from './setup'

const upstream = await startUpstream()
afterAll(() => upstream.stop())
beforeEach(() => upstream.reset())
const settings = long({ one: upstream }, { '*': ['one:a'] })

const by = (owner: string) => ({ origin: { owner: `user:${owner}`, requestId: 'req_1' } })

type Engines = ReturnType<typeof openEngines>['engines']

/** Five calls that fail, seen by two owners: two requests with their retries. */
const failForTwo = async (engines: Engines) => {
  for (const owner of ['ada', 'bob']) await engines.answer('svc-1-flash', ask('[[500]]', by(owner))).catch(() => null)
}

test('an open breaker spares the upstream, shows in the models list, and closes with the first answer', async () => {
  const { engines, clock, lines } = openEngines(settings)
  const flash = () => engines.models().find(({ id }) => id === 'svc-1-flash')!.status
  expect(flash()).toBe('available')

  await failForTwo(engines)
  const requested = upstream.calls.length
  expect(requested).toBe(5)
  expect(flash()).toBe('down')
  clock.advance(17_000)
  const refused = await engines.answer('svc-1-flash', ask('Hi', by('eve'))).catch((error) => error)
  expect(refused).toMatchObject({ code: 'engine_unavailable', retryAfterS: 13 })
  expect(upstream.calls).toHaveLength(requested)

  clock.advance(13_000)
  await engines.answer('svc-1-flash', ask('Hi', by('eve')))
  expect(flash()).toBe('available')
  const notices = lines.map((line) => JSON.parse(line)).filter(({ breaker }) => breaker)
  expect(notices.map(({ breaker, target, owners }) => [breaker, target, owners])).toEqual([
    ['open', 'one:a', 'all'],
    ['half-open', 'one:a', 'all'],
    ['closed', 'one:a', 'all'],
  ])
})

test('what one owner provokes keeps that owner out and nobody else', async () => {
  const { engines, lines } = openEngines(settings)
  for (let round = 0; round < 6; round++)
    await engines.answer('svc-1-flash', ask('[[html]]', by('ada'))).catch(() => null)
  expect(upstream.calls).toHaveLength(5)
  const refused = await engines.answer('svc-1-flash', ask('Hi', by('ada'))).catch((error) => error)
  expect(refused).toMatchObject({ code: 'engine_unavailable', retryAfterS: 30 })
  expect((await engines.answer('svc-1-flash', ask('Hi', by('bob')))).text).toContain('Hello')
  expect(lines.join('')).toContain('"owners":"user:ada"')
})

test('an unreachable upstream is detected by the failures of one owner', async () => {
  const gone = await startUpstream()
  const { engines, lines } = openEngines(long({ one: gone }, { '*': ['one:a'] }))
  await gone.stop()
  for (let round = 0; round < 2; round++) await engines.answer('svc-1-flash', ask('Hi', by('ada'))).catch(() => null)
  await eventually(() => lines.join('').includes('so did a probe'))
  expect(engines.models().find(({ id }) => id === 'svc-1-flash')!.status).toBe('down')
})

test.each(['[[401]]', '[[429:30]]'])('%s says nothing about health', async (script) => {
  const { engines } = openEngines(settings)
  for (let round = 0; round < 8; round++) await engines.answer('svc-1-flash', ask(script, by('ada'))).catch(() => null)
  expect(upstream.calls).toHaveLength(8)
})

test('streams that keep breaking off open it too', async () => {
  const { engines } = openEngines(settings)
  for (let round = 0; round < 5; round++) {
    const running = await begin(engines, 'svc-1-flash', ask('[[truncate]] [[tokens:9]]', by('ada')))
    await expect(Array.fromAsync(running.parts)).rejects.toMatchObject({ code: 'engine_unavailable' })
  }
  await expect(begin(engines, 'svc-1-flash', ask('Hi', by('ada')))).rejects.toMatchObject({
    code: 'engine_unavailable',
  })
  expect(upstream.calls).toHaveLength(5)
})

test('a reader who leaves a half-open stream leaves it free for the next', async () => {
  const { engines, clock } = openEngines(settings)
  await failForTwo(engines)
  clock.advance(30_000)
  const running = await begin(engines, 'svc-1-flash', ask('[[slow:5]] [[tokens:50]]', by('eve')))
  for await (const _part of running.parts) break
  expect((await engines.answer('svc-1-flash', ask('Hi', by('ada')))).text).toContain('Hello')
})

test.each(['[[hang]]', '[[stall]] [[say:word]]'])(
  'readers who leave %s say nothing about health (docs/api.md 33.6.20)',
  async (script) => {
    const { engines } = openEngines(settings)
    for (const owner of ['ada', 'ada', 'ada', 'ada', 'ada', 'bob', 'bob']) {
      const leaving = new AbortController()
      const requested = upstream.calls.length
      const running = begin(engines, 'svc-1-flash', ask(script, { signal: leaving.signal, ...by(owner) }))
      const read = running.then(({ parts }) => Array.fromAsync(parts)).catch((error) => error.name)
      await eventually(() => upstream.calls.length > requested)
      leaving.abort()
      expect(await read).toBe('AbortError')
    }
    for (const owner of ['ada', 'bob'])
      expect((await engines.answer('svc-1-flash', ask('Hi', by(owner)))).text).toContain('Hello')
  },
)

describe('a request that runs out of time', () => {
  /** Five requests that are given up after `ms` of waiting for the engine. */
  async function giveUp(ms: number) {
    const { engines, clock } = openEngines(settings)
    const late = new AbortController()
    const input = ask('[[hang]]', { signal: late.signal, ...by('ada') })
    const waiting = Array.from({ length: 5 }, () =>
      engines.answer('svc-1-flash', input).catch((error) => error.message),
    )
    await eventually(() => upstream.calls.length === 5)
    clock.advance(ms)
    late.abort(new DOMException('late', 'TimeoutError'))
    expect(await Promise.all(waiting)).toEqual(Array.from({ length: 5 }, () => 'late'))
    return engines
  }

  test('counts as a failure of the engine that it waited for', async () => {
    const engines = await giveUp(60_000)
    await expect(engines.answer('svc-1-flash', ask('Hi', by('ada')))).rejects.toMatchObject({ retryAfterS: 30 })
    expect((await engines.answer('svc-1-flash', ask('Hi', by('bob')))).text).toContain('Hello')
  })

  test('does not where it had no time left for the engine', async () => {
    expect((await (await giveUp(59_999)).answer('svc-1-flash', ask('Hi', by('ada')))).text).toContain('Hello')
  })
})
