import { afterAll, beforeEach, expect, test } from 'bun:test'
import { createBreaker } from '../../src/engines/breaker'
import { fakeClock } from '../support/clock'
import { startUpstream } from '../support/upstream'
import { ask, long, openEngines } from './setup'

const fail = (breaker: ReturnType<typeof createBreaker>, times: number) => {
  for (let time = 0; time < times; time++) breaker.failed()
}

test('five failures within a minute open it for thirty seconds', () => {
  const clock = fakeClock()
  const breaker = createBreaker(clock)
  fail(breaker, 4)
  expect(breaker.admits()).toBe(true)
  breaker.failed()
  expect(breaker.admits()).toBe(false)
  clock.advance(29_999)
  expect(breaker.admits()).toBe(false)
  clock.advance(1)
  expect(breaker.state()).toBe('half-open')
})

test('failures that lie more than a minute apart do not add up', () => {
  const clock = fakeClock()
  const breaker = createBreaker(clock)
  for (let time = 0; time < 20; time++) {
    breaker.failed()
    clock.advance(16_000)
  }
  expect(breaker.state()).toBe('closed')
})

test('a success forgets the failures before it', () => {
  const breaker = createBreaker(fakeClock())
  fail(breaker, 4)
  breaker.succeeded()
  fail(breaker, 4)
  expect(breaker.state()).toBe('closed')
})

test('half open, one call at a time finds out', () => {
  const clock = fakeClock()
  const breaker = createBreaker(clock)
  fail(breaker, 5)
  clock.advance(30_000)
  expect([breaker.admits(), breaker.admits()]).toEqual([true, false])
  breaker.abandoned()
  expect(breaker.admits()).toBe(true)
  breaker.failed()
  expect(breaker.state()).toBe('open')
  clock.advance(30_000)
  expect(breaker.admits()).toBe(true)
  breaker.succeeded()
  expect(breaker.state()).toBe('closed')
})

const upstream = await startUpstream()
afterAll(() => upstream.stop())
beforeEach(() => upstream.reset())
const settings = long({ one: upstream }, { '*': ['one:a'] })

test('an open breaker spares the upstream, shows in the models list, and closes with the first answer', async () => {
  const { engines, clock } = openEngines(settings)
  const flash = () => engines.models().find(({ id }) => id === 'svc-1-flash')!.status
  expect(flash()).toBe('available')

  for (let round = 0; round < 2; round++) await engines.answer('svc-1-flash', ask('[[500]]')).catch(() => null)
  const asked = upstream.calls.length
  expect(asked).toBe(5)
  expect(flash()).toBe('down')
  await expect(engines.answer('svc-1-flash', ask('Hi'))).rejects.toMatchObject({ code: 'engine_unavailable' })
  expect(upstream.calls).toHaveLength(asked)

  clock.advance(30_000)
  await engines.answer('svc-1-flash', ask('Hi'))
  expect(flash()).toBe('available')
})

test.each(['[[401]]', '[[429:30]]'])('%s says nothing about health', async (script) => {
  const { engines } = openEngines(settings)
  for (let round = 0; round < 8; round++) await engines.answer('svc-1-flash', ask(script)).catch(() => null)
  expect(upstream.calls).toHaveLength(8)
})

test('streams that keep breaking off open it too', async () => {
  const { engines } = openEngines(settings)
  for (let round = 0; round < 5; round++) {
    const running = await engines.run('svc-1-flash', ask('[[truncate]] [[tokens:9]]'))
    await expect(Array.fromAsync(running.parts)).rejects.toMatchObject({ code: 'engine_unavailable' })
  }
  await expect(engines.run('svc-1-flash', ask('Hi'))).rejects.toMatchObject({ code: 'engine_unavailable' })
  expect(upstream.calls).toHaveLength(5)
})

test('a reader who leaves a half-open stream leaves it free for the next', async () => {
  const { engines, clock } = openEngines(settings)
  for (let round = 0; round < 2; round++) await engines.answer('svc-1-flash', ask('[[500]]')).catch(() => null)
  clock.advance(30_000)
  const running = await engines.run('svc-1-flash', ask('[[slow:5]] [[tokens:50]]'))
  for await (const _part of running.parts) break
  expect((await engines.answer('svc-1-flash', ask('Hi'))).text).toContain('Hello')
})
