// SQLite only: a copy of Postgres needs pg_dump, and which backups there are is the same.
import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { sweepUnfinished } from '../../src/operators'
import { cliOver } from '../support/cli'
import { fakeClock } from '../support/clock'
import { startS3 } from '../support/s3'
import { temporaryFolder } from '../support/temporary-folder'
import { createWorld } from '../support/world'

const clock = fakeClock()
const world = await createWorld({ clock })
const run = cliOver(world, { clock })
const folder = temporaryFolder('svc-backup-list-')
const paths = async () =>
  (JSON.parse((await run('backup list --json')).stdout) as { path: string }[]).map(({ path }) => path)
const make = async (...more: string[]): Promise<string> =>
  JSON.parse((await run(['backup', 'create', '--json', ...more])).stdout).path
const DAY = 86_400_000

test('backup list knows what was made, wherever it went; prune removes the old ones but never the newest', async () => {
  expect((await run('backup list')).stderr).toContain('There is no backup. Create one')
  const elsewhere = await make('--out', join(folder, 'monday'))
  clock.advance(10 * DAY)
  const inside = await make()
  expect(await paths()).toEqual([inside, elsewhere])

  const dry = await run('backup prune --keep 7d --dry-run --exit-code --json')
  expect(dry.exitCode).toBe(10)
  expect(JSON.parse(dry.stdout)).toHaveLength(1)
  expect(existsSync(elsewhere)).toBe(true)
  expect((await run('backup prune --keep 7d --no-input')).exitCode).toBe(2)
  expect((await run('backup prune --keep 7d --yes')).exitCode).toBe(0)
  expect({ exists: existsSync(elsewhere), paths: await paths() }).toEqual({ exists: false, paths: [inside] })
  clock.advance(100 * DAY)
  expect((await run('backup prune --keep 1d --yes')).stderr).toContain('No backup is that old')
  const { stdout } = await run('audit list server --action operator.* --json')
  expect(JSON.parse(stdout)[0]).toMatchObject({ action: 'operator.backups_pruned', entityId: 'backup' })
})

test('doctor sees a backup that --out put elsewhere', async () => {
  const path = await make('--out', join(folder, 'tuesday'))
  const { stdout } = await run(`doctor backups --json --data-dir ${world.config.dataDir}`)
  expect(JSON.parse(stdout)).toMatchObject([{ check: 'backups', status: 'ok', detail: expect.stringContaining(path) }])
})

test('a backup is restored into the folder that --into names, once', async () => {
  const path = await make('--out', join(folder, 'wednesday'))
  const into = join(folder, 'restored', 'data')
  const line = ['backup', 'restore', path, '--into', into]
  expect((await run([...line, '--dry-run'])).stderr).toContain(into)
  expect(existsSync(into)).toBe(false)
  expect((await run(line)).exitCode).toBe(0)
  expect(existsSync(join(into, 'svc.db'))).toBe(true)
  expect((await run(line)).exitCode).toBe(5)
  expect((await run([...line, '--confirm', 'date'])).exitCode).toBe(5)
  mkdirSync(join(into, 'audit'))
  expect(await run([...line, '--confirm', 'data'])).toMatchObject({
    exitCode: 0,
    stderr: expect.stringMatching(/The previous data is at .*svc\.db\.was-\d+\./),
  })
  expect(readdirSync(into).filter((name) => name.startsWith('svc.db'))).toHaveLength(2)
  // Its checkpoints would sign events that the backup does not have.
  expect(readdirSync(into).filter((name) => name.startsWith('audit'))).toEqual([
    expect.stringMatching(/^audit\.was-\d+$/),
  ])
})

test('a backup of a newer release is whole, with a warning, and refused before anything is there', async () => {
  const path = await make('--out', join(folder, 'newer'))
  const manifest = JSON.parse(readFileSync(join(path, 'manifest.json'), 'utf8'))
  const { migrations } = manifest
  expect(migrations).toBeGreaterThan(0)
  writeFileSync(join(path, 'manifest.json'), JSON.stringify({ ...manifest, migrations: 99 }))
  const checked = await run(`backup verify ${path}`)
  expect(checked).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('Restore it with the release that') })
  const into = join(folder, 'newer-data')
  const { exitCode, stderr } = await run(['backup', 'restore', path, '--into', into])
  expect({ exitCode, stderr }).toEqual({
    exitCode: 5,
    stderr: expect.stringContaining(`has 99 migrations, but this release has only ${migrations}.`),
  })
  expect(existsSync(join(into, 'svc.db'))).toBe(false)
})

test('a backup without artifacts is the database alone, and whole', async () => {
  const { stdout } = await run(['backup', 'create', '--no-artifacts', '--out', join(folder, 'thursday'), '--json'])
  expect(JSON.parse(stdout).files).toBeNull()
  expect((await run(['backup', 'verify', join(folder, 'thursday')])).exitCode).toBe(0)
})

test('a restore of tables or of files alone leaves the other part for another one', async () => {
  const person = await world.person()
  const sent = { prompt: '| quarter | sum |\n|---|---|\n| Q1 | 1 |', format: 'csv' }
  expect((await person.send('POST', 'documents', sent)).status).toBe(200)
  const path = await make('--out', join(folder, 'friday'))
  const into = join(folder, 'parts', 'data')
  const part = (only: string) => run(['backup', 'restore', path, '--into', into, '--only', only])
  expect((await part('tables')).exitCode).toBe(0)
  expect(existsSync(join(into, 'svc.db'))).toBe(true)
  expect(existsSync(join(into, 'files'))).toBe(false)
  expect((await part('tables')).exitCode).toBe(5)
  expect((await part('files')).exitCode).toBe(0)
  expect(readdirSync(join(into, 'files')).length).toBeGreaterThan(0)
  expect((await part('files')).exitCode).toBe(5)
  expect((await part('rows')).exitCode).toBe(2)
})

test('a backup goes into a bucket whole, is checked and restored from there, and pruned', async () => {
  const s3 = startS3()
  const account = { filesS3Endpoint: s3.endpoint, filesS3AccessKeyId: 'id', filesS3SecretAccessKey: 'secret' }
  const away = await createWorld({ clock, config: account })
  const config = join(folder, 'bucket.json')
  writeFileSync(config, JSON.stringify(account))
  const there = cliOver(away)
  const at = (...line: string[]) => there([...line, '--json', '--config', config], { clock })
  try {
    const person = await away.person()
    await person.send('POST', 'documents', { prompt: '| quarter | sum |\n|---|---|\n| Q1 | 1 |', format: 'csv' })
    const place = 's3://bucket/nightly/monday'
    expect(JSON.parse((await at('backup', 'create', '--out', place)).stdout)).toMatchObject({ path: place })
    expect([...s3.objects.keys()]).toContain('nightly/monday/manifest.json')
    expect((await at('backup', 'create', '--out', place)).exitCode).toBe(5)
    expect((await at('backup', 'create', '--out', 's3://b')).exitCode).toBe(2)
    expect((await at('backup', 'create', '--out', '/dev/null/x')).stderr).toContain('cannot be written to (ENOTDIR).')
    expect(JSON.parse((await at('backup', 'list')).stdout)).toMatchObject([{ path: place }])
    expect(JSON.parse((await at('backup', 'verify', place)).stdout)).toMatchObject({ ok: true, problems: [] })
    const into = join(folder, 'from-bucket', 'data')
    expect((await at('backup', 'restore', place, '--into', into)).exitCode).toBe(0)
    expect(existsSync(join(into, 'svc.db'))).toBe(true)

    s3.objects.get('nightly/monday/svc.db')!.bytes[200]! ^= 1
    expect((await at('backup', 'verify', place)).exitCode).toBe(9)
    expect((await at('backup', 'verify', 's3://bucket/nightly/none')).exitCode).toBe(9)
    clock.advance(10 * DAY)
    const [recipients, identity] = await ageKeys()
    const sealed = 's3://bucket/nightly/tuesday'
    await at('backup', 'create', '--out', sealed, '--encrypt-to', recipients)
    const sent = [...s3.objects.keys()].filter((key) => key.includes('tuesday')).sort()
    expect(sent).toEqual(['nightly/tuesday/backup.tar.age', 'nightly/tuesday/manifest.json'])
    expect((await at('backup', 'verify', sealed, '--identity', identity)).exitCode).toBe(0)
    expect(readdirSync(join(away.config.dataDir, 'outgoing'))).toEqual([])
    expect((await at('backup', 'prune', '--keep', '7d', '--yes')).exitCode).toBe(0)
    expect([...s3.objects.keys()].filter((key) => key.startsWith('nightly/monday'))).toEqual([])
    expect(JSON.parse((await at('backup', 'list')).stdout)).toHaveLength(1)
    s3.stop()
    const silent = await at('backup', 'list')
    expect({ exitCode: silent.exitCode, stdout: JSON.parse(silent.stdout) }).toEqual({ exitCode: 0, stdout: [] })
    expect(silent.stderr).toContain(`skipped: ${sealed}. The bucket of ${sealed} refused the request`)
    expect((await at('backup', 'restore', sealed)).exitCode).toBe(7)
  } finally {
    s3.stop()
  }
})

/** A file of recipients and one of the identity, as age-keygen writes them. */
async function ageKeys(): Promise<[string, string]> {
  const secret = await generateIdentity()
  const recipient = await identityToRecipient(secret)
  const names = [join(folder, `${recipient}.txt`), join(folder, `${recipient}.key`)] as [string, string]
  writeFileSync(names[0], `# for backups\n${recipient}\n`)
  writeFileSync(names[1], `# public key: ${recipient}\n${secret}\n`)
  return names
}

test('an encrypted backup opens only for an identity of its recipients', async () => {
  const [recipients, identity] = await ageKeys()
  const [, other] = await ageKeys()
  const place = join(folder, 'sealed')
  const { stdout } = await run(['backup', 'create', '--out', place, '--encrypt-to', recipients, '--json'])
  expect(JSON.parse(stdout).encrypted.to).toEqual([expect.stringMatching(/^age1/)])
  expect(readdirSync(place).sort()).toEqual(['backup.tar.age', 'manifest.json'])
  expect((await paths())[0]).toBe(place)

  expect((await run(['backup', 'verify', place])).stderr).toContain('--identity FILE checks its contents too')
  expect((await run(['backup', 'verify', place, '--identity', identity, '--json'])).stdout).toContain('"ok": true')
  expect(await run(['backup', 'verify', place, '--identity', other])).toMatchObject({
    exitCode: 9,
    stdout: expect.stringContaining('cannot be decrypted: no identity matched'),
  })
  const into = join(folder, 'from-sealed', 'data')
  const locked = await run(['backup', 'restore', place, '--into', into])
  expect(locked).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('add --identity FILE') })
  expect((await run(['backup', 'restore', place, '--into', into, '--identity', identity])).exitCode).toBe(0)
  expect(existsSync(join(into, 'svc.db'))).toBe(true)

  const sealed = join(place, 'backup.tar.age')
  const bytes = readFileSync(sealed)
  bytes[bytes.length - 20]! ^= 1
  writeFileSync(sealed, bytes)
  expect((await run(['backup', 'verify', place, '--identity', identity])).exitCode).toBe(9)
})

test('what is no recipient or no identity is refused, and no secret is repeated', async () => {
  const [recipients, identity] = await ageKeys()
  const secret = readFileSync(identity, 'utf8').split('\n')[1]!
  const broken = join(folder, 'broken.key')
  writeFileSync(broken, `${secret.slice(0, -1)}${secret.endsWith('Q') ? 'P' : 'Q'}\n`)
  const lines = [
    ...[identity, secret, recipients.replace('.txt', '.none'), 'age1qqqq'].map((to) => ['create', '--encrypt-to', to]),
    ...[recipients, broken].map((file) => ['verify', folder, '--identity', file]),
  ]
  for (const line of lines) {
    const { exitCode, stdout, stderr } = await run(['backup', ...line])
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).not.toContain(secret.slice(20, -1))
  }
})

test.if(Bun.which('age') !== null)('another implementation of age opens it, too', async () => {
  const [recipients, identity] = await ageKeys()
  const path = await make('--out', join(folder, 'for-age'), '--encrypt-to', recipients)
  const open = `age --decrypt --identity "${identity}" "${path}/backup.tar.age" | tar --extract --directory "${folder}" svc.db`
  expect(Bun.spawnSync(['sh', '-c', open]).exitCode).toBe(0)
  expect(readFileSync(join(folder, 'svc.db')).subarray(0, 15).toString()).toBe('SQLite format 3')
})

test('what a killed backup left is swept, and a backup without its list says so', async () => {
  const { dataDir } = world.config
  const left = [join(dataDir, 'outgoing', 'x.partial'), join(dataDir, 'backups', 'y.partial')]
  for (const path of left) mkdirSync(path, { recursive: true })
  const whole = await make()
  await sweepUnfinished(dataDir)
  expect([...left, whole].map((path) => existsSync(path))).toEqual([false, false, true])
  rmSync(join(whole, 'files.sha256'))
  const { exitCode, stdout } = await run(['backup', 'verify', whole])
  expect({ exitCode, stdout }).toEqual({ exitCode: 9, stdout: expect.stringContaining('files.sha256 is missing') })
})
