// SQLite only: a client of routes that tests of their modules call on both.
import { describe, expect, test } from 'bun:test'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cliOver } from '../support/cli'
import { fakeClock } from '../support/clock'
import { inFolder } from '../support/temporary-folder'
import { createWorld } from '../support/world'

const clock = fakeClock()
const world = await createWorld({ clock })
const run = cliOver(world)
const ada = await world.person({ ofOrg: true })
const SECRET = /svc_sk_(live|test)_[0-9A-Za-z]{48}/
const DAY_MS = 86_400_000

const { json } = run
const make = (name: string) => json(`keys create --org ${ada.orgId} --name ${name}`)
const opens = async (key: string) =>
  (await world.send('GET', 'models', undefined, { authorization: `Bearer ${key}` })).status === 200

describe('keys rotate', () => {
  test('asks first, then shows the new secret once; the old one works for a day', async () => {
    const { key } = await make('deploy')
    expect(await run('keys rotate deploy')).toMatchObject({ exitCode: 2, stdout: '' })
    const { exitCode, stdout, stderr } = await run('keys rotate deploy -y')
    expect(exitCode).toBe(0)
    const [fresh] = stdout.match(new RegExp(SECRET, 'g'))!
    expect(stdout.match(new RegExp(SECRET, 'g'))).toHaveLength(1)
    expect(stderr).toContain('Shown once. The server stores only its hash.')
    expect(stderr).toContain('expires at 2026-01-02T00:00:00.000Z')
    expect({ key: await opens(key), fresh: await opens(fresh) }).toEqual({ key: true, fresh: true })
  })

  test('with --grace 0s ends the old secret at once, and writes the new one to a private file', () =>
    inFolder(async (folder) => {
      const { id, key } = await make('urgent')
      const file = join(folder, 'key')
      const { stdout } = await run(['keys', 'rotate', id.slice(0, 8), '--grace', '0s', '-y', '--secret-to', file])
      expect(stdout).not.toMatch(SECRET)
      expect(statSync(file).mode & 0o777).toBe(0o600)
      expect(await opens(key)).toBe(false)
      expect(await opens(readFileSync(file, 'utf8').trim())).toBe(true)
    }))

  test('has both the secret and the end of the old one in JSON', async () => {
    const { id } = await make('json')
    const made = await json(`keys rotate ${id} -y --grace 1h`)
    expect(made).toMatchObject({ id, status: 'rotating', key: expect.stringMatching(SECRET) })
    expect(made.previous_key_expires_at).toBe('2026-01-01T01:00:00.000Z')
  })

  test.each([
    ['a grace above 7 days', ['--grace', '8d', '-y'], 2],
    ['a grace without a unit', ['--grace', '60', '-y'], 2],
  ])('refuses %s', async (_why, flags, exitCode) => {
    const { id } = await make('kept')
    expect(await run(['keys', 'rotate', id, ...flags])).toMatchObject({ exitCode, stdout: '' })
    expect((await json(`keys get ${id}`)).status).toBe('active')
  })

  test('refuses a revoked key with 5 and leaves no file behind, and does nothing with --dry-run', () =>
    inFolder(async (folder) => {
      const { id } = await make('gone')
      expect((await run(`keys rotate ${id} --dry-run --exit-code`)).exitCode).toBe(10)
      expect((await json(`keys get ${id}`)).status).toBe('active')
      await run(`keys revoke ${id} -y --reason old`)
      const file = join(folder, 'key')
      expect((await run(`keys rotate ${id} -y --secret-to ${file}`)).exitCode).toBe(5)
      expect(await Bun.file(file).exists()).toBe(false)
    }))

  test('works with an API key for the keys it may manage, and no others', async () => {
    const eve = await world.person()
    expect((await json(`keys rotate ${eve.keyId} -y`, { key: eve.key })).id).toBe(eve.keyId)
    expect((await run(`keys rotate ${ada.keyId} -y`, { key: eve.key })).exitCode).toBe(3)
  })
})

describe('keys update', () => {
  test('sets what is named and removes with none', async () => {
    const { id } = await make('web')
    const flags = '--name site --scopes completions --daily-cap 5.00 --monthly-cap 9000c'
    const more = '--rpm 10 --tpm 5000 --origin https://a.example --expires 90d --chat-parameters honor'
    expect(await json(`keys update web ${flags} ${more}`)).toMatchObject({
      id,
      name: 'site',
      scopes: ['completions'],
      daily_cap_cents: 500,
      monthly_cap_cents: 9_000,
      rpm_limit: 10,
      tpm_limit: 5_000,
      allowed_origins: ['https://a.example'],
      chat_parameters: 'honor',
      expires_at: new Date(clock.now() + 90 * DAY_MS).toISOString(),
    })
    const none = ['daily-cap', 'monthly-cap', 'rpm', 'tpm', 'origin', 'expires'].flatMap((flag) => [
      `--${flag}`,
      'none',
    ])
    expect(await json(['keys', 'update', id, ...none])).toMatchObject({
      name: 'site',
      daily_cap_cents: null,
      monthly_cap_cents: null,
      rpm_limit: null,
      tpm_limit: null,
      allowed_origins: [],
      expires_at: null,
    })
  })

  test.each([
    ['nothing', [], 2],
    ['half a cent', ['--daily-cap', '0.5c'], 2],
    ['a cap without a unit', ['--daily-cap', '5'], 2],
    ['a limit above the tier', ['--rpm', '61'], 2],
    ['an origin that is none', ['--origin', 'nowhere'], 2],
    ['an end that is over', ['--expires', '2020-01-01'], 2],
  ])('refuses %s', async (_why, flags, exitCode) => {
    expect(await run(['keys', 'update', (await make('steady')).id, ...flags])).toMatchObject({ exitCode, stdout: '' })
  })

  test('with an API key changes its own keys, but no tier', async () => {
    const eve = await world.person()
    expect((await json(`keys update ${eve.keyId} --name renamed`, { key: eve.key })).name).toBe('renamed')
    expect((await run(`keys update ${eve.keyId} --tier pro`, { key: eve.key })).exitCode).toBe(2)
  })
})

describe('keys check', () => {
  const check = (secret: string) =>
    inFolder(async (folder) => {
      writeFileSync(join(folder, 'key'), `${secret}\n`)
      return run(`keys check --from-file ${folder}/key --json`)
    })

  test('tells whose a secret is, and never repeats it', async () => {
    const { id, key } = await make('checked')
    const { exitCode, stdout, stderr } = await check(key)
    expect({ exitCode, stdout: JSON.parse(stdout) }).toMatchObject({
      exitCode: 0,
      stdout: { id, name: 'checked', status: 'active', known: true },
    })
    expect(stdout + stderr).not.toContain(key)
  })

  test('exits 9 for one that is revoked, and for one nobody has', async () => {
    const { id, key } = await make('over')
    await run(`keys revoke ${id} -y --reason old`)
    const revoked = await check(key)
    expect(revoked.exitCode).toBe(9)
    expect(JSON.parse(revoked.stdout).status).toBe('revoked')
    expect(await check('svc_sk_live_nonsense')).toMatchObject({ exitCode: 9, stdout: '' })
  })
})

test('keys list --unused shows keys that nobody used for so long', async () => {
  clock.advance(-2 * DAY_MS)
  await make('idle')
  clock.advance(2 * DAY_MS)
  await make('young')
  const names = (await json('keys list --all --unused 1d')).map(({ name }: { name: string }) => name)
  expect(names).toContain('idle')
  expect(names).not.toContain('young')
})
