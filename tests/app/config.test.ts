import { afterEach, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig, SETTINGS } from '../../src/app/config'
import { assertProductionReady } from '../../src/app/production'
import { ConfigError } from '../../src/kernel/config'
import { temporaryFolder } from '../support/temporary-folder'

const root = temporaryFolder('svc-config-')

const set: string[] = []
function env(name: string, value: string): void {
  process.env[name] = value
  set.push(name)
}
afterEach(() => {
  for (const name of set.splice(0)) delete process.env[name]
})

let files = 0
function file(text: string): string {
  const path = join(root, `svc.server.${++files}.json`)
  writeFileSync(path, text)
  return path
}

function problemsOf(run: () => unknown): string[] {
  try {
    run()
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

describe('settings', () => {
  test('come from flags, then the environment, then the file, then their defaults', () => {
    const configFile = file('{ "port": 5001, "host": "0.0.0.0", /* a reason */ "logLevel": "warn" }')
    env('SVC_PORT', '5002')
    const config = loadConfig({ configFile, logLevel: 'error' })
    expect(config).toMatchObject({ port: 5002, host: '0.0.0.0', logLevel: 'error', migrate: 'auto', file: configFile })
    expect(config.origins).toMatchObject({ port: 'environment', host: 'file', migrate: 'default' })
  })

  test('say all that is wrong with them at once, with the value and where it stood', () => {
    const configFile = file('{ "port": "many", "portt": 1 }')
    env('SVC_LOG_LEVEL', 'loud')
    env('SVC_FAILPOINT', 'anywhere')
    const problems = problemsOf(() => loadConfig({ configFile }))
    expect(problems).toHaveLength(4)
    expect(problems.join('\n')).toContain('"port" in svc.server.json is "many"; it must be')
    expect(problems.join('\n')).toContain('SVC_LOG_LEVEL is "loud"')
    expect(problems.join('\n')).toContain('SVC_FAILPOINT is "anywhere"')
    expect(problems.join('\n')).toContain('"portt" in svc.server.json is not a setting.')
  })

  test('of a secret kind are never shown, valid or not', () => {
    env('SVC_DATABASE_URL', 'mysql://root:hunter2@db/svc')
    const [problem] = problemsOf(() => loadConfig())
    expect(problem).toStartWith('SVC_DATABASE_URL is set to a value that is not shown; it must be ')
    expect(problem).not.toContain('hunter2')
  })

  test('of an address that clients see are an origin, and nothing more', () => {
    const refused = [
      'https://ada:pw@x.example',
      'https://x.example?q',
      'https://x.example#a',
      'https://x.example:99999',
    ]
    for (const url of [...refused, 'https://x.example/path', 'https://x y.example', 'x.example']) {
      env('SVC_PUBLIC_URL', url)
      const [problem] = problemsOf(() => loadConfig())
      expect(problem).toMatch(/^SVC_PUBLIC_URL.* it must be https:\/\/ or http:\/\/, a host/)
    }
    for (const url of ['https://x.example', 'https://x.example:8443/', 'http://[::1]:3400', 'http://127.0.0.1:65535']) {
      env('SVC_PUBLIC_URL', url)
      expect(loadConfig().publicUrl).toBe(url)
    }
  })

  test('in a file that is not JSON, or not there, are not guessed', () => {
    expect(problemsOf(() => loadConfig({ configFile: file('{ "port": ') }))[0]).toContain('is not valid JSON')
    const missing = join(root, 'nowhere.json')
    expect(problemsOf(() => loadConfig({ configFile: missing }))).toEqual([
      `There is no configuration file ${missing}. Create it with svc-admin config set NAME VALUE.`,
    ])
  })

  test('each have a name of their own in the environment, and one sentence', () => {
    const declared = Object.values(SETTINGS)
    expect(new Set(declared.map(({ env }) => env)).size).toBe(declared.length)
    expect(declared.filter(({ env, about }) => !env.startsWith('SVC_') || !about.endsWith('.'))).toEqual([])
  })
})

describe('a production start', () => {
  const production = (overrides: Parameters<typeof loadConfig>[0]) => loadConfig({ production: true, ...overrides })

  test('is refused with every reason in one message', () => {
    const config = production({ failpoint: 'after_auth', opsListen: '0.0.0.0:3401' })
    const problems = problemsOf(() => assertProductionReady(config, ['fast', 'think']))
    expect(problems).toHaveLength(4)
    expect(problems[0]).toContain('SVC_PUBLIC_URL')
    expect(problems[1]).toContain('fast, think')
    expect(problems[2]).toContain('SVC_OPS_LISTEN: 0.0.0.0:3401 is not a loopback address')
    expect(problems[3]).toContain('SVC_FAILPOINT')
  })

  test('goes ahead with an https address and a real engine behind every mode', () => {
    expect(() => assertProductionReady(production({ publicUrl: 'https://svc.example' }), [])).not.toThrow()
  })

  test('asks nothing of development', () => {
    expect(() => assertProductionReady(loadConfig({ production: false }), ['fast'])).not.toThrow()
  })
})
