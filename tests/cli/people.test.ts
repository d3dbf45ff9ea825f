// SQLite only: a client of routes that tests of their modules call on both.
import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { permissionMatrix } from '../../cli/commands/members'
import * as words from '../../cli/org-words'
import { mayDo } from '../../src/accounts'
import * as room from '../../src/accounts/orgs/schema'
import { createTeam, emailOf, rolesOf } from '../accounts/orgs/team'
import { cliOver } from '../support/cli'
import { inFolder } from '../support/temporary-folder'
import { createWorld } from '../support/world'

const world = await createWorld()
const run = cliOver(world)
const { json } = run

describe('orgs', () => {
  test('are made, listed, shown and changed', async () => {
    const email = await emailOf(world, await world.person())
    const made = await json(['orgs', 'create', 'Tide & Sons', '--owner', email, '--type', 'agency', '--slug', 'tide'])
    expect(made).toMatchObject({ object: 'organization', slug: 'tide', type: 'agency', member_count: 1 })
    expect((await json('orgs list')).map(({ id }: { id: string }) => id)).toContain(made.id)
    expect(await json('orgs update tide --plan-note invoiced')).toMatchObject({ id: made.id, plan_note: 'invoiced' })
    expect(await json(['orgs', 'update', 'tide', '--plan-note', ''])).toMatchObject({ plan_note: null })
    for (const word of [made.id, 'tide', 'Tide & Sons']) expect((await json(['orgs', 'get', word])).id).toBe(made.id)
    expect((await run('orgs get tide')).stdout).toMatch(/^members +1$/m)
  })

  test('are named where a command needs the owner, once there are several accounts', async () => {
    await world.person()
    await world.person()
    const { exitCode, stderr } = await run('credits balance')
    expect({ exitCode, says: stderr.includes('svc-admin orgs list') }).toEqual({ exitCode: 2, says: true })
  })

  test.each([
    ['get of nobody', ['orgs', 'get', 'nobody'], 3],
    ['create for nobody', ['orgs', 'create', 'x', '--owner', 'nobody@example.com'], 3],
    ['create of a type that is none', ['orgs', 'create', 'x', '--type', 'gang'], 2],
    ['create with a slug that is none', ['orgs', 'create', 'x', '--slug', 'A B'], 2],
    ['update of nothing', ['orgs', 'update', 'x'], 2],
    ['delete without a reason', ['orgs', 'delete', 'x'], 2],
    ['delete of nobody', ['orgs', 'delete', 'x', '--reason', 'x', '--confirm', 'x'], 3],
  ])('%s exits as it should', async (_what, line, exitCode) => {
    expect(await run(line)).toMatchObject({ exitCode, stdout: '' })
  })

  test('are deleted only by name, with a reason, after saying what goes', async () => {
    const team = await createTeam(world, 'Doomed')
    const key = await team.orgKey(team.owner)
    const line = ['orgs', 'delete', team.slug, '--reason', 'over']
    const unasked = await run([...line, '--yes'])
    expect(unasked).toMatchObject({ exitCode: 2, stdout: '' })
    expect(unasked.stderr).toContain(`--confirm ${team.slug}`)
    expect(await run([...line, '--confirm', 'other'])).toMatchObject({ exitCode: 1, stdout: '' })
    const dry = await run([...line, '--dry-run', '--exit-code'])
    expect({ exitCode: dry.exitCode, stdout: dry.stdout }).toEqual({ exitCode: 10, stdout: '' })
    expect(dry.stderr).toContain('4 memberships and 1 key, and leaves 0.00 cents')
    expect((await team.owner.send('GET', `orgs/${team.id}`)).status).toBe(200)
    await inFolder(async (folder) => {
      const file = join(folder, 'doomed.json')
      const gone = await run([...line, '--confirm', team.slug, '--export', file, '--json'])
      expect(gone.exitCode).toBe(0)
      expect(JSON.parse(gone.stdout).deleted_at).toEqual(expect.any(String))
      const saved = JSON.parse(readFileSync(file, 'utf8'))
      expect(saved.organization.id).toEqual(team.id)
      expect(saved.members).toHaveLength(4)
      expect(saved.keys).toHaveLength(1)
      expect(statSync(file).mode & 0o777).toBe(0o600)
    })
    expect((await key.send('GET', 'models')).status).toBe(401)
    expect((await team.owner.send('GET', `orgs/${team.id}`)).status).toBe(404)
  })

  test('are not deleted when the export has no place', () =>
    inFolder(async (folder) => {
      const team = await createTeam(world)
      const file = join(folder, 'there')
      writeFileSync(file, 'mine')
      const line = ['orgs', 'delete', team.slug, '--reason', 'x', '--confirm', team.slug, '--export', file]
      expect(await run(line)).toMatchObject({ exitCode: 5, stdout: '' })
      expect(readFileSync(file, 'utf8')).toBe('mine')
      expect((await team.owner.send('GET', `orgs/${team.id}`)).status).toBe(200)
    }))
})

describe('members', () => {
  test('come, change and go', async () => {
    const team = await createTeam(world)
    const email = await emailOf(world, team.outsider)
    const inOrg = ['--org', team.slug]
    expect((await json(['members', 'add', email, ...inOrg])).role).toBe('member')
    expect((await json(['members', 'list', ...inOrg])).map(({ email }: { email: string }) => email)).toContain(email)
    expect((await run(['members', 'update', email, ...inOrg, '--role', 'owner'])).exitCode).toBe(2)
    expect((await json(['members', 'update', email, ...inOrg, '--role', 'owner', '-y'])).role).toBe('owner')
    expect((await run(['members', 'remove', email, ...inOrg])).exitCode).toBe(2)
    expect((await json(['members', 'remove', email, ...inOrg, '-y'])).deleted).toBe(true)
    expect(await rolesOf(team.owner, team.id)).not.toHaveProperty(team.outsider.userId)
  })

  test('are invited with a token that is printed once, or put away', () =>
    inFolder(async (folder) => {
      const team = await createTeam(world)
      const email = await emailOf(world, team.outsider)
      const line = ['members', 'add', email, '--org', team.slug, '--invite', '--role', 'viewer']
      const shown = await run(line)
      expect(shown.stdout.match(/svc_iv_[0-9A-Za-z]{43}/g)).toHaveLength(1)
      expect(shown.stderr).toBe('Shown once. The server stores only its hash.\n')
      const file = join(folder, 'token')
      expect((await run([...line, '--secret-to', file])).stdout).not.toContain('svc_iv_')
      const token = readFileSync(file, 'utf8').trim()
      expect((await team.outsider.send('POST', `invitations/${token}/accept`)).status).toBe(200)
      const again = join(folder, 'again')
      expect(await run([...line, '--secret-to', again])).toMatchObject({ exitCode: 5, stdout: '' })
      expect(existsSync(again)).toBe(false)
    }))

  test.each([
    ['without an org', ['members', 'list'], 2],
    ['of an org that is none', ['members', 'list', '--org', 'nobody'], 3],
    ['update without a role', ['members', 'update', 'x', '--org', 'x', '-y'], 2],
    ['with a role that is none', ['members', 'add', 'x', '--org', 'x', '--role', 'boss'], 2],
  ])('%s exit as they should', async (_what, line, exitCode) => {
    expect(await run(line)).toMatchObject({ exitCode, stdout: '' })
  })

  test('the last owner stays', async () => {
    const team = await createTeam(world)
    const line = ['members', 'remove', await emailOf(world, team.owner), '--org', team.slug, '-y']
    expect(await run(line)).toMatchObject({ exitCode: 5, stdout: '' })
  })

  test('--permissions prints the matrix that the server goes by', async () => {
    const { PERMISSIONS, PLATFORM_ROLES, ROLES, ORG_TYPES } = room
    expect(words).toEqual({ PERMISSIONS, PLATFORM_ROLES, ROLES, ORG_TYPES })
    const held = ROLES.map((role) => ({ role, permissions: PERMISSIONS.filter((one) => mayDo(role, one)) }))
    expect(permissionMatrix()).toEqual(held)
    expect(await json('members list --permissions')).toEqual(held)
    expect((await run('members list --permissions')).stdout).toMatch(/^viewUsage +yes +yes +yes +yes$/m)
  })
})

describe('users', () => {
  test('are made with a password that is shown once and signs in', async () => {
    const email = `${crypto.randomUUID()}@example.com`
    const made = await json(`users create ${email} --name Ada --role reviewer`)
    expect(made).toMatchObject({ email, name: 'Ada', platform_role: 'reviewer' })
    expect((await world.send('POST', 'auth/sessions', { email, password: made.password })).status).toBe(201)
    expect(await json(`users get ${email}`)).not.toHaveProperty('password')
    expect(await run(`users create ${email}`)).toMatchObject({ exitCode: 5, stdout: '' })
    expect((await json('users list')).map(({ email }: { email: string }) => email)).toContain(email)
  })

  test('are made with a password of their own, which is not shown', () =>
    inFolder(async (folder) => {
      const [email, file] = [`${crypto.randomUUID()}@example.com`, join(folder, 'pw')]
      writeFileSync(file, 'of their own choice\n')
      const { stdout, exitCode } = await run(`users create ${email} --from-file ${file} --json`)
      expect(exitCode).toBe(0)
      expect(stdout).not.toContain('choice')
      expect(stdout).not.toContain('password')
      expect((await world.send('POST', 'auth/sessions', { email, password: 'of their own choice' })).status).toBe(201)
    }))

  test('are given a role as operators, and lose it', async () => {
    const { userId } = await world.person()
    expect((await json(`users role ${userId} billing -y`)).operator_role).toBe('billing')
    expect((await json(`users role ${userId} none -y`)).operator_role).toBeNull()
    expect((await run(`users role ${userId} god -y`)).exitCode).toBe(2)
  })

  test('are shut out after a question, and let in without one', async () => {
    const ada = await world.person()
    expect((await run(`users disable ${ada.userId}`)).exitCode).toBe(2)
    expect((await json(`users disable ${ada.userId} -y`)).disabled_at).not.toBeNull()
    expect((await ada.send('GET', 'models')).status).toBe(401)
    expect((await json(`users enable ${ada.userId}`)).disabled_at).toBeNull()
    expect((await ada.send('GET', 'models')).status).toBe(200)
  })

  test('have sessions that are listed and ended', async () => {
    const email = `${crypto.randomUUID()}@example.com`
    const { password } = await json(`users create ${email}`)
    const { body } = await world.send('POST', 'auth/sessions', { email, password })
    const [session] = await json(`users sessions list ${email}`)
    expect((await run(`users sessions end ${email} ${session.id}`)).exitCode).toBe(2)
    expect(await json(`users sessions end ${email} ${session.id.slice(0, 8)} -y`)).toMatchObject({ ended: 1 })
    const bearer = { authorization: `Bearer ${body.session_token}` }
    expect((await world.send('GET', 'auth/me', undefined, bearer)).status).toBe(401)
    expect(await json(`users sessions end ${email} all -y`)).toMatchObject({ ended: 0 })
  })

  test.each([
    ['get of nobody', ['users', 'get', 'nobody@example.com'], 3],
    ['disable of nobody', ['users', 'disable', 'nobody@example.com', '-y'], 3],
    ['create of no address', ['users', 'create', 'nobody'], 2],
    ['sessions of nobody', ['users', 'sessions', 'list', 'nobody@example.com'], 3],
    ['sessions with another verb', ['users', 'sessions', 'show', 'x'], 2],
    ['sessions end without a session', ['users', 'sessions', 'end', 'x'], 2],
  ])('%s exits as it should', async (_what, line, exitCode) => {
    expect(await run(line)).toMatchObject({ exitCode, stdout: '' })
  })
})
