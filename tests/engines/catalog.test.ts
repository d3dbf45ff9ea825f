import { afterAll, describe, expect, test } from 'bun:test'
import { ENGINES, engineOfMode, findEngine } from '../../src/engines'
import { systemClock } from '../../src/kernel/clock'
import { eventually } from '../support/eventually'
import { startUpstream } from '../support/upstream'
import { long, NO_ENGINES, openEngines } from './setup'

const upstream = await startUpstream()
afterAll(() => upstream.stop())

describe('the catalogue', () => {
  test('holds the twelve engines of the contract, each mode once', () => {
    expect(ENGINES.map(({ id }) => id).join(' ')).toBe(
      'svc-1-auto svc-1-flash svc-1-reason svc-1-code svc-1-create svc-1-motion svc-1-research svc-1-roast svc-1-genui svc-1-analyze svc-1-extract svc-1-vision',
    )
    expect(new Set(ENGINES.map(({ mode }) => mode)).size).toBe(12)
  })

  test('every text engine falls back to another text engine', () => {
    for (const { kind, fallback, mode } of ENGINES) {
      if (kind === 'text' && mode !== 'auto') expect(findEngine(fallback!)?.kind).toBe('text')
    }
  })

  test('the old name of the roast engine is understood and not listed', () => {
    expect(findEngine('svc-1-edge')?.id).toBe('svc-1-roast')
    expect(ENGINES.some(({ id }) => id === 'svc-1-edge')).toBe(false)
  })

  test.each(['constructor', '__proto__', 'toString', 'svc-1-photo', 'SVC-1-FLASH', '', 'gpt'])(
    '%p is no engine and no mode',
    (word) => {
      expect(findEngine(word)).toBeNull()
      expect(engineOfMode(word)).toBeNull()
    },
  )

  test.each([
    ['stealth_text', 'svc-1-flash'],
    ['stealth_image', 'svc-1-create'],
    ['stealth_video', 'svc-1-motion'],
    ['think', 'svc-1-reason'],
  ])('mode %s goes to %s', (mode, id) => {
    expect(engineOfMode(mode)?.id).toBe(id)
  })
})

describe('what an engine service says of itself', () => {
  const settings = long(
    { one: upstream, two: 'http://127.0.0.1:9/v1' },
    { '*': ['one:a', 'two:b'], 'svc-1-research': ['two:b'] },
  )

  test('free and without a model, when only the built-in engine is there', () => {
    const { engines } = openEngines(NO_ENGINES)
    expect(engines.hasModel()).toBe(false)
    expect(engines.isFree('svc-1-flash')).toBe(true)
    expect(
      engines
        .models()
        .filter(({ status }) => status === 'down')
        .map(({ id }) => id),
    ).toEqual(['svc-1-create'])
  })

  test('paid and with a model, when one is connected', () => {
    const { engines } = openEngines(settings)
    expect(engines.hasModel()).toBe(true)
    expect(engines.isFree('svc-1-auto')).toBe(false)
    expect(engines.window('svc-1-flash')).toBe(128_000)
    expect(engines.describe('svc-1-edge')).toEqual({ id: 'svc-1-roast', label: 'Svc Roast', engine: 'svc-core' })
  })

  test('an unknown engine is missing, not broken', () => {
    const { engines } = openEngines(settings)
    expect(() => engines.describe('svc-1-none')).toThrow(expect.objectContaining({ code: 'not_found' }))
  })

  test('probing tells the subsystems apart, costs no completion and never throws', async () => {
    upstream.reset()
    // By a real clock: a probe has 0.3 s, and one that takes longer is known the next time.
    const real = { ...systemClock, slept: [], advance: () => undefined }
    const clock = real as never
    const still = { ...real, monotonic: () => 0 } as never
    /** What is known once every upstream had the time to answer. */
    const probed = async ({ engines }: ReturnType<typeof openEngines>, core: string) =>
      eventually(
        () => engines.probeAll(),
        ({ 'svc-core': own, 'svc-search': search }) =>
          own?.status === core && (core !== 'degraded' || own.latencyMs !== null) && search?.status !== 'degraded',
      )
    expect(await probed(openEngines(settings, { clock }), 'degraded')).toMatchObject({
      'svc-core': { latencyMs: expect.any(Number) },
      'svc-vision': { status: 'degraded' },
      'svc-search': { status: 'down', latencyMs: null },
    })
    expect(upstream.calls).toHaveLength(0)
    const none = await probed(openEngines({ ...NO_ENGINES, engineBuiltin: false }, { clock }), 'unconfigured')
    expect(none['svc-core']).toEqual({ status: 'unconfigured', latencyMs: null })
    const builtin = await probed(openEngines(NO_ENGINES, { clock: still }), 'healthy')
    expect(builtin['svc-core']).toEqual({ status: 'healthy', latencyMs: 0 })
  })

  test('a trial makes one real call of each kind', async () => {
    upstream.reset()
    const { engines } = openEngines(settings)
    const [trial] = await engines.test('one')
    expect(trial).toMatchObject({ target: 'one:a', kind: 'compat' })
    expect(trial!.checks.map(({ check, ok }) => [check, ok])).toEqual([
      ['answer', true],
      ['stream', true],
      ['json', false],
    ])
    const [dead] = await engines.test('two')
    expect(dead!.checks.every(({ ok, detail }) => !ok && detail.startsWith('refused'))).toBe(true)
    await expect(engines.test('three')).rejects.toMatchObject({ code: 'not_found' })
  })

  test('operators see the targets behind each engine', () => {
    expect(
      openEngines(settings)
        .engines.mapping()
        .find(({ mode }) => mode === 'fast'),
    ).toEqual({
      engineId: 'svc-1-flash',
      mode: 'fast',
      makes: 'text',
      targets: [
        { target: 'one:a', upstream: 'one', kind: 'compat', breaker: 'closed', in_flight: 0 },
        { target: 'two:b', upstream: 'two', kind: 'compat', breaker: 'closed', in_flight: 0 },
      ],
    })
  })
})
