import { describe, expect, test } from 'bun:test'
import { createHealth } from '../../../src/operators'
import { fakeClock } from '../../support/clock'
import { startUpstream } from '../../support/upstream'
import { createWorld } from '../../support/world'

const UP = { status: 'healthy', latencyMs: 3 } as const
const DOWN = { status: 'down', latencyMs: null } as const
const AWAY = { status: 'unconfigured', latencyMs: null } as const

type Options = {
  database?: () => Promise<void>
  redis?: (() => Promise<void>) | null
  served?: boolean
  engines?: Record<string, typeof UP | typeof DOWN | typeof AWAY | { status: 'degraded'; latencyMs: number }>
}
const broken = () => Promise.reject(new Error('away'))
const fine = () => Promise.resolve()

function health({ database = fine, redis = null, served = true, engines = { 'svc-core': UP } }: Options = {}) {
  const clock = fakeClock()
  const probing: Promise<never> | null = null
  const changing = { changes: 0, failing: false, served, write: fine, probing: probing as Promise<never> | null }
  const state = { database, engines, asked: 0, ...changing }
  const service = createHealth({
    isFarOff: () => false,
    isDraining: () => false,
    leaving: new AbortController().signal,
    clock,
    version: '2026-01-01',
    pingDatabase: () => {
      state.asked += 1
      return state.database()
    },
    confirmWrites: () => state.write(),
    isFailing: () => state.failing,
    isServed: () => state.served,
    pingRedis: redis,
    probeEngines: async () => state.probing ?? state.engines,
    engineChanges: () => state.changes,
  })
  return { clock, state, check: service.check }
}

describe('the state of the server (docs/api.md 21)', () => {
  test.each([
    ['everything answers', {}, 'healthy'],
    ['nothing but the database is configured', { engines: { 'svc-core': AWAY } }, 'healthy'],
    ['an engine is away', { engines: { 'svc-core': UP, 'svc-vision': DOWN } }, 'degraded'],
    ['an engine is half away', { engines: { 'svc-core': { status: 'degraded', latencyMs: 1 } } }, 'degraded'],
    ['Redis is away', { redis: broken }, 'degraded'],
    ['no process runs jobs', { served: false }, 'degraded'],
    ['Redis answers', { redis: fine }, 'healthy'],
    ['the database is away', { database: broken }, 'down'],
    ['everything is away', { database: broken, redis: broken, engines: { 'svc-core': DOWN } }, 'down'],
  ] as [string, Options, string][])('when %s', async (_, options, status) => {
    expect((await health(options).check()).health.status).toBe(status as 'healthy')
  })

  test('a database that does not answer within 1.5 s is down', async () => {
    const { clock, check } = health({ database: () => new Promise(() => {}) })
    const checking = check()
    await Bun.sleep(0)
    clock.advance(1_500)
    expect((await checking).health.infrastructure.database).toEqual(DOWN)
  })

  test('is shared for 30 s, good or bad', async () => {
    const { clock, state, check } = health()
    const seen = async () => {
      const { health: found, cached } = await check()
      return [found.status, cached]
    }
    expect(await seen()).toEqual(['healthy', false])
    state.engines = { 'svc-core': DOWN }
    clock.advance(29_999)
    expect(await seen()).toEqual(['healthy', true])
    clock.advance(1)
    expect(await seen()).toEqual(['degraded', false])
    state.engines = { 'svc-core': UP }
    expect(await seen()).toEqual(['degraded', true])
    clock.advance(30_000)
    expect(await seen()).toEqual(['healthy', false])
  })

  test('says at once that the database went away or came back, without waiting for engines', async () => {
    const { clock, state, check } = health()
    await check()
    clock.advance(499)
    await check()
    expect(state.asked).toBe(1)
    state.database = broken
    state.probing = new Promise(() => {})
    clock.advance(1)
    expect(await check()).toMatchObject({ cached: false, health: { status: 'down', providers: { 'svc-core': UP } } })
    clock.advance(500)
    expect(await check()).toMatchObject({ cached: true, health: { status: 'down' } })
    state.database = fine
    state.probing = null
    clock.advance(500)
    expect(await check()).toMatchObject({ cached: false, health: { status: 'healthy' } })
  })

  test('is found out anew once an engine changed', async () => {
    const { state, check } = health()
    await check()
    expect((await check()).cached).toBe(true)
    state.engines = { 'svc-core': DOWN }
    state.changes += 1
    const { health: found, cached } = await check()
    expect({ status: found.status, cached }).toEqual({ status: 'degraded', cached: false })
  })

  test('is down while nothing is kept, and asked for anew once that changes', async () => {
    const { state, check } = health()
    const seen = async () => {
      const { health: found, keeps, cached } = await check()
      return [found.status, found.infrastructure.database.status, keeps, cached]
    }
    expect(await seen()).toEqual(['healthy', 'healthy', true, false])
    Object.assign(state, { failing: true, write: broken })
    expect(await seen()).toEqual(['down', 'degraded', false, false])
    expect(await seen()).toEqual(['down', 'degraded', false, true])
    Object.assign(state, { failing: false, write: fine })
    expect(await seen()).toEqual(['healthy', 'healthy', true, false])
  })

  test('is found out by a write of its own where nobody else writes', async () => {
    const { state, check } = health()
    state.write = async () => {
      state.failing = true
      throw new Error('full')
    }
    expect(await check()).toMatchObject({ health: { status: 'down' }, keeps: false })
  })

  test('does not wait for a write that waits for another program', async () => {
    const { clock, state, check } = health()
    state.write = () => new Promise(() => {})
    const checking = check()
    await Bun.sleep(0)
    clock.advance(50)
    expect(await checking).toMatchObject({ health: { status: 'healthy' }, keeps: true })
  })

  test('is asked for once by all who ask together', async () => {
    const { state, check } = health()
    await Promise.all(Array.from({ length: 50 }, check))
    expect(state.asked).toBe(1)
  })
})

describe('GET /health', () => {
  test('says what answers, by the names tenants know, and nothing of what stands behind', async () => {
    const upstream = await startUpstream()
    const world = await createWorld({ config: { engineBaseUrl: upstream.url } })
    const { status, body, headers, text } = await world.send('GET', 'health')
    const probe = { status: 'healthy', latencyMs: expect.any(Number) }
    expect(status).toBe(200)
    expect(body).toEqual({
      status: 'healthy',
      timestamp: expect.stringMatching(/Z$/),
      version: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      // No search server is set.
      providers: {
        ...{ 'svc-core': probe, 'svc-vision': probe, 'svc-search': { status: 'unconfigured', latencyMs: null } },
        'svc-embed': { status: 'unconfigured', latencyMs: null },
      },
      infrastructure: { database: probe, redis: { status: 'unconfigured', latencyMs: null } },
      request_id: headers.get('x-request-id'),
    })
    expect(headers.get('x-cache')).toBe('MISS')
    expect(text).not.toContain(String(upstream.port))

    const again = await world.send('GET', 'health')
    expect(again.headers.get('x-cache')).toBe('HIT')
    expect(again.body).toEqual({ ...body, request_id: again.headers.get('x-request-id') })
    await upstream.stop()
  })

  test('is degraded and still 200 when no engine answers', async () => {
    const upstream = await startUpstream()
    await upstream.stop()
    const world = await createWorld({ config: { engineBaseUrl: upstream.url } })
    const { status, body } = await world.send('GET', 'health')
    expect(status).toBe(200)
    expect(body.status).toBe('degraded')
    expect(body.providers['svc-core']).toEqual(DOWN)
  })

  test('is 503 with Retry-After without a database', async () => {
    const world = await createWorld()
    await world.app.store.close()
    const { status, body, headers } = await world.send('GET', 'health')
    expect(status).toBe(503)
    expect(body.status).toBe('down')
    expect(body.infrastructure.database).toEqual(DOWN)
    expect(headers.get('retry-after')).toBe('30')
  })

  test('answers HEAD, and counts for nobody', async () => {
    const world = await createWorld()
    for (let round = 0; round < 70; round++) expect((await world.send('GET', 'health')).status).toBe(200)
    const { status, text } = await world.send('HEAD', 'health')
    expect({ status, text }).toEqual({ status: 200, text: '' })
  })
})
