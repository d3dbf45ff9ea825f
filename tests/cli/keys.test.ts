// SQLite only: a client of routes that tests of their modules call on both.
import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { cliOver } from '../support/cli'
import { fakeIo } from '../support/io'
import { inFolder } from '../support/temporary-folder'
import { createWorld } from '../support/world'

const world = await createWorld()
const run = cliOver(world)
const ada = await world.person({ ofOrg: true })
const SECRET = /svc_sk_(live|test)_[0-9A-Za-z]{48}/

const { json } = run

describe('keys create', () => {
  test('says what to do where the owner has no credit, so that nobody meets a 402 without knowing why', async () => {
    const { id } = await json(`orgs create Poor --owner ${ada.userId}`)
    const poor = await run(`keys create --org ${id} --name poor`)
    expect(poor.stderr).toContain(`svc-admin credits grant ${id.slice(0, 8)} 10.00 --reason "first credit"`)
    expect((await run(`keys create --org ${ada.orgId} --name rich`)).stderr).not.toContain('402')
  })

  test('prints the secret once, on stdout, and advice on stderr', async () => {
    const { exitCode, stdout, stderr } = await run(`keys create --name laptop --org ${ada.orgId}`)
    expect(exitCode).toBe(0)
    expect(stdout.match(new RegExp(SECRET, 'g'))).toHaveLength(1)
    expect(stderr).toBe('Shown once. The server stores only its hash.\n')
  })

  test('prints nothing but the secret with -q, and it works', async () => {
    const { stdout, stderr } = await run(`keys create -q --secret-to - --user ${ada.userId}`)
    expect(stdout).toMatch(new RegExp(`^${SECRET.source}\n$`))
    expect(stderr).toBe('')
    expect((await world.send('GET', 'keys', undefined, { authorization: `Bearer ${stdout.trim()}` })).status).toBe(200)
  })

  test('has it as the member `key` in JSON, in that one answer only', async () => {
    const made = await json(`keys create --name once --org ${ada.orgId}`)
    expect(made).toMatchObject({ object: 'api_key', name: 'once', tier: 'free', key: expect.stringMatching(SECRET) })
    expect(await json(`keys get ${made.id}`)).not.toHaveProperty('key')
  })

  test('writes it to a file only its owner can read, and prints the prefix', () =>
    inFolder(async (folder) => {
      const file = join(folder, 'key')
      expect((await run(`keys create --org ${ada.orgId} --secret-to ${file}`)).stdout).not.toMatch(SECRET)
      expect(readFileSync(file, 'utf8')).toMatch(SECRET)
      expect(statSync(file).mode & 0o777).toBe(0o600)
      const quiet = await run(`keys create --org ${ada.orgId} -q --secret-to ${file}.quiet`)
      expect(quiet.stdout).toMatch(/^[0-9a-f-]{36}\n$/)
      const again = await run(`keys create --org ${ada.orgId} --name lost --secret-to ${file}`)
      expect(again).toMatchObject({ exitCode: 5, stdout: '' })
      expect((await run('keys get lost')).exitCode).toBe(3)
    }))

  test('leaves no empty file behind when the server refuses', () =>
    inFolder(async (folder) => {
      const file = join(folder, 'key')
      expect((await run(`keys create --org no-such-org --secret-to ${file}`)).exitCode).toBe(3)
      expect(existsSync(file)).toBe(false)
    }))

  test('takes tier, scopes, caps, limits, origins and an end', async () => {
    const limits = '--tier pro --scopes completions,billing --rpm 10 --daily-cap 5.00 --monthly-cap 9000c'
    const more = '--origin https://app.example --expires 3650d --chat-parameters ignore --prefix test'
    expect(await json(`keys create --org ${ada.orgId} ${limits} ${more}`)).toMatchObject({
      tier: 'pro',
      scopes: ['completions', 'billing'],
      rpm_limit: 10,
      daily_cap_cents: 500,
      monthly_cap_cents: 9_000,
      allowed_origins: ['https://app.example'],
      chat_parameters: 'ignore',
      expires_at: '2035-12-30T00:00:00.000Z',
      prefix: expect.stringMatching(/^svc_sk_test_/),
    })
  })

  test('changes nothing with --dry-run, and says what it would do', async () => {
    const dry = await run('keys create --name ghost --dry-run --exit-code')
    expect(dry).toEqual({ exitCode: 10, stdout: '', stderr: 'would create key "ghost"; nothing was changed\n' })
    expect((await run('keys get ghost')).exitCode).toBe(3)
  })

  test('asks the terminal to copy it, and does not print it', async () => {
    const { stdout, stderr } = await run(`keys create --org ${ada.orgId} --copy`, {
      io: fakeIo({ width: 120 }),
    })
    expect(stdout + stderr).not.toMatch(SECRET)
    expect(stderr).toContain('\u001b]52;c;')
    expect((await run('keys create --copy')).exitCode).toBe(2)
  })
})

describe('keys over --url, with an API key', () => {
  test('are the ones that key may manage', async () => {
    const eve = await world.person()
    expect((await json('keys list', { key: eve.key })).map(({ id }: { id: string }) => id)).toEqual([eve.keyId])
    expect(await run(`keys get ${ada.keyId}`, { key: eve.key })).toMatchObject({ exitCode: 3, stdout: '' })
  })

  test('cannot be given a tier', async () => {
    const { exitCode, stderr } = await run('keys create --tier pro', { key: ada.key })
    expect(exitCode).toBe(2)
    expect(stderr).toContain('every new key starts on the free tier')
  })

  test('are refused with exit code 4 when the key is none', async () => {
    const { exitCode, stdout } = await run('keys list', { key: 'sk-nothing' })
    expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: '' })
  })
})

describe('keys get and revoke', () => {
  test('know a key by a beginning of its id, by its prefix and by its name', async () => {
    const { id, prefix } = await json(['keys', 'create', '--org', ada.orgId!, '--name', 'many ways'])
    for (const word of [id, id.slice(0, 8), prefix, 'many ways'])
      expect((await json(['keys', 'get', word])).id).toBe(id)
  })

  test('list the candidates when a name means several', async () => {
    await run(`keys create --org ${ada.orgId} --name twin`)
    await run(`keys create --org ${ada.orgId} --name twin`)
    const { exitCode, stderr } = await run('keys get twin')
    expect(exitCode).toBe(2)
    expect(stderr).toContain('"twin" could be 2 keys:')
  })

  test('ask first, need a reason, and are in force at once', async () => {
    const { id, key } = await json(`keys create --user ${ada.userId} --personal --name doomed`)
    expect(await run('keys revoke doomed -y')).toMatchObject({ exitCode: 2, stdout: '' })
    expect(await run('keys revoke doomed --reason old')).toMatchObject({ exitCode: 2, stdout: '' })
    const call = () => world.send('GET', 'models', undefined, { authorization: `Bearer ${key}` })
    expect((await call()).status).toBe(200)
    expect(await json(['keys', 'revoke', id.slice(0, 8), '-y', '--reason', 'old'])).toMatchObject({
      id,
      status: 'revoked',
    })
    expect((await call()).status).toBe(401)
    expect((await run(`keys revoke ${id} -y --reason again`)).exitCode).toBe(0)
  })
})

describe('keys list', () => {
  test('goes on with the cursor it prints, and gathers every page with --all', async () => {
    const first = await run('keys list --limit 2 -o id')
    const [, cursor] = /--cursor (\S+),/.exec(first.stderr) ?? []
    const second = await run(['keys', 'list', '--limit', '2', '-o', 'id', '--cursor', cursor!])
    const all = await run('keys list --limit 2 -o id --all')
    expect(all.stdout).toStartWith(first.stdout + second.stdout)
    expect(all.stderr).toBe('')
  })

  test('moves a key to another tier and says how to undo it', async () => {
    const { id } = await json(`keys create --org ${ada.orgId} --name climber`)
    const { stdout, stderr } = await run('keys update climber --tier enterprise -o json')
    expect(JSON.parse(stdout)).toMatchObject({ id, tier: 'enterprise' })
    expect(stderr).toBe(`undo: svc-admin keys update ${id.slice(0, 8)} --tier free\n`)
  })
})
