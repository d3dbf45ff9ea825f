import { afterAll, afterEach, expect, test } from 'bun:test'
import { eventually } from '../support/eventually'
import { startUpstream } from '../support/upstream'
import { ask, begin, NO_ENGINES, openEngines } from './setup'

const upstream = await startUpstream()
const spare = await startUpstream()
afterAll(() => Promise.all([upstream.stop(), spare.stop()]))
afterEach(() => {
  upstream.release()
  upstream.reset()
  spare.reset()
})

function open(concurrency: number, models = ['it:a']) {
  const upstreams = {
    it: { kind: 'compat' as const, baseUrl: upstream.url, concurrency },
    spare: { kind: 'compat' as const, baseUrl: spare.url },
  }
  return openEngines({ ...NO_ENGINES, engines: { upstreams, models: { '*': models } } })
}
const of = (owner: string, prompt: string) => ask(prompt, { origin: { owner, requestId: 'req_1' } })
const prompts = () => upstream.calls.map(({ prompt }) => prompt.replace('[[held]] ', ''))

test('calls beyond the concurrency of an upstream wait, in order of arrival, fair between owners', async () => {
  const { engines } = open(1)
  const calls = [
    ['eve', '1'],
    ['eve', '2'],
    ['eve', '3'],
    ['bob', '4'],
  ].map(([owner, prompt]) => engines.answer('svc-1-flash', of(owner!, `[[held]] ${prompt}`)))
  for (const requests of [['1'], ['1', '4'], ['1', '4', '2'], ['1', '4', '2', '3']]) {
    await eventually(() => upstream.calls.length === requests.length)
    expect(prompts()).toEqual(requests)
    upstream.release()
  }
  expect(await Promise.all(calls)).toHaveLength(4)
})

test('0 is no bound', async () => {
  const { engines } = open(0)
  const calls = Array.from({ length: 20 }, (_, at) => engines.answer('svc-1-flash', of('eve', `[[held]] ${at}`)))
  await eventually(() => upstream.calls.length === 20)
  upstream.release()
  expect(await Promise.all(calls)).toHaveLength(20)
})

test('a stream has its slot until it ends or its reader leaves', async () => {
  const { engines } = open(1)
  const { parts } = await begin(engines, 'svc-1-flash', of('eve', '[[never]]'))
  const second = begin(engines, 'svc-1-flash', of('eve', 'second'))
  await parts.next()
  expect(upstream.asked('second')).toBe(false)
  await parts.return(undefined)
  const running = await second
  const third = engines.answer('svc-1-flash', of('eve', 'third'))
  for await (const _ of running.parts) expect(upstream.asked('third')).toBe(false)
  expect((await third).text).toContain('Hello')
})

test('without a slot for 30 s the next target is asked, and with none left it is 503', async () => {
  const [alone, backed] = [open(1), open(1, ['it:a', 'spare:b'])]
  for (const { engines } of [alone, backed]) void engines.answer('svc-1-flash', of('eve', '[[held]] first'))
  await eventually(() => upstream.calls.length === 2)
  const refused = alone.engines.answer('svc-1-flash', of('bob', 'second'))
  const served = backed.engines.answer('svc-1-flash', of('bob', 'second'))
  await Promise.resolve()
  alone.clock.advance(30_000)
  backed.clock.advance(30_000)
  await expect(refused).rejects.toMatchObject({ code: 'engine_unavailable' })
  expect((await served).text).toContain('Hello')
  expect({ upstream: upstream.asked('second'), spare: spare.asked('second') }).toEqual({ upstream: false, spare: true })
  expect(alone.engines.mapping().flatMap(({ targets }) => targets.map(({ breaker }) => breaker))).not.toContain('open')
})

test('anyone who leaves while waiting gives its turn in the line back', async () => {
  const { engines } = open(1)
  const first = engines.answer('svc-1-flash', of('eve', '[[held]] first'))
  const leaving = new AbortController()
  const left = engines.answer('svc-1-flash', { ...of('eve', 'left'), signal: leaving.signal })
  const last = engines.answer('svc-1-flash', of('eve', 'last'))
  await eventually(() => upstream.calls.length === 1)
  leaving.abort(new Error('gone'))
  await expect(left).rejects.toThrow('gone')
  upstream.release()
  await Promise.all([first, last])
  expect(prompts()).toEqual(['first', 'last'])
})
