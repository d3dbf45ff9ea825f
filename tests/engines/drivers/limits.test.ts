import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { createAiSdkDriver } from '../../../src/engines/drivers/ai-sdk-client'
import { createCompatDriver } from '../../../src/engines/drivers/compat-client'
import type { Driver } from '../../../src/engines/engine'
import type { Clock } from '../../../src/kernel/clock'
import { collect, plain, request, streamed } from '../../suites/engine.suite'
import { fakeClock } from '../../support/clock'
import { eventually } from '../../support/eventually'
import { startUpstream } from '../../support/upstream'
import { messagesDialect } from '../../support/upstream/vendors'

type Limits = { timeoutMs?: number; silenceMs?: number }
type Made = (clock: Clock, limits?: Limits) => Driver

const chat = await startUpstream()
const messages = await startUpstream({ dialect: messagesDialect })
afterAll(async () => void (await Promise.all([chat.stop(), messages.stop()])))
beforeEach(() => {
  chat.reset()
  messages.reset()
})

const compat: Made = (clock, limits = {}) =>
  createCompatDriver({ baseUrl: chat.url, apiKey: null, outputLimitField: 'max_tokens', clock, ...limits })
const vendor: Made = (clock, limits = {}) =>
  createAiSdkDriver({ vendor: 'anthropic', baseUrl: messages.url, apiKey: null, clock, ...limits })

/** Begins a call, and says how it ended, if it has. */
function began(call: Promise<unknown>) {
  let ended: unknown = null
  const whole = call.then(
    () => 'answered',
    (error: { kind: string; message: string }) => error,
  )
  void whole.then((how) => {
    ended = how
  })
  return { whole, ended: () => ended }
}

describe.each([
  ['compat', compat, chat],
  ['a vendor package', vendor, messages],
] as const)('%s', (_name, make, upstream) => {
  const requestOf = () => eventually(() => upstream.calls.length === 1)
  /** Whatever was to end by now has ended when another call has been answered. */
  const meanwhile = (driver: Driver) => plain(driver, request('Hi'))

  test.each([
    ['a plain answer may take 120 s', 120_000, (driver: Driver) => plain(driver, request('[[hang]]'))],
    ['a stream may be silent for 600 s', 600_000, (driver: Driver) => collect(streamed(driver, request('[[hang]]')))],
  ])('%s (docs/api.md 1.9)', async (_what, max, call) => {
    const clock = fakeClock()
    const driver = make(clock)
    const { whole, ended } = began(call(driver))
    await requestOf()
    clock.advance(max - 1)
    await meanwhile(driver)
    expect(ended()).toBeNull()
    clock.advance(1)
    expect(await whole).toMatchObject({
      kind: 'timeout',
      message: `the upstream did not finish within ${max / 1_000} s`,
    })
  })

  test('a call that its upstream is given less time for ends then', async () => {
    const clock = fakeClock()
    const { whole } = began(plain(make(clock, { timeoutMs: 7_000 }), request('[[hang]]')))
    await requestOf()
    clock.advance(7_000)
    expect(await whole).toMatchObject({ kind: 'timeout', message: 'the upstream did not finish within 7 s' })
  })

  test('silence has a limit of its own, which every byte restarts', async () => {
    const clock = fakeClock()
    const stream = streamed(make(clock, { silenceMs: 10_000 }), request('[[slow:20]] [[tokens:12]]'))
    const heard: unknown[] = []
    for await (const part of stream) {
      heard.push(part)
      clock.advance(6_000)
    }
    expect(heard.at(-1)).toMatchObject({ type: 'finish' })
    upstream.reset()
    const { whole } = began(plain(make(clock, { silenceMs: 10_000 }), request('[[hang]]')))
    await requestOf()
    clock.advance(10_000)
    expect(await whole).toMatchObject({ kind: 'timeout', message: 'the upstream was silent for 10 s' })
  })
})
