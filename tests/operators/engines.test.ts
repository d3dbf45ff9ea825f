import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { saveEngine } from '../../src/operators/engine-config'
import type { NewEngine } from '../../src/operators/schema-engines'
import { createWorld } from '../support/world'
import { operatorSender } from './support'

const folder = mkdtempSync(join(tmpdir(), 'svc-engines-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const engine: NewEngine = {
  name: 'main',
  kind: 'compat',
  base_url: 'http://127.0.0.1:9/v1',
  models: ['a', 'b'],
  test: false,
} as const

let made = 0
const place = (text?: string) => {
  const file = join(folder, `config-${++made}.json`)
  if (text !== undefined) writeFileSync(file, text)
  return { file, dataDir: join(folder, `data-${made}`) }
}
const readBack = ({ file }: { file: string }) => JSON.parse(readFileSync(file, 'utf8'))

describe('an engine that is saved', () => {
  test('answers every text mode, its first model before the others', async () => {
    const where = place()
    await saveEngine(where, engine)
    expect(readBack(where)).toEqual({
      engines: {
        upstreams: { main: { kind: 'compat', baseUrl: 'http://127.0.0.1:9/v1' } },
        models: { '*': ['main:a', 'main:b'] },
      },
    })
  })

  test('goes in front of what answered before, and leaves the rest of the file alone', async () => {
    const where = place('{"port": 3500}')
    await saveEngine(where, engine)
    await saveEngine(where, { ...engine, name: 'second', models: ['c'] })
    expect(readBack(where)).toMatchObject({
      port: 3500,
      engines: { models: { '*': ['second:c', 'main:a', 'main:b'] } },
    })
  })

  test('keeps its key in a file of its own that only its owner can read', async () => {
    const where = place()
    await saveEngine(where, { ...engine, api_key: 'upstream-secret' })
    const keyFile = join(where.dataDir, 'engine-keys', 'main')
    expect(readBack(where).engines.upstreams.main).toMatchObject({ apiKeyFile: keyFile })
    expect(readFileSync(where.file, 'utf8')).not.toContain('upstream-secret')
    expect(readFileSync(keyFile, 'utf8')).toBe('upstream-secret\n')
    expect([keyFile, where.file].map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600])
  })

  test.each([
    [
      'under a name that is taken',
      '{"engines":{"upstreams":{"main":{"kind":"openai"}},"models":{}}}',
      'Choose another name',
    ],
    ['into a file whose comments would be lost', '{"port": 1 // why\n}', 'has comments'],
    ['into a file that is not JSON', '{"port":', 'is not valid JSON'],
  ])('is refused %s, and nothing is written', async (_why, text, message) => {
    const where = place(text)
    expect(saveEngine(where, { ...engine, api_key: 'x' })).rejects.toThrow(message)
    expect(readFileSync(where.file, 'utf8')).toBe(text)
    expect(existsSync(where.dataDir)).toBe(false)
  })
})

describe('engines on the operator API', async () => {
  const configFile = join(folder, 'world.json')
  writeFileSync(configFile, '{}')
  const world = await createWorld({ config: { configFile } })
  const send = operatorSender(world)

  test('list what stands behind each engine, or that nothing does', async () => {
    const { engines } = (await send('GET', 'engines')).body
    expect(engines).toContainEqual(
      expect.objectContaining({ id: 'svc-1-flash', kind: 'builtin', rank: 1, state: 'ready' }),
    )
    expect(engines).toContainEqual({
      id: 'svc-1-motion',
      mode: 'video',
      target: null,
      kind: null,
      rank: 1,
      state: 'none',
      address: null,
      problem: null,
    })
  })

  test('are tested with real calls', async () => {
    const { tests } = (await send('POST', 'engines/test', {})).body
    expect(tests).toEqual([expect.objectContaining({ id: 'builtin:builtin', ok: true })])
  })

  test('are not saved when the test fails', async () => {
    const { status, body } = await send('POST', 'engines', { ...engine, test: true })
    expect(status).toBe(200)
    expect(body).toMatchObject({ name: 'main', saved_to: null, tests: [{ id: 'main:a', ok: false }, { ok: false }] })
    expect(readFileSync(configFile, 'utf8')).toBe('{}')
  })

  test('are saved untested when asked, and stand on the record without their key', async () => {
    const { body } = await send('POST', 'engines', { ...engine, api_key: 'upstream-secret' })
    expect(body).toMatchObject({
      saved_to: configFile,
      tests: [],
      modes: expect.arrayContaining(['fast', 'think', 'code']),
    })
    const { items } = await world.app.container.audit.list(world.app.store.read, 'server', { limit: 5 })
    expect(items[0]).toMatchObject({ action: 'engine.created', entityType: 'engine' })
    expect(JSON.stringify(items)).not.toContain('upstream-secret')
    expect(world.logged.join('')).not.toContain('upstream-secret')
  })
})

describe('an upstream that stands in the configuration file', async () => {
  const configFile = join(folder, 'changing.json')
  writeFileSync(configFile, '{"port": 3500}')
  const world = await createWorld({ config: { configFile } })
  const send = operatorSender(world)
  const saved = () => JSON.parse(readFileSync(configFile, 'utf8')).engines

  test('is added with its settings', async () => {
    const settings = { contextWindow: 8192, concurrency: 4, vision: true, headers: { 'x-team': 'blue' } }
    expect((await send('POST', 'engines', { ...engine, settings })).status).toBe(200)
    expect(saved().upstreams.main).toEqual({ kind: 'compat', baseUrl: engine.base_url, ...settings })
  })

  test('changes what is named, and loses what is null', async () => {
    const settings = { concurrency: 8, vision: null, timeoutMs: 5000 }
    const { status, body } = await send('PATCH', 'engines/main', { settings, api_key: 'upstream-secret', test: false })
    expect([status, body.models, body.saved_to]).toEqual([200, ['a', 'b'], configFile])
    const { vision, apiKeyFile, ...rest } = saved().upstreams.main
    expect(rest).toMatchObject({ concurrency: 8, timeoutMs: 5000, contextWindow: 8192 })
    expect(vision).toBeUndefined()
    expect(readFileSync(apiKeyFile, 'utf8')).toBe('upstream-secret\n')
  })

  test('is not changed when it fails its test, or to what contradicts itself', async () => {
    const before = readFileSync(configFile, 'utf8')
    expect((await send('PATCH', 'engines/main', { settings: { concurrency: 1 }, test: true })).body.saved_to).toBeNull()
    const headers = await send('PATCH', 'engines/main', { settings: { headers: { host: 'x' } }, test: false })
    expect([headers.status, headers.body.error.message]).toEqual([400, expect.stringContaining('"host"')])
    expect((await send('PATCH', 'engines/none', { test: false })).status).toBe(404)
    expect((await send('PATCH', 'engines/constructor', { test: false })).status).toBe(404)
    expect(readFileSync(configFile, 'utf8')).toBe(before)
  })

  test('is mapped to a mode, and back to what answers every text mode', async () => {
    expect((await send('PUT', 'engines/map/think', { targets: ['main:b'] })).body).toMatchObject({ id: 'svc-1-reason' })
    expect(saved().models).toEqual({ '*': ['main:a', 'main:b'], 'svc-1-reason': ['main:b'] })
    for (const [mode, targets, status] of [
      ['turbo', ['main:b'], 404],
      ['think', ['other:b'], 400],
    ] as const) {
      expect((await send('PUT', `engines/map/${mode}`, { targets: [...targets] })).status).toBe(status)
    }
    expect(saved().models['svc-1-reason']).toEqual(['main:b'])
    await send('PUT', 'engines/map/think', { targets: [] })
    expect(saved().models).toEqual({ '*': ['main:a', 'main:b'] })
  })

  test('is removed with its targets and its key, unless engines would be left with nothing', async () => {
    const { apiKeyFile } = saved().upstreams.main
    const refused = await send('DELETE', 'engines/main')
    expect([refused.status, refused.body.error.message]).toEqual([409, expect.stringContaining('every text engine')])
    expect((await send('DELETE', 'engines/main?force=true')).body).toMatchObject({ removed_from: configFile })
    expect(saved()).toEqual({ upstreams: {}, models: {} })
    expect(existsSync(apiKeyFile)).toBe(false)
    expect((await send('DELETE', 'engines/main?force=true')).status).toBe(404)
    const { items } = await world.app.container.audit.list(world.app.store.read, 'server', { limit: 20 })
    const actions = new Set(items.flatMap(({ action }) => (action.startsWith('engine.') ? action : [])))
    expect([...actions].toSorted()).toEqual(['engine.created', 'engine.deleted', 'engine.mapped', 'engine.updated'])
  })
})
