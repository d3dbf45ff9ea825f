import { describe, expect, test } from 'bun:test'
import { engineSettingsRow } from '../../src/engines/table'
import { query } from '../../src/kernel/store'
import type { NewEngine } from '../../src/operators/schema-engines'
import { fakeClock } from '../support/clock'
import { startUpstream } from '../support/upstream'
import { createWorld } from '../support/world'
import { operatorSender } from './support'

const engine: NewEngine = {
  name: 'main',
  kind: 'compat',
  base_url: 'http://127.0.0.1:9/v1',
  models: ['a', 'b'],
  test: false,
} as const

describe('engines on the operator API', async () => {
  const world = await createWorld()
  const send = operatorSender(world)

  test('list what stands behind each engine, or that nothing does', async () => {
    const { engines } = (await send('GET', 'engines')).body
    expect(engines).toContainEqual(
      expect.objectContaining({ id: 'svc-1-flash', kind: 'builtin', rank: 1, state: 'ready' }),
    )
    expect(engines).toContainEqual({
      id: 'svc-1-motion',
      mode: 'video',
      target: 'builtin:builtin',
      kind: 'builtin',
      rank: 1,
      state: 'ready',
      address: 'built-in',
      problem: null,
      status: 'available',
      why: null,
      source: null,
      editable: false,
      in_flight: 0,
      overrides: null,
    })
  })

  test('say the same of a missing search server in the health, the models and the list', async () => {
    const ada = await world.person()
    const { providers } = (await world.app.container.health.check()).health
    expect(providers['svc-search']).toEqual({ status: 'unconfigured', latencyMs: null })
    const models = (await ada.send('GET', 'models')).body.models as { mode: string; status: string }[]
    expect(models.find(({ mode }) => mode === 'research')!.status).toBe('degraded')
    const listed = (await send('GET', 'engines')).body.engines as { mode: string; why: string | null }[]
    expect(listed.find(({ mode }) => mode === 'research')!.why).toContain('no search server is set')
  })

  test('are tested with real calls', async () => {
    const { tests } = (await send('POST', 'engines/test', {})).body
    expect(tests).toEqual([expect.objectContaining({ id: 'builtin:builtin', ok: true })])
  })

  test('are not saved when the test fails', async () => {
    const { status, body } = await send('POST', 'engines', { ...engine, test: true })
    expect(status).toBe(200)
    expect(body).toMatchObject({ name: 'main', saved_to: null, tests: [{ id: 'main:a', ok: false }, { ok: false }] })
    expect((await send('GET', 'engines')).text).not.toContain('main:a')
  })

  test('are saved untested when asked, and stand on the record without their key', async () => {
    expect((await send('POST', 'engines', { ...engine, api_key: 'upstream-secret' })).body).toMatchObject({
      saved_to: 'database',
      tests: [],
      modes: expect.arrayContaining(['fast', 'think', 'code']),
    })
    const { items } = await world.app.container.audit.list(world.app.store.read, 'server', { limit: 5 })
    expect(items[0]).toMatchObject({ action: 'engine.created', entityType: 'engine' })
    expect(JSON.stringify(items)).not.toContain('upstream-secret')
    expect(world.logged.join('')).not.toContain('upstream-secret')
  })
})

describe('an upstream that is set while the server runs', async () => {
  const world = await createWorld()
  const send = operatorSender(world)
  const stored = () => world.app.container.engineRegistry.newest().stored

  test('is added with its settings, ahead of what answered before', async () => {
    const settings = { contextWindow: 8192, concurrency: 4, vision: true, headers: { 'x-team': 'blue' } }
    expect((await send('POST', 'engines', { ...engine, settings })).status).toBe(200)
    expect(stored().upstreams.main).toEqual({ kind: 'compat', baseUrl: engine.base_url!, ...settings })
    expect((await send('POST', 'engines', { ...engine, name: 'second', models: ['c'] })).status).toBe(200)
    expect(stored().models).toEqual({ '*': { targets: ['second:c', 'main:a', 'main:b'], only: false } })
    expect(await send('POST', 'engines', engine)).toMatchObject({
      status: 409,
      body: { error: { message: expect.stringContaining('Choose another name') } },
    })
    expect((await send('DELETE', 'engines/second')).status).toBe(200)
  })

  test('changes what is named, and loses what is null', async () => {
    const settings = { concurrency: 8, vision: null, timeoutMs: 5000 }
    const { status, body } = await send('PATCH', 'engines/main', { settings, api_key: 'upstream-secret', test: false })
    expect(status).toBe(200)
    expect(body.models).toEqual(['a', 'b'])
    expect(body.saved_to).toBe('database')
    const { vision, ...rest } = stored().upstreams.main!
    expect(rest).toMatchObject({ concurrency: 8, timeoutMs: 5000, contextWindow: 8192, apiKey: 'upstream-secret' })
    expect(vision).toBeUndefined()
  })

  test('has its key encrypted at rest', async () => {
    const { store } = world.app.container
    const [row] = await query()((db) => db.select().from(db.of(engineSettingsRow)))(store.read, {})
    expect(row!.value).not.toContain('upstream-secret')
    expect(row!.value).not.toContain('main')
    expect((await send('GET', 'engines')).text).not.toContain('upstream-secret')
  })

  test('is not changed when it fails its test, or to what contradicts itself', async () => {
    const before = stored()
    expect((await send('PATCH', 'engines/main', { settings: { concurrency: 1 }, test: true })).body.saved_to).toBeNull()
    const headers = await send('PATCH', 'engines/main', { settings: { headers: { host: 'x' } }, test: false })
    expect(headers).toMatchObject({ status: 400, body: { error: { message: expect.stringContaining('"host"') } } })
    expect((await send('PATCH', 'engines/none', { test: false })).status).toBe(404)
    expect((await send('PATCH', 'engines/constructor', { test: false })).status).toBe(404)
    expect(stored()).toBe(before)
  })

  test('is mapped to a mode, and back to the targets of all text modes', async () => {
    expect((await send('PUT', 'engines/map/think', { targets: ['main:b'] })).body).toMatchObject({ id: 'svc-1-reason' })
    expect(stored().models['svc-1-reason']).toEqual({ targets: ['main:b'], only: true })
    for (const [mode, targets, status] of [
      ['turbo', ['main:b'], 404],
      ['think', ['other:b'], 400],
    ] as const) {
      expect((await send('PUT', `engines/map/${mode}`, { targets: [...targets] })).status).toBe(status)
    }
    expect(stored().models['svc-1-reason']?.targets).toEqual(['main:b'])
    await send('PUT', 'engines/map/think', { targets: [] })
    expect(Object.keys(stored().models)).toEqual(['*'])
  })

  test('is removed with its targets and its key, unless engines would be left with nothing', async () => {
    expect(await send('DELETE', 'engines/main')).toMatchObject({
      status: 409,
      body: { error: { message: expect.stringContaining('every text engine') } },
    })
    expect((await send('DELETE', 'engines/main?force=true')).body).toMatchObject({ removed_from: 'database' })
    expect(stored()).toEqual({ upstreams: {}, models: {}, prices: {} })
    expect((await send('DELETE', 'engines/main?force=true')).status).toBe(404)
    const { items } = await world.app.container.audit.list(world.app.store.read, 'server', { limit: 20 })
    const actions = new Set(items.flatMap(({ action }) => (action.startsWith('engine.') ? action : [])))
    expect([...actions].toSorted()).toEqual(['engine.created', 'engine.deleted', 'engine.mapped', 'engine.updated'])
    expect(JSON.stringify(items)).not.toContain('upstream-secret')
  })
})

describe('an upstream of the configuration file', async () => {
  const upstream = await startUpstream({ text: '{}' })
  const other = await startUpstream({ text: '{}' })
  const engines = {
    upstreams: { main: { kind: 'compat' as const, baseUrl: upstream.url, apiKey: 'of-the-file' } },
    models: { '*': ['main:scripted'] },
  }
  const world = await createWorld({ config: { engines } })
  const send = operatorSender(world)
  const ada = await world.person()
  const ask = async () =>
    (await ada.send('POST', 'completions', { prompt: `Hello ${++requested}`, mode: 'fast' })).status
  let requested = 0
  const rowOf = async (target: string) =>
    (await send('GET', 'engines')).body.engines.find((row: { target: string }) => row.target === target)

  test('is shown with its place, and is changed there or copied', async () => {
    expect(await rowOf('main:scripted')).toMatchObject({ source: 'file', overrides: null, status: 'available' })
    for (const [method, path, body] of [
      ['PATCH', 'engines/main', { settings: { off: true }, test: false }],
      ['DELETE', 'engines/main', undefined],
    ] as const) {
      expect(await send(method, path, body)).toMatchObject({
        status: 409,
        body: { error: { message: expect.stringContaining('engines.upstreams') } },
      })
    }
    expect((await send('POST', 'engines', { ...engine, base_url: other.url })).status).toBe(409)
  })

  test('is used beside one that was added here, which is asked first', async () => {
    await send('POST', 'engines', { ...engine, name: 'here', base_url: other.url, models: ['scripted'] })
    expect(await rowOf('here:scripted')).toMatchObject({ source: 'here', rank: 1 })
    expect(await rowOf('main:scripted')).toMatchObject({ source: 'file', rank: 2 })
    expect(await ask()).toBe(200)
    expect(other.calls).toHaveLength(1)
    expect(upstream.calls).toHaveLength(0)
    await send('DELETE', 'engines/here')
    expect(await ask()).toBe(200)
    expect(other.calls).toHaveLength(1)
    expect(upstream.calls).toHaveLength(1)
  })

  test('is copied with its key and then changed; without the copy the file counts again', async () => {
    const copied = { copy: true, base_url: other.url, test: true }
    expect((await send('PATCH', 'engines/main', copied)).body).toMatchObject({ saved_to: 'database' })
    expect(await rowOf('main:scripted')).toMatchObject({ source: 'here', overrides: 'file' })
    other.reset()
    upstream.reset()
    expect(await ask()).toBe(200)
    expect(other.calls).toHaveLength(1)
    expect(upstream.calls).toHaveLength(0)
    expect(other.calls[0]!.headers.authorization).toBe('Bearer of-the-file')
    expect((await send('PATCH', 'engines/main', { settings: { off: true }, test: false })).status).toBe(200)
    expect(await rowOf('main:scripted')).toMatchObject({ state: 'off', source: 'here' })
    expect((await send('DELETE', 'engines/main')).status).toBe(200)
    expect(await ask()).toBe(200)
    expect(other.calls).toHaveLength(1)
    expect(upstream.calls).toHaveLength(1)
    await upstream.stop()
    await other.stop()
  })
})

describe('how an upstream answered', async () => {
  const clock = fakeClock()
  const upstream = await startUpstream()
  const world = await createWorld({ config: { engineBaseUrl: upstream.url, engineModel: 'scripted' }, clock })
  const send = operatorSender(world)
  const health = async (name: string, window = '1h') =>
    (await send('GET', `engines/${name}/health?window=${window}`)).body

  test('is counted by time, and the last error is kept', async () => {
    const { engines } = (await send('GET', 'engines')).body
    const name = engines.find(({ kind }: { kind: string }) => kind === 'compat').target.split(':')[0]
    const ada = await world.person()
    const ask = (prompt: string) => ada.send('POST', 'completions', { prompt, mode: 'fast' })
    await ask('hello')
    expect((await health(name)).last_error).toBeNull()
    expect((await ask('[[401]] hello')).status).toBe(503)
    const found = await health(name)
    expect(found.errors.at(-1)).toBeGreaterThan(0)
    expect(found.last_error.message).toBeString()
    const failed = (await ada.send('GET', 'requests?code=engine_unavailable')).body.requests
    expect(failed.map(({ code, status }: { code: string; status: number }) => ({ code, status }))).toEqual([
      { code: 'engine_unavailable', status: 503 },
    ])
    expect((await ada.send('GET', 'requests?tool=web_search')).body.requests).toEqual([])
    expect((await ada.send('GET', 'requests?guardrail=pii')).body.requests).toEqual([])
    expect(found.buckets.length).toBe(12)
    expect(found.calls.at(-1)).toBeGreaterThan(0)
    expect(found.p50.at(-1)).toBeNumber()
    expect(found.calls.slice(0, -1)).toEqual(Array(11).fill(0))
    expect((await health(name, '7d')).buckets.length).toBe(56)
    expect((await send('GET', 'engines/nobody/health')).status).toBe(404)
  })

  test('is in the checks of the doctor', async () => {
    const { checks } = (await send('GET', 'doctor')).body
    expect(checks.map(({ check }: { check: string }) => check)).toEqual([
      'migrations',
      'database',
      'redis',
      'clock',
      'engines',
      'jobs',
      'files',
      'webhooks out',
      'backups',
    ])
    const of = (name: string) => checks.find(({ check }: { check: string }) => check === name)
    // The Postgres of the tests does not wait for its disk, which the doctor warns of.
    expect(of('database')).toMatchObject(
      of('database').detail.includes('fsync=off') ? { status: 'warn' } : { status: 'ok', fix: null },
    )
    expect(of('backups')).toMatchObject({ status: 'warn', fix: 'svc-admin backup create' })
  })
})
