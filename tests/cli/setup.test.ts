// SQLite only: files of a machine, and a document that the dialect does not change.
import { expect, test } from 'bun:test'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openConnection } from '../../cli/open'
import { systemClock } from '../../src/kernel/clock'
import { cliOver } from '../support/cli'
import { cli } from '../support/io'
import { temporaryFolder } from '../support/temporary-folder'
import { createWorld } from '../support/world'

const root = temporaryFolder('svc-setup-')
const run = (...line: string[]) => cli(line, { clock: systemClock, open: openConnection })
const world = await createWorld()
const modeOf = (path: string) => statSync(path).mode & 0o777

test('init writes a configuration and secrets once, and keeps what is there', async () => {
  const [file, secrets] = [join(root, 'new/svc.server.json'), join(root, 'new/data/secrets.json')]
  const order = ['init', join(root, 'new'), '--port', '3411', '--public-url', 'https://svc.example', '--json']
  const planned = await run(...order, '--dry-run', '--exit-code')
  expect({ exitCode: planned.exitCode, exists: existsSync(file) }).toEqual({ exitCode: 10, exists: false })
  const made = await run(...order)
  expect(made.exitCode).toBe(0)
  expect(JSON.parse(made.stdout).made).toEqual([file, secrets])
  expect({ file: modeOf(file), secrets: modeOf(secrets) }).toEqual({ file: 0o600, secrets: 0o600 })
  const stored = readFileSync(secrets, 'utf8')
  expect(JSON.parse((await run('config', 'get', 'port', '--config', file, '--json')).stdout).value).toBe('3411')

  expect((await run(...order)).exitCode).toBe(5)
  const again = await run('init', join(root, 'new'), '--production', '--json')
  expect({ exitCode: again.exitCode, made: JSON.parse(again.stdout).made }).toEqual({ exitCode: 0, made: [] })
  expect(again.stderr).toContain('public url  svc-admin config set publicUrl')
  expect(JSON.parse((await run('init', join(root, 'new'), '--force', '--yes', '--json')).stdout).made).toEqual([file])
  expect(readFileSync(secrets, 'utf8')).toBe(stored)
})

test('init refuses what the server would, and --print writes nothing', async () => {
  const wrong = await run('init', join(root, 'wrong'), '--public-url', 'no address')
  expect({ exitCode: wrong.exitCode, exists: existsSync(join(root, 'wrong')) }).toEqual({ exitCode: 1, exists: false })
  expect(JSON.parse((await run('init', join(root, 'printed'), '--print', '--port', '3412')).stdout).port).toBe(3412)
  expect(existsSync(join(root, 'printed'))).toBe(false)
})

test('openapi prints the document, and says where a file differs', async () => {
  const over = cliOver(world)
  const file = join(root, 'openapi.json')
  expect((await over(['openapi', '--out', file])).exitCode).toBe(0)
  const same = await over(['openapi', '--check', file])
  expect({ exitCode: same.exitCode, stdout: same.stdout }).toEqual({ exitCode: 0, stdout: '' })
  const document = JSON.parse(readFileSync(file, 'utf8'))
  document.paths['/gone'] = { get: {} }
  const reads = Object.keys(document.paths).filter((path) => document.paths[path].get)
  const [first, second] = [reads[0]!, reads[1]!]
  delete document.paths[first].get
  document.paths[second].get.summary = 'Otherwise'
  writeFileSync(file, JSON.stringify(document))
  const other = await over(['openapi', '--check', file])
  expect({ exitCode: other.exitCode, stdout: other.stdout.split('\n').toSorted().slice(1) }).toEqual({
    exitCode: 10,
    stdout: [`changed  GET ${second}`, 'gone     GET /gone', `missing  GET ${first}`],
  })
})

test('doctor --fix repairs modes, and --bundle reports without secrets', async () => {
  const folder = join(root, 'sick')
  await run('init', folder)
  const [config, data] = [join(folder, 'svc.server.json'), join(folder, 'data')]
  writeFileSync(config, JSON.stringify({ dataDir: data, databaseUrl: 'postgres://u:canary-word@127.0.0.1:9/x' }))
  chmodSync(join(data, 'secrets.json'), 0o644)
  chmodSync(data, 0o755)
  const checks = ['secrets', 'files', '--config', config]
  expect((await run('doctor', ...checks)).exitCode).toBe(9)
  expect((await run('doctor', ...checks, '--fix', '--dry-run')).stderr).toContain('chmod 600')
  expect((await run('doctor', ...checks, '--fix')).exitCode).toBe(2)
  expect(modeOf(join(data, 'secrets.json'))).toBe(0o644)

  const report = join(root, 'report.tgz')
  const repaired = await run('doctor', ...checks, '--fix', '--yes', '--bundle', report)
  expect(repaired.exitCode).toBe(0)
  expect(modeOf(join(data, 'secrets.json'))).toBe(0o600)
  expect(modeOf(data)).toBe(0o700)
  expect(repaired.stderr).toContain('doctor.json')
  const files = await new Bun.Archive(await Bun.file(report).bytes()).files()
  expect([...files.keys()].toSorted()).toEqual([
    'doctor.json',
    'requests.json',
    'settings.json',
    'status.json',
    'versions.json',
  ])
  const text = (await Promise.all([...files.values()].map((file) => file.text()))).join('\n')
  expect(text).toContain('"secrets"')
  expect(text).not.toContain('canary-word')
})
