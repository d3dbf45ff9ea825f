// SQLite only: what the command asks and says; the rotation is tested with the app on both.
import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cliHere } from '../support/cli'
import { fakeIo, type Line } from '../support/io'
import { temporaryFolder } from '../support/temporary-folder'

const root = temporaryFolder('svc-keyring-cli-')
const run = (line: Line, stdin = '', folder = 'data') =>
  cliHere({ io: fakeIo({ stdin }), env: { SVC_NO_INPUT: '1' } }, '--data-dir', join(root, folder))(line)

test('keyring says what the master key protects, and rotates it only when its word is typed', async () => {
  expect((await run('keyring status')).exitCode).toBe(5)
  await run('migrate up')
  await run(['keys', 'create', '--name', 'first', '--secret-to', join(root, 'key')])
  const before = await run('keyring status --json')
  expect({ exitCode: before.exitCode, stdout: JSON.parse(before.stdout) }).toMatchObject({
    exitCode: 0,
    stdout: { version: 1, fits: true },
  })
  expect((await run('keyring rotate --dry-run --exit-code')).exitCode).toBe(10)
  expect((await run('keyring rotate')).exitCode).toBe(2)
  const short = ['keyring', 'rotate', '--confirm', 'rotate', '--from-file', '-']
  expect((await run(short, 'c2hvcnQ=')).stderr).toContain('contains 5 bytes in base64; a master key has 32')
  writeFileSync(join(root, 'next'), Buffer.alloc(32, 5).toString('base64'))
  const rotated = await run(['keyring', 'rotate', '--confirm', 'rotate', '--from-file', join(root, 'next'), '--json'])
  expect(JSON.parse(rotated.stdout)).toMatchObject({ version: 2, old: join(root, 'data/secrets.v1.json') })
  expect(rotated.stdout + rotated.stderr).not.toContain('BQUF')
  expect((await run('verify')).exitCode).toBe(0)
  expect((await run('keys list')).stdout).toContain('first')
})

test('with a master key it wraps the secrets of the database with the first one', async () => {
  const [old, next] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString('base64'))
  const settings = join(root, 'svc.server.json')
  const wrapped = (line: string, masterKey: string) => {
    writeFileSync(settings, JSON.stringify({ masterKey }), { mode: 0o600 })
    return run([...line.split(' '), '--config', settings], '', 'wrapped')
  }
  await wrapped('migrate up', old!)
  await wrapped('keys create --name first --secret-to -', old!)
  const before = JSON.parse((await wrapped('keyring status --json', old!)).stdout)
  expect(before).toMatchObject({ file: null, fits: true, wrapped_by: expect.stringMatching(/^[0-9a-f]{8}$/) })
  expect((await wrapped('keyring rotate --dry-run --exit-code', old!)).exitCode).toBe(10)
  const same = await wrapped('keyring rotate --confirm rotate', old!)
  expect(same).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('put the new key before the old one') })
  const rotated = await wrapped('keyring rotate --confirm rotate --json', `${next},${old}`)
  expect(JSON.parse(rotated.stdout)).toMatchObject({ fits: true, old: before.wrapped_by })
  expect((await wrapped('keyring status', old!)).stderr).toContain('are wrapped by master key')
  expect((await wrapped('keys list', next!)).stdout).toContain('first')
  expect((await wrapped('doctor secrets', next!)).stdout).toContain('in the database, wrapped by the master key')
})
