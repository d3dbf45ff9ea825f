import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { engineSettings } from '../../src/engines'
import { type EngineSettings, readEngineConfig } from '../../src/engines/config'
import { resolveSettings } from '../../src/kernel/config'
import { temporaryFolder } from '../support/temporary-folder'
import { startUpstream } from '../support/upstream'
import { ask, NO_ENGINES, openEngines } from './setup'

const folder = temporaryFolder('svc-engines-')

const read = (env: Record<string, string>, file: Record<string, unknown> = {}) =>
  readEngineConfig(resolveSettings(engineSettings, env, file).values)

const targetsOf = (env: Record<string, string>, file: Record<string, unknown> = {}) =>
  Object.fromEntries(
    [...read(env, file).targets].map(([id, refs]) => [id, refs.map(({ upstream, model }) => `${upstream}:${model}`)]),
  )

describe('the short form', () => {
  test('one address, key and model serve every text engine, auto included', () => {
    const env = {
      SVC_ENGINE_BASE_URL: 'http://127.0.0.1:8080/v1',
      SVC_ENGINE_API_KEY: 'k',
      SVC_ENGINE_MODEL: 'llama3:8b',
    }
    const targets = targetsOf(env)
    expect(Object.keys(targets)).toHaveLength(10)
    expect(new Set(Object.values(targets).flat())).toEqual(new Set(['default:llama3:8b']))
    expect(targets).not.toHaveProperty('svc-1-create')
  })

  test('window, output limit, time-out and sight have words of their own', () => {
    const short = { SVC_ENGINE_BASE_URL: 'http://127.0.0.1:8080/v1' }
    const env = {
      ...short,
      SVC_ENGINE_CONTEXT_WINDOW: '8192',
      SVC_ENGINE_MAX_OUTPUT_TOKENS: '512',
      SVC_ENGINE_TIMEOUT_S: '2.5',
      SVC_ENGINE_VISION: '1',
    }
    expect(read(env).upstreams.get('default')).toMatchObject({
      contextWindow: 8192,
      maxOutputTokens: 512,
      timeoutMs: 2500,
      vision: true,
    })
    expect(read({ ...short, SVC_ENGINE_VISION: 'off' }).upstreams.get('default')).toMatchObject({ vision: false })
    expect(read(short).upstreams.get('default')).not.toContainAnyKeys(['vision', 'timeoutMs'])
    expect(() => read({ ...short, SVC_ENGINE_VISION: 'maybe' })).toThrow('SVC_ENGINE_VISION')
  })

  test('nothing set means nothing mapped', () => {
    expect(targetsOf({})).toEqual({})
  })
})

describe('the long form', () => {
  const upstreams = { a: { kind: 'compat', baseUrl: 'http://127.0.0.1:1/v1' }, b: { kind: 'anthropic', apiKey: 'k' } }

  test('names targets per engine, the rest by *, and auto follows fast', () => {
    const engines = {
      upstreams,
      models: { '*': ['a:small'], 'svc-1-flash': ['b:quick', 'a:small'], 'svc-1-edge': ['b:fun'] },
    }
    expect(targetsOf({}, { engines })).toMatchObject({
      'svc-1-auto': ['b:quick', 'a:small'],
      'svc-1-flash': ['b:quick', 'a:small'],
      'svc-1-reason': ['a:small'],
      'svc-1-roast': ['b:fun'],
    })
  })

  test('says how long a call may take and be silent', () => {
    const limited = (limits: object) => ({ engines: { upstreams: { a: { ...upstreams.a, ...limits } }, models: {} } })
    const limits = { timeoutMs: 5_000, silenceMs: 900 }
    expect(read({}, limited(limits)).upstreams.get('a')).toMatchObject(limits)
    expect(() => read({}, limited({ timeoutMs: 0 }))).toThrow('between 100 and')
  })

  test('the short form joins it as the last resort of *', () => {
    const engines = { upstreams, models: { '*': ['a:small'] } }
    const env = { SVC_ENGINE_BASE_URL: 'http://127.0.0.1:2/v1' }
    expect(targetsOf(env, { engines })['svc-1-reason']).toEqual(['a:small', 'default:default'])
  })

  test.each([
    ['an upstream that is not there', { upstreams, models: { 'svc-1-flash': ['c:x'] } }, 'no upstream "c"'],
    [
      'an engine that is not there',
      { upstreams, models: { 'svc-1-turbo': ['a:x'] } },
      'svc-1-turbo: not an engine for text, images, videos, audio or embeddings',
    ],
    [
      'videos of a kind that makes none',
      { upstreams: { a: { kind: 'anthropic' as const } }, models: { 'svc-1-motion': ['a:x'] } },
      'svc-1-motion: "a" is of a kind that does not support videos',
    ],
    ['a compat upstream without an address', { upstreams: { a: { kind: 'compat' } }, models: {} }, 'needs a "baseUrl"'],
    ['a target without a model', { upstreams, models: { 'svc-1-flash': ['a'] } }, 'svc.server.json'],
    ['a kind nobody speaks', { upstreams: { a: { kind: 'smoke' } }, models: {} }, 'svc.server.json'],
    [
      'an address that is no web address',
      { upstreams: { a: { kind: 'compat', baseUrl: 'file:///x' } }, models: {} },
      'svc.server.json',
    ],
    ['a name that is none', { upstreams: { 'My Server': { kind: 'smoke' } }, models: {} }, 'svc.server.json'],
    ['a word nobody knows', { upstreams: { a: { kind: 'openai', colour: 1 } }, models: {} }, 'svc.server.json'],
    [
      'a name from the prototype',
      { upstreams, models: { 'svc-1-flash': ['constructor:x'] } },
      'no upstream "constructor"',
    ],
  ])('%s is refused with a sentence', (_what, engines, sentence) => {
    expect(() => targetsOf({}, { engines })).toThrow(sentence)
  })

  test('a secret is never quoted in a refusal', () => {
    const engines = { upstreams: { a: { kind: 'smoke', apiKey: 'sk-very-secret' } }, models: {} }
    expect(() => targetsOf({}, { engines })).not.toThrow('sk-very-secret')
  })
})

describe('a key from a file', () => {
  const settings = (apiKeyFile: string, baseUrl: string): EngineSettings => ({
    ...NO_ENGINES,
    engines: { upstreams: { a: { kind: 'compat', baseUrl, apiKeyFile } }, models: { '*': ['a:x'] } },
  })

  test('is read without its line break', async () => {
    const upstream = await startUpstream()
    const file = join(folder, 'key')
    writeFileSync(file, 'sk-from-file\n')
    await openEngines(settings(file, upstream.url)).engines.answer('svc-1-flash', ask('Hi'))
    expect(upstream.calls[0]!.headers.authorization).toBe('Bearer sk-from-file')
    await upstream.stop()
  })

  test('that cannot be read is named at start', () => {
    const missing = settings(join(folder, 'missing'), 'http://127.0.0.1:1/v1')
    expect(() => openEngines(missing)).toThrow('cannot be read (ENOENT)')
  })
})
