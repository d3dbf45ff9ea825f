import { describe, expect, test } from 'bun:test'
import { ConfigError, resolveSettings, setting } from '../../src/kernel/config'
import { t } from '../../src/kernel/schema'

const settings = {
  port: setting({ env: 'SVC_PORT', schema: t.Integer({ minimum: 0 }), default: 3400, about: 'The port.' }),
  cache: setting({ env: 'SVC_CACHE', schema: t.Boolean(), default: true, about: 'The cache.' }),
  name: setting({ env: 'SVC_NAME', schema: t.String(), default: 'svc', about: 'The name.' }),
  tiers: setting({ env: 'SVC_TIERS', schema: t.Record(t.String(), t.Integer()), default: {}, about: 'The tiers.' }),
  token: setting({ env: 'SVC_TOKEN', schema: t.Integer(), default: 0, about: 'The token.', secret: true }),
}

const problemsOf = (env: Record<string, string>, file: Record<string, unknown> = {}): string[] => {
  try {
    resolveSettings(settings, env, file)
  } catch (error) {
    return (error as ConfigError).problems
  }
  return []
}

describe('settings', () => {
  test('come from the environment, then the file, then their defaults, and say which', () => {
    const { values, origins } = resolveSettings(settings, { SVC_PORT: '80' }, { port: 90, name: 'file' })
    expect(values).toEqual({ port: 80, cache: true, name: 'file', tiers: {}, token: 0 })
    expect(origins).toEqual({ port: 'environment', cache: 'default', name: 'file', tiers: 'default', token: 'default' })
  })

  test('an empty variable counts as not set', () => {
    expect(resolveSettings(settings, { SVC_PORT: '' }, {}).origins.port).toBe('default')
  })

  test.each([
    ['1', true],
    ['true', true],
    ['ON', true],
    ['yes', true],
    ['0', false],
    ['false', false],
    ['off', false],
  ])('the switch %s is %p', (word, expected) => {
    expect(resolveSettings(settings, { SVC_CACHE: word }, {}).values.cache).toBe(expected)
  })

  test('a switch that is neither is refused', () => {
    expect(problemsOf({ SVC_CACHE: 'maybe' })).toEqual(['SVC_CACHE is "maybe"; it must be true or false. The cache.'])
  })

  test('a structured variable is JSON, a text is taken as it is', () => {
    const { values } = resolveSettings(settings, { SVC_TIERS: '{"free":1}', SVC_NAME: '{"not":"parsed"}' }, {})
    expect(values.tiers).toEqual({ free: 1 })
    expect(values.name).toBe('{"not":"parsed"}')
  })

  test('all problems are reported at once, each with its value and its path', () => {
    const problems = problemsOf({ SVC_PORT: '-1', SVC_TIERS: 'nonsense' }, { name: 5, unknown: 1 })
    expect(problems).toHaveLength(4)
    expect(problems).toEqual([
      'SVC_PORT is -1; the smallest value is 0. The port.',
      '"name" in svc.server.json is 5; it must be a string. The name.',
      'SVC_TIERS is not valid JSON; it must be an object, such as {"name": value}. The tiers.',
      '"unknown" in svc.server.json is not a setting. svc-admin config list shows all.',
    ])
  })

  test('a secret value is never printed', () => {
    expect(problemsOf({ SVC_TOKEN: 'hunter2' }).join()).not.toContain('hunter2')
  })

  test('the error is a ConfigError', () => {
    expect(() => resolveSettings(settings, { SVC_PORT: 'x' }, {})).toThrow(ConfigError)
  })
})
