import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundled, RELEASE_FACTS } from '../../src/app/bundle'
import { hashOf } from '../../src/app/release'
import { cleanEnv, devKeyOf, type ServerProcess, startServerProcess } from '../support/server-process'

const LAUNCHER = join(import.meta.dir, '../../svc-admin')
const folder = mkdtempSync(join(tmpdir(), 'svc-binary-'))
const dataDir = join(folder, 'data')
const serve = [LAUNCHER, 'serve', '--dev']
let server: ServerProcess

const start = (port?: number) =>
  startServerProcess({ dataDir, cwd: folder, command: serve, ...(port === undefined ? {} : { port }) })

beforeAll(async () => {
  server = await start()
})
afterAll(async () => {
  await server.kill()
  rmSync(folder, { recursive: true, force: true })
})

/** svc-admin as a person in that folder would run it, in a pipe. */
function run(...args: string[]) {
  const child = Bun.spawnSync([LAUNCHER, ...args], { cwd: folder, env: cleanEnv(), stdin: 'ignore' })
  return { exitCode: child.exitCode, stdout: child.stdout.toString(), stderr: child.stderr.toString() }
}

const shell = (line: string) =>
  Bun.spawnSync(['sh', '-c', line], { cwd: folder, env: cleanEnv({ A: LAUNCHER }), stdin: 'ignore' })

describe('with a server', () => {
  test('finds it over the socket, which only its owner may use', () => {
    const { exitCode, stdout } = run('status', '--json')
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      transport: 'socket',
      health: 'healthy',
      mode: 'dev',
      api_url: server.url,
    })
    expect(statSync(join(dataDir, 'ops.sock')).mode & 0o777).toBe(0o600)
  })

  test('tries a prompt with the key that the first run left', () => {
    const { exitCode, stdout, stderr } = run('try', 'Count to five slowly')
    expect({ exitCode, answered: stdout.trim() !== '' }).toEqual({ exitCode: 0, answered: true })
    expect(stderr).toContain(`curl ${server.url}/api/v1/completions`)
  })

  test('prints a curl that works as pasted', () => {
    const [, call = ''] = run('try', 'Count to five slowly').stderr.split('same call:\n')
    const answer = shell(`${call.replace('curl ', 'curl -s ')}`)
    expect(JSON.parse(answer.stdout.toString())).toMatchObject({ object: 'completion', _cached: true })
  })

  test('has no colour, no escape and no cut in a pipe', () => {
    for (const line of [['keys', 'list'], ['status'], ['doctor'], ['engines', 'list'], ['help'], ['nonsense']]) {
      const { stdout, stderr } = run(...line)
      expect(stdout + stderr).not.toContain('\u001b')
    }
  })

  test('exits as documented, and never asks without a terminal', () => {
    expect(run('keys', 'get', 'no-such-key').exitCode).toBe(3)
    expect(run('keys', 'revoke', 'Dev laptop', '--reason', 'x')).toMatchObject({ exitCode: 2, stdout: '' })
    expect(run('engines', 'add', 'x', '--base-url', 'http://127.0.0.1:9')).toMatchObject({ exitCode: 2, stdout: '' })
    expect(run('keys', 'list', '--url', server.url).exitCode).toBe(4)
    const asTenant = ['--url', server.url, '--key-file', join(dataDir, 'dev-key')]
    expect(run('users', 'list', ...asTenant)).toMatchObject({ exitCode: 4, stdout: '' })
    expect(run('keys', 'list', '--url', 'http://127.0.0.1:9', '--key-file', join(dataDir, 'dev-key')).exitCode).toBe(7)
    expect(run('keys', 'list', '--url', 'http://svc.example').exitCode).toBe(2)
  })

  test('refuses to open the data beside it', () => {
    const { exitCode, stderr } = run('status', '--local')
    expect(exitCode).toBe(5)
    expect(stderr).toMatch(/^error: The server \(pid \d+\) is using .*\nfix: {3}leave out --local/)
    const live = run('limits', 'show', 'Dev laptop', '--local')
    expect(live.exitCode).toBe(7)
    expect(live.stderr).toStartWith('error: limits show needs a running server, but --local was given.')
  })

  test('pipes a secret and nothing else', () => {
    const piped = shell('"$A" keys create --name piped -q --secret-to - | tr -d "\\n"')
    expect(piped.stdout.toString()).toMatch(/^svc_sk_live_[0-9A-Za-z]{48}$/)
    expect(piped.stderr.toString()).toBe('')
  })

  test('ends quietly when the reader of its pipe has gone', () => {
    const { stderr, exitCode } = shell('"$A" commands --json | head -n 1')
    expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: '' })
  })

  test('works over --url with an API key in a file', () => {
    const { exitCode, stdout } = run('keys', 'list', '--url', server.url, '--key-file', 'data/dev-key', '--json')
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout).length).toBeGreaterThan(0)
  })

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s ends a watch with %i', async (signal, code) => {
    const child = Bun.spawn([LAUNCHER, 'status', '--watch', '-o', 'jsonl'], {
      cwd: folder,
      env: cleanEnv(),
      stdout: 'pipe',
      stderr: 'ignore',
    })
    for await (const _first of child.stdout) break
    child.kill(signal)
    expect(await child.exited).toBe(code)
  })

  test('version tells the release, and the hash of the document that the server has', async () => {
    const { openapi, ...facts } = JSON.parse(run('version', '--json').stdout)
    expect(facts).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      commit: expect.stringMatching(/^([0-9a-f]{40}|unknown)$/),
      bun: Bun.version,
      platform: `${process.platform}-${process.arch}`,
      migrations: JSON.parse(run('migrate', 'status', '--json').stdout).known,
    })
    const document = await (await fetch(`${server.url}/openapi.json`)).json()
    expect(openapi).toBe(bundled(RELEASE_FACTS) ? hashOf(document) : 'unknown')
  })
})

describe('without a server', () => {
  test('stops on SIGTERM with 0, and takes its socket along', async () => {
    expect(await server.stop()).toBe(0)
    expect(existsSync(join(dataDir, 'ops.sock'))).toBe(false)
  })

  test('opens the data itself, and says so', () => {
    const stopped = { transport: 'local', api_url: null, health: 'not running', pid: null, started_at: null }
    expect(JSON.parse(run('status', '--json').stdout)).toMatchObject({ ...stopped, nodes: { count: 0 } })
    expect(run('try', 'Say hello').stderr).toContain('No server is running, so this command ran the request itself.')
    expect(run('status', '--check', '-q').exitCode).toBe(9)
    expect(run('keys', 'create', '--name', 'offline', '-q').stdout).toStartWith('svc_sk_live_')
    expect(run('try', 'Say hello', '-q').exitCode).toBe(0)
  })

  test.each([
    [['try', 'Hello']],
    [['keys', 'list']],
    [['keys', 'create', '--name', 'lost']],
    [['engines', 'add', 'main', '--base-url', 'http://127.0.0.1:9/v1', '--no-key']],
    [['status']],
    [['backup', 'create']],
  ])('creates nothing where there is no server, and says what to do (%p)', (line) => {
    const env = cleanEnv({ SVC_DATA_DIR: join(folder, 'begun') })
    const named = run(...line, '--data-dir', 'dta')
    const configured = Bun.spawnSync([LAUNCHER, ...line], { cwd: folder, env, stdin: 'ignore' })
    expect({ exitCode: named.exitCode, stdout: named.stdout }).toEqual({ exitCode: 7, stdout: '' })
    expect(named.stderr).toStartWith(
      'error: There is no server here: there is no data folder at dta.\nfix:   cd to the folder of the server, or add --data-dir or --url;',
    )
    expect(configured.exitCode).toBe(7)
    expect(configured.stderr.toString()).toContain('there is no data folder at begun.')
    expect(['dta', 'begun'].filter((name) => existsSync(join(folder, name)))).toEqual([])
  })

  test('verifies a copy of the data folder', () => {
    cpSync(dataDir, join(folder, 'copy'), { recursive: true })
    expect(run('verify', '--data-dir', 'copy').exitCode).toBe(0)
    expect(readFileSync(join(dataDir, 'dev-key'), 'utf8').trim()).toBe(devKeyOf(dataDir))
  })

  test('sees through the socket that a killed server left', async () => {
    server = await start(server.port)
    await server.kill()
    expect(existsSync(join(dataDir, 'ops.sock'))).toBe(true)
    expect(JSON.parse(run('status', '--json').stdout)).toMatchObject({ transport: 'local' })
    const { stdout } = run('doctor', 'operator socket', '--json')
    expect(JSON.parse(stdout)).toEqual([expect.objectContaining({ status: 'warn' })])
    expect(run('verify', '-q')).toMatchObject({ exitCode: 0, stdout: '' })
  })

  test('in production refuses to serve until everything is right, says all of it, and lets itself be mended', () => {
    const place = ['--data-dir', join(folder, 'production')]
    const { exitCode, stdout, stderr } = run('serve', '--production', '--port', '0', ...place)
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(stderr).toContain('SVC_PUBLIC_URL')
    expect(stderr).toContain('svc-admin engines add')
    const env = cleanEnv({ NODE_ENV: 'production', SVC_DATA_DIR: join(folder, 'production') })
    const line = ['keys', 'create', '--name', 'first', '-q']
    const there = (...words: string[]) => Bun.spawnSync([LAUNCHER, ...words], { cwd: folder, env, stdin: 'ignore' })
    expect(there(...line).stderr.toString()).toContain('svc-admin migrate up creates a new server')
    expect(there('migrate', 'up').exitCode).toBe(0)
    expect(there(...line).stdout.toString()).toStartWith('svc_sk_live_')
  })

  test('with --migrate check refuses a database that is behind, and names the command', () => {
    const place = ['--data-dir', join(folder, 'behind')]
    const { exitCode, stderr } = run('serve', '--dev', '--migrate', 'check', '--port', '0', ...place)
    expect(exitCode).toBe(1)
    expect(stderr).toContain('svc-admin migrate up')
  })

  test('brings an empty folder to the schema, and plans it first', () => {
    const empty = ['--data-dir', join(folder, 'empty')]
    expect(run('migrate', 'status', '--check', '-q', ...empty).exitCode).toBe(9)
    expect(run('migrate', 'plan', ...empty).stdout).toContain('CREATE TABLE `api_keys`')
    expect(run('migrate', 'up', '--dry-run', '--exit-code', ...empty).exitCode).toBe(10)
    const { applied, known, pending } = JSON.parse(run('migrate', 'up', '--json', ...empty).stdout)
    expect({ applied, pending }).toEqual({ applied: known, pending: [] })
    expect(run('migrate', 'status', '--check', '-q', ...empty).exitCode).toBe(0)
    expect(statSync(join(folder, 'empty/svc.db')).mode & 0o777).toBe(0o600)
  })
})
