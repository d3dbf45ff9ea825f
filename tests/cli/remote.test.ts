import { afterAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../src/app/config'
import { lockDataDir } from '../../src/app/lock'
import { start } from '../../src/app/start'
import { createLog } from '../../src/kernel/log'
import { cliHere } from '../support/cli'

const root = mkdtempSync(join(tmpdir(), 'svc-remote-'))
const dataDir = join(root, 'data')
const log = createLog({ level: 'silent', pretty: false, write: () => undefined })
const server = await start({ config: loadConfig({ dataDir, port: 0, opsListen: '127.0.0.1:0' }), log })
const stranger = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('<html>hello</html>') })
afterAll(async () => {
  await server.stop()
  await stranger.stop(true)
  rmSync(root, { recursive: true, force: true })
})

const run = cliHere({ env: { XDG_CONFIG_HOME: join(root, 'home') } })
/** Without a profile. */
const here = { env: { XDG_CONFIG_HOME: join(root, 'here') } }

test('a dead address is named before a missing key is', async () => {
  for (const command of [['status'], ['try', 'hi']]) {
    const { exitCode, stderr } = await run([...command, '--url', 'http://127.0.0.1:9'], here)
    expect(exitCode).toBe(7)
    expect(stderr).toContain('The server at http://127.0.0.1:9 does not answer (')
  }
})

const opKey = join(root, 'op.key')
const { stdout } = await run(`operators add monitor --role viewer -q --secret-to - --data-dir ${dataDir}`)
writeFileSync(opKey, stdout, { mode: 0o600 })
const away = (url: string, ...line: string[]) => run([...line, '--url', url, '--key-file', opKey])

describe('from another machine', () => {
  test('status --check says yes of a healthy server', async () => {
    const { exitCode, stdout, stderr } = await away(server.opsUrl!, 'status', '--check')
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^transport +remote$/m)
    expect(stderr).toMatch(/^up for /m)
    expect(stderr).not.toContain('No server is running')
  })

  test('doctor asks the server, and says nothing about it from the files of this machine', async () => {
    const { stdout } = await away(server.opsUrl!, 'doctor', '--json')
    const found = JSON.parse(stdout) as { check: string; status: string; detail: string }[]
    const requests = found.filter(({ status }) => status !== 'skip').map(({ check }) => check)
    expect(requests).toEqual(['database', 'clock', 'engines', 'webhooks out', 'ledger', 'audit chain', 'backups'])
    expect(found.find(({ check }) => check === 'operator socket')!.detail).toBe(
      'checks the machine of the server; run it there',
    )
  })

  test('what is no svc server is called that', async () => {
    const url = `http://127.0.0.1:${stranger.port}`
    const { exitCode, stdout, stderr } = await away(url, 'keys', 'list')
    expect({ exitCode, stdout }).toEqual({ exitCode: 7, stdout: '' })
    expect(stderr).toContain(`error: The server at ${url} is not an svc server.`)
  })

  test('an operator at the address of the API learns where operators are served', async () => {
    const { exitCode, stderr } = await away(server.url, 'users', 'list')
    expect(exitCode).toBe(3)
    expect(stderr).toContain('error: This is the address of the API; operators use another address.')
    expect(stderr).toContain('fix:   use --url with the address of SVC_OPS_LISTEN')
  })

  test('a profile keeps the key of --key-file, as of --key-from-file', async () => {
    expect((await away(server.opsUrl!, 'profiles', 'add', 'far', server.opsUrl!)).stderr).toBe('')
    expect((await run('keys list --profile far --json')).exitCode).toBe(0)
  })

  test('a dry run is refused where the change would be, and says what it would do to who may', async () => {
    const grant = ['credits', 'grant', 'acme', '5.00', '--reason', 'a test', '--dry-run']
    expect(await away(server.opsUrl!, ...grant)).toMatchObject({
      exitCode: 4,
      stderr: expect.stringContaining('The role viewer cannot run credits grant'),
    })
    const rolesOf = { billing: grant, reviewer: ['skills', 'disable', 'x', '--reason', 'a test', '--dry-run'] }
    for (const [role, line] of Object.entries(rolesOf)) {
      const file = join(root, `${role}.key`)
      await run(['operators', 'add', role, '--role', role, '-q', '--secret-to', file, '--data-dir', dataDir], here)
      const request = async (words: string[]) =>
        (await run([...words, '--url', server.opsUrl!, '--key-file', file, '--yes'])).exitCode
      expect(await request(line)).toBe(0)
      expect(await request(['keys', 'revoke', 'x', '--reason', 'a test', '--dry-run'])).toBe(4)
    }
    expect((await away(server.opsUrl!, 'status')).stdout).toMatch(/^role +viewer$/m)
  })
})

test('on its own machine doctor says where the running server listens, not where this shell would', async () => {
  const { stdout } = await run(`doctor port --data-dir ${dataDir}`, here)
  expect(stdout).toContain(`${server.url}, the server of this data folder`)
})

test('while a server starts, a command says so', async () => {
  const starting = join(root, 'starting')
  mkdirSync(starting)
  const lock = lockDataDir(starting)
  try {
    const { exitCode, stderr } = await run(['keys', 'list', '--data-dir', starting], here)
    expect(exitCode).toBe(7)
    expect(stderr).toMatch(/\(pid \d+\) is using .*; it is starting or stopping/)
    expect(stderr).not.toContain('--local')
  } finally {
    lock.release()
  }
})
