// SQLite only: files of this machine; no database is opened.
import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cli } from '../support/io'
import { temporaryFolder } from '../support/temporary-folder'

const folder = temporaryFolder('svc-config-change-')
const fresh = (name: string) => join(folder, name)
const on = (file: string, ...line: string[]) => cli(['config', ...line], { env: { SVC_CONFIG: file } })
const saved = (file: string) => JSON.parse(readFileSync(file, 'utf8'))

describe('config set', () => {
  test('makes the file that SVC_CONFIG names and is not there, for its owner only', async () => {
    const file = fresh('new/svc.server.json')
    expect((await on(file, 'list')).stderr).toContain('Create it with svc-admin config set NAME VALUE')
    const { exitCode, stderr } = await on(file, 'set', 'SVC_PORT', '3500')
    expect({ exitCode, stderr: stderr.startsWith(`Written to ${file}.`) }).toEqual({ exitCode: 0, stderr: true })
    expect(saved(file)).toEqual({ port: 3500 })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    await on(file, 'set', 'publicUrl', 'https://svc.example')
    expect((await on(file, 'get', 'publicUrl')).stdout).toBe('https://svc.example\n')
    expect((await on(file, 'unset', 'port')).exitCode).toBe(0)
    expect(saved(file)).toEqual({ publicUrl: 'https://svc.example' })
  })

  test.each<[string, string[], number, RegExp]>([
    ['a value that is wrong', ['set', 'port', 'high'], 1, /"port" in svc\.server\.json is "high"/],
    ['a name that is none', ['set', 'prot', '1'], 2, /Did you mean port\?/],
    ['a secret on the command line', ['set', 'redisUrl', 'redis://:canary@h'], 2, /redisUrl is a secret/],
    ['two values', ['set', 'port', '1', '--from-file', 'x'], 2, /Two values/],
  ])('refuses %s and writes nothing', async (_, line, code, words) => {
    const file = fresh('kept.json')
    writeFileSync(file, '{"port": 3401}')
    const { exitCode, stdout, stderr } = await on(file, ...line)
    expect({ exitCode, stdout }).toEqual({ exitCode: code, stdout: '' })
    expect(stderr).toMatch(words)
    expect(saved(file)).toEqual({ port: 3401 })
  })

  test('keeps comments, and with --dry-run everything', async () => {
    const file = fresh('comments.json')
    writeFileSync(file, '{\n  // ours\n  "port": 3401\n}')
    const { exitCode, stderr } = await on(file, 'set', 'host', '0.0.0.0')
    expect({ exitCode, hasComments: stderr.includes('has comments') }).toEqual({ exitCode: 5, hasComments: true })
    expect(readFileSync(file, 'utf8')).toContain('// ours')
    const dry = fresh('dry.json')
    expect((await on(dry, 'set', 'port', '1', '--dry-run', '--exit-code')).exitCode).toBe(10)
    expect(existsSync(dry)).toBe(false)
  })

  test('takes a secret from a file, and shows it nowhere', async () => {
    const [file, from] = [fresh('secret.json'), fresh('redis.txt')]
    writeFileSync(from, 'redis://:canary-word@h:6379\n')
    const { stdout, stderr } = await on(file, 'set', 'redisUrl', '--from-file', from, '--debug')
    expect(saved(file).redisUrl).toBe('redis://:canary-word@h:6379')
    expect(stdout + stderr + (await on(file, 'get', 'redisUrl')).stdout).not.toContain('canary-word')
  })
})

describe('config check and path', () => {
  test('say every problem with exit 9, and where the file is', async () => {
    const file = fresh('broken.json')
    writeFileSync(file, '{"port": "high", "prot": 1}')
    const { exitCode, stdout } = await on(file, 'check', '--json')
    expect({ exitCode, stdout: JSON.parse(stdout).length }).toEqual({ exitCode: 9, stdout: 2 })
    expect((await on(file, 'path')).stdout).toBe(`${file}\n`)
  })

  test('with --production list what a start would refuse', async () => {
    const file = fresh('fine.json')
    writeFileSync(file, '{}')
    const { exitCode, stderr } = await on(file, 'check')
    expect(exitCode).toBe(0)
    expect(stderr).toContain('have no problems')
    const refused = await on(file, 'check', '--production', '--data-dir', fresh('empty'))
    expect(refused.exitCode).toBe(9)
    expect(refused.stdout).toMatch(/SVC_PUBLIC_URL is missing[\s\S]*built-in engine answers/)
  })
})

test('what --user keeps is below the file and above the default', async () => {
  const [home, file] = [fresh('home'), fresh('own.json')]
  writeFileSync(file, '{"host": "0.0.0.0"}')
  const on = (...line: string[]) => cli(['config', ...line], { env: { SVC_CONFIG: file, XDG_CONFIG_HOME: home } })
  const path = join(home, 'svc-admin', 'svc.server.json')
  expect((await on('path', '--user')).stdout).toBe(`${path}\n`)
  expect((await on('set', 'port', '3700', '--user')).stderr).toContain(`Written to ${path}.`)
  expect((await on('set', 'host', '127.0.0.2', '--user')).stderr).toContain(`${file} sets it too, and overrides`)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(JSON.parse((await on('list', '--changed', '--json')).stdout)).toMatchObject([
    { name: 'port', value: '3700', origin: 'user file' },
    { name: 'host', value: '0.0.0.0', origin: 'file' },
  ])
  expect((await on('unset', 'port', '--user')).exitCode).toBe(0)
  expect((await on('get', 'port')).stdout).toBe('3400\n')
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ host: '0.0.0.0' })
})
