import { describe, expect, test } from 'bun:test'
import type { Role } from '../../../src/accounts/orgs/schema'
import { createWorld } from '../../support/world'
import { createTeam, rolesOf, type Team } from './team'

const world = await createWorld()

type Who = 'owner' | 'admin' | 'member' | 'viewer' | 'outsider'
const EVERYONE: Who[] = ['owner', 'admin', 'member', 'viewer', 'outsider']

describe('the members of an org', () => {
  test('are seen by all of them, with name, address and role, and by nobody else', async () => {
    const team = await createTeam(world)
    for (const who of ['owner', 'admin', 'member', 'viewer'] as const) {
      const { body } = await team[who].send('GET', `orgs/${team.id}/members`)
      expect(body.members.map(({ role }: { role: Role }) => role).toSorted()).toEqual([
        'admin',
        'member',
        'owner',
        'viewer',
      ])
      expect(Object.keys(body.members[0]).toSorted()).toEqual(['email', 'joined_at', 'name', 'role', 'user_id'])
    }
    expect((await team.outsider.send('GET', `orgs/${team.id}/members`)).status).toBe(404)
  })
})

/** What each may do: statuses of owner, admin, member, viewer, outsider. */
const RIGHTS: [string, (team: Team) => [string, string, unknown?], number[]][] = [
  ['read the org', ({ id }) => ['GET', `orgs/${id}`], [200, 200, 200, 200, 404]],
  ['rename it', ({ id }) => ['PATCH', `orgs/${id}`, { name: 'new' }], [200, 200, 403, 403, 404]],
  ['work in it', ({ id }) => ['POST', `orgs/${id}/activate`], [200, 200, 200, 200, 404]],
  ['stop working in it', ({ id }) => ['DELETE', `orgs/${id}/activate`], [200, 200, 200, 200, 404]],
  ['invite a member', invite('member'), [201, 201, 403, 403, 404]],
  ['invite an owner', invite('owner'), [201, 403, 403, 403, 404]],
  ['make a viewer a member', assign('viewer', 'member'), [200, 200, 403, 403, 404]],
  ['make an admin of a viewer', assign('viewer', 'admin'), [200, 200, 403, 403, 404]],
  ['make an owner of a viewer', assign('viewer', 'owner'), [200, 403, 403, 403, 404]],
  ['make an owner of themselves', assign('self', 'owner'), [200, 403, 403, 403, 404]],
  ['take a viewer out', takeOut('viewer'), [200, 200, 403, 200, 404]],
  ['take an owner out', takeOut('owner'), [409, 403, 403, 403, 404]],
  ['make an org key', ({ id }) => ['POST', 'keys', { org_id: id }], [201, 201, 403, 403, 404]],
  ['delete it', ({ id }) => ['DELETE', `orgs/${id}`], [200, 403, 403, 403, 404]],
]

function invite(role: Role): (team: Team) => [string, string, unknown] {
  return ({ id }) => ['POST', `orgs/${id}/invitations`, { email: `${crypto.randomUUID()}@example.com`, role }]
}
function assign(whom: Who | 'self', role: Role) {
  return (team: Team, who: Who = 'owner'): [string, string, unknown] => {
    const target = team[whom === 'self' ? who : whom]
    return ['PATCH', `orgs/${team.id}/members/${target.userId}`, { role }]
  }
}
function takeOut(whom: Who) {
  return (team: Team): [string, string] => ['DELETE', `orgs/${team.id}/members/${team[whom].userId}`]
}

const cells = RIGHTS.flatMap(([what, ask, statuses]) =>
  EVERYONE.map((who, place) => ({
    what,
    ask: ask as (team: Team, who: Who) => ReturnType<typeof ask>,
    who,
    status: statuses[place]!,
  })),
)

describe('who may do what in an org (contract 1.2)', () => {
  test.each(cells)('$who asks to $what: $status', async ({ ask, who, status }) => {
    const team = await createTeam(world)
    const before = await rolesOf(team.owner, team.id)
    const [method, path, body] = ask(team, who)
    const reply = await team[who].send(method, path, body)
    expect(reply.status).toBe(status)
    if (status === 403) expect(reply.body.error.code).toBe('forbidden')
    if (status >= 400) expect(await rolesOf(team.owner, team.id)).toEqual(before)
  })
})

describe('the last owner', () => {
  test.each([
    ['leave', 'DELETE', undefined],
    ['become an admin', 'PATCH', { role: 'admin' }],
    ['become a viewer', 'PATCH', { role: 'viewer' }],
  ])('cannot %s, until there is another one', async (_what, method, body) => {
    const team = await createTeam(world)
    const own = `orgs/${team.id}/members/${team.owner.userId}`
    const refused = await team.owner.send(method, own, body)
    expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict'])
    await team.owner.send('PATCH', `orgs/${team.id}/members/${team.admin.userId}`, { role: 'owner' })
    expect((await team.owner.send(method, own, body)).status).toBe(200)
    expect((await rolesOf(team.admin, team.id))[team.admin.userId]).toBe('owner')
  })

  test('is one even when two owners step down at the same moment', async () => {
    for (let round = 0; round < 4; round++) {
      const team = await createTeam(world)
      const second = await team.join('owner')
      const replies = await Promise.all([
        team.owner.send('DELETE', `orgs/${team.id}/members/${team.owner.userId}`),
        second.send('PATCH', `orgs/${team.id}/members/${second.userId}`, { role: 'viewer' }),
      ])
      expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409])
      const owners = Object.values(await rolesOf(team.viewer, team.id)).filter((role) => role === 'owner')
      expect(owners).toHaveLength(1)
    }
  })
})

describe('a member that is none', () => {
  test.each(['PATCH', 'DELETE'])('answers %s of a stranger, an unknown and a malformed id alike', async (method) => {
    const team = await createTeam(world)
    const body = method === 'PATCH' ? { role: 'member' } : undefined
    const replies = await Promise.all(
      [team.outsider.userId, crypto.randomUUID(), 'nobody'].map((id) =>
        team.owner.send(method, `orgs/${team.id}/members/${id}`, body),
      ),
    )
    const words = replies.map(({ status, body: { error } }) => ({ status, ...error, request_id: '' }))
    expect(words).toEqual(Array(3).fill(words[0]))
    expect(words[0]).toMatchObject({ status: 404, code: 'not_found' })
  })

  test.each([{}, { role: 'boss' }, { role: null }, '[]'])('a role that is none is refused: %j', async (body) => {
    const team = await createTeam(world)
    const refused = await team.owner.send('PATCH', `orgs/${team.id}/members/${team.viewer.userId}`, body)
    expect([refused.status, refused.body.error.code]).toEqual([400, 'validation_error'])
  })
})

describe('someone who is taken out', () => {
  test('is out at once: no org, no active org, no key of theirs for it works (D19)', async () => {
    const team = await createTeam(world)
    await team.admin.send('POST', `orgs/${team.id}/activate`)
    const [theirs, others] = [await team.orgKey(team.admin), await team.orgKey(team.owner)]
    expect((await team.admin.send('GET', 'auth/me')).body.active_org_id).toBe(team.id)
    expect((await theirs.send('GET', 'models')).status).toBe(200)
    expect((await team.owner.send('DELETE', `orgs/${team.id}/members/${team.admin.userId}`)).body.deleted).toBe(true)
    expect((await team.admin.send('GET', 'auth/me')).body).toMatchObject({ active_org_id: null, orgs: [] })
    expect((await team.admin.send('GET', `orgs/${team.id}`)).status).toBe(404)
    expect((await theirs.send('GET', 'models')).status).toBe(401)
    expect((await others.send('GET', 'models')).status).toBe(200)
    await team.join('viewer', team.admin)
    expect((await team.admin.send('GET', 'auth/me')).body.active_org_id).toBeNull()
    expect((await theirs.send('GET', 'models')).status).toBe(401)
  })
})
