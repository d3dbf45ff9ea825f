import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../src/app/config'
import { start } from '../../src/app/start'
import { createLog } from '../../src/kernel/log'
import { cliHere } from '../support/cli'
import { type CliOptions, cli, fakeIo, type Line } from '../support/io'

const root = mkdtempSync(join(tmpdir(), 'svc-profiles-'))
const log = createLog({ level: 'silent', pretty: false, write: () => undefined })
const server = await start({
  config: loadConfig({ dataDir: join(root, 'data'), port: 0, opsListen: '127.0.0.1:0' }),
  log,
})
afterAll(async () => {
  await server.stop()
  rmSync(root, { recursive: true, force: true })
})

let homes = 0
/** Someone at a keyboard of their own. */
function person() {
  const home = join(root, `home-${++homes}`)
  const run = (line: Line, { env = {}, ...rest }: CliOptions = {}) =>
    cliHere({ ...rest, env: { XDG_CONFIG_HOME: home, ...env } })(line)
  const { json } = cliHere({ env: { XDG_CONFIG_HOME: home } })
  return { home, run, json, file: join(home, 'svc-admin/config.json') }
}
const keyFile = join(root, 'api.key')
writeFileSync(keyFile, `${server.seed!.key}\n`)
const add = (name: string, ...rest: string[]) =>
  ['profiles', 'add', name, server.url, '--key-from-file', keyFile].concat(rest)

describe('a profile', () => {
  test('is the server that commands go to, with its key, once it is added', async () => {
    const ada = person()
    expect((await ada.run(add('mine'))).exitCode).toBe(0)
    const { exitCode, stderr } = await ada.run('keys list')
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: `profile mine: ${server.url}\n` })
    expect(JSON.parse((await ada.run('keys list --json')).stdout)[0].name).toBe('Dev laptop')
  })

  test('keeps its key apart, for its owner only, and never shows it', async () => {
    const ada = person()
    const { stdout } = await ada.run([...add('mine', '--production'), '--json'])
    const shown = await ada.json('profile show')
    expect(shown).toEqual({ name: 'mine', url: server.url, production: true, org: null, active: true })
    for (const text of [stdout, JSON.stringify(shown), readFileSync(ada.file, 'utf8')])
      expect(text).not.toContain(server.seed!.key)
    for (const path of [ada.file, join(ada.home, 'svc-admin/keys/mine')])
      expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  test('is named by --profile and SVC_PROFILE; the one in use is changed with use', async () => {
    const ada = person()
    await ada.run(add('one'))
    await ada.run(['profiles', 'add', 'two', 'https://two.invalid', '--key-from-file', keyFile])
    for (const [line, env] of [
      [['--profile', 'one'], {}],
      [[], { SVC_PROFILE: 'one' }],
    ] as const) {
      await ada.run('profiles use two')
      expect((await ada.run(['keys', 'list', ...line], { env })).stderr).toBe(`profile one: ${server.url}\n`)
    }
    expect((await ada.run('profiles use one')).stderr).toBe(
      'profile one is in use (undo: svc-admin profiles use two)\n',
    )
    expect(
      (await ada.json('profiles list')).map(({ name, active }: Record<string, unknown>) => [name, active]),
    ).toEqual([
      ['one', true],
      ['two', false],
    ])
  })

  test('gives way to a server on the command line, and to none', async () => {
    const ada = person()
    await ada.run(['profiles', 'add', 'away', 'https://away.invalid', '--key-from-file', keyFile])
    const here = ['keys', 'list', '--url', server.url, '--key-file', keyFile]
    expect((await ada.run(here)).stderr).toBe(`server: ${server.url}\n`)
    await ada.run('profiles use none')
    expect((await ada.run('profiles show')).stderr).toContain('No profile is in use')
    expect((await ada.run(['keys', 'list', '--socket', server.socket])).exitCode).toBe(0)
  })

  test.each(['--json', '--output=jsonl'])('is not named with %s, where stderr is the error alone', async (format) => {
    const ada = person()
    const here = ['--url', server.url, '--key-file', keyFile, format]
    expect((await ada.run(['keys', 'list', ...here])).stderr).toBe('')
    const { stderr } = await ada.run(['keys', 'get', crypto.randomUUID(), ...here])
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'not_found' }, exit_code: 3 })
  })

  test('is not for what works on this machine, which would be changed in its place', async () => {
    const ada = person()
    await ada.run(add('mine'))
    for (const [line, flag] of [
      [['config', 'set', 'port', '9999', '--url', server.url], '--url'],
      [['migrate', 'status', '--profile', 'mine'], '--profile'],
    ] as const) {
      const { exitCode, stderr } = await ada.run([...line])
      expect(exitCode).toBe(2)
      expect(stderr).toContain(`${line[0]} ${line[1]} works only on this machine.\nfix:   leave out ${flag}\n`)
    }
    expect((await ada.run('version')).exitCode).toBe(0)
    expect((await ada.run(`help exit-codes --url ${server.url}`)).exitCode).toBe(0)
  })

  test('that matters is named in red', async () => {
    const ada = person()
    await ada.run(add('prod', '--production'))
    const { stderr } = await ada.run('keys list --color always', { io: fakeIo() })
    expect(stderr.startsWith('\u001b[')).toBe(true)
    expect(stderr).toContain('profile prod: ')
  })

  test('acts in the org it was added with', async () => {
    const ada = person()
    await ada.run(add('org', '--org', 'dev'))
    expect(await ada.json('profiles show org')).toMatchObject({ org: 'dev' })
  })

  test('is forgotten with its key', async () => {
    const ada = person()
    await ada.run(add('mine'))
    expect((await ada.run('profiles remove mine')).exitCode).toBe(2)
    expect((await ada.run('profiles remove mine -y')).exitCode).toBe(0)
    expect(await ada.json('profiles list')).toEqual([])
    expect(() => statSync(join(ada.home, 'svc-admin/keys/mine'))).toThrow()
  })

  const refusals: [string, string[], number][] = [
    ['a name with a path in it', ['profiles', 'add', '../x', 'https://a.example', '--key-from-file', keyFile], 2],
    ['an address without TLS', ['profiles', 'add', 'a', 'http://a.example', '--key-from-file', keyFile], 2],
    ['no key', ['profiles', 'add', 'a', 'https://a.example'], 2],
    ['two servers', ['keys', 'list', '--profile', 'a', '--url', 'https://b.example'], 2],
    ['one that is not there', ['keys', 'list', '--profile', 'nobody'], 3],
    ['one to use that is not there', ['profiles', 'use', 'nobody'], 3],
  ]
  test.each(refusals)('refuses %s', async (_, line, exitCode) => {
    expect((await person().run(line)).exitCode).toBe(exitCode)
  })

  test('stand beside the keys of the dashboard, which are kept and checked', async () => {
    const { run, file } = person()
    await run(add('one'))
    const stored = JSON.parse(readFileSync(file, 'utf8'))
    writeFileSync(file, JSON.stringify({ ...stored, tui: { keys: { 'jobs.stop': 'x' } } }))
    await run(add('two'))
    expect(JSON.parse(readFileSync(file, 'utf8')).tui).toEqual({ keys: { 'jobs.stop': 'x' } })
    const { exitCode, stderr } = await run('dashboard --screen-reader')
    expect(exitCode).toBe(2)
    expect(stderr).toContain('There is no action "jobs.stop"')
    expect((await run('dashboard --screen-reader --refresh 11s')).stderr).toContain('1s to 10s')
  })

  test('needs a home', async () => {
    const { exitCode, stderr } = await cli(add('mine'), { env: {} })
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining('There is no home folder') })
  })
})

test('doctor looks into the folder of the server that --socket names, and says so', async () => {
  const ada = person()
  const names = ['secrets', 'migrations', 'database', 'operator socket']
  const requests = ['doctor', ...names, '--socket', server.socket]
  const found: { check: string; status: string; detail: string }[] = await ada.json(requests)
  expect(found.map(({ check, status }) => [check, status])).toEqual(names.map((name) => [name, 'ok']))
  expect(found[0]!.detail).toContain(join(root, 'data', 'secrets.json'))
  expect((await ada.run(requests)).stdout).toStartWith(
    `The server at ${server.socket}, data folder ${join(root, 'data')}.`,
  )
})
