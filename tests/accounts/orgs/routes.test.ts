import { describe, expect, test } from 'bun:test'
import type { Member, Role } from '../../../src/accounts/orgs/schema'
import { at, type Refusal, refusals } from '../../support/refusals'
import { createWorld } from '../../support/world'
import { createTeam, emailOf, issueInvitation, rolesOf, type Team } from './team'

const world = await createWorld()

describe('/orgs', () => {
  test('goes from an org founded to an org renamed', async () => {
    const ada = await world.person()
    const made = await ada.send('POST', 'orgs', { name: 'Tide & Sons', type: 'agency' })
    expect(made.status).toBe(201)
    const { request_id, ...org } = made.body
    expect(request_id).toBe(made.headers.get('x-request-id'))
    expect(org).toEqual({
      id: org.id,
      object: 'organization',
      name: 'Tide & Sons',
      slug: 'tide-sons',
      type: 'agency',
      role: 'owner',
      member_count: 1,
      created: org.created,
      updated: org.created,
    })
    expect((await ada.send('GET', `orgs/${org.id}`)).body).toMatchObject(org)
    const renamed = await ada.send('PATCH', `orgs/${org.id}`, { name: 'Tide', slug: 'tide' })
    expect(renamed).toMatchObject({ status: 200, body: { name: 'Tide', slug: 'tide' } })
    const untouched = await ada.send('PATCH', `orgs/${org.id}`, {})
    expect(untouched.body.name).toBe('Tide')
    expect(untouched.body.updated).toEqual(renamed.body.updated)
  })

  test('lists what one belongs to, newest first, page by page', async () => {
    const ada = await world.person()
    const ids: string[] = []
    for (const name of ['a', 'b', 'c']) ids.unshift((await ada.send('POST', 'orgs', { name })).body.id)
    const seen: string[] = []
    for (let cursor = ''; ; ) {
      const { body } = await ada.send('GET', `orgs?limit=1${cursor}`)
      seen.push(...body.organizations.map(({ id }: { id: string }) => id))
      expect(body.has_more).toBe(body.next_cursor !== null)
      if (!body.has_more) break
      cursor = `&cursor=${body.next_cursor}`
    }
    expect(seen.toSorted()).toEqual(ids.toSorted())
    expect((await ada.send('GET', 'orgs')).body.organizations.map(({ id }: { id: string }) => id)).toEqual(seen)
  })

  test('lists them by when they were founded, not by when one came in', async () => {
    const team = await createTeam(world)
    const eve = await world.person()
    const { body: made } = await eve.send('POST', 'orgs', { name: 'Later' })
    await team.join('viewer', eve)
    const { organizations } = (await eve.send('GET', 'orgs')).body
    const dates = organizations.map(({ created }: { created: string }) => created)
    expect(dates).toEqual(dates.toSorted().reverse())
    expect(organizations.map(({ id }: { id: string }) => id).toSorted()).toEqual([made.id, team.id].toSorted())
  })

  test('accepts only the members of a new org (E5)', async () => {
    const [ada, eve] = [await world.person(), await world.person()]
    const greedy = { name: 'x', owner_id: eve.userId, plan: 'enterprise', id: crypto.randomUUID(), role: 'viewer' }
    const { body } = await ada.send('POST', 'orgs', { ...greedy, plan_note: 'free for ever', suspended_at: null })
    expect(body).toMatchObject({ role: 'owner', member_count: 1 })
    expect(body.id).not.toBe(greedy.id)
    expect((await eve.send('GET', 'orgs')).body.organizations).toEqual([])
    const row = await world.app.container.orgs.find(world.app.store.read, body.id)
    expect(row).toMatchObject({ plan_note: null, deleted_at: null })
  })
})

refusals('POST /orgs refuses', { world, as: await world.person(), request: 'POST orgs' }, [
  ['no name', {}, '"name" is missing'],
  ['an empty name', { name: '' }, '"name" '],
  ['a name of blanks', { name: '   ' }, '"name" is blank.'],
  ['a name of 129', { name: 'x'.repeat(129) }, '"name" '],
  ['a name that is a number', { name: 7 }, '"name" is 7'],
  ['a type that is none', { name: 'x', type: 'gang' }, '"type" is "gang"'],
  ['a slug with capitals', { name: 'x', slug: 'Acme' }, '"slug" is "Acme"; it must be lower-case letters and digits'],
  ['a slug with blanks', { name: 'x', slug: 'a b' }, '"slug" is "a b"'],
  ['a slug that ends in a dash', { name: 'x', slug: 'a-' }, '"slug" is "a-"'],
  ['a slug with a path', { name: 'x', slug: '../a' }, '"slug" is "../a"'],
  ...['limit=0', 'limit=101', 'limit=x', 'cursor=!!'].map(
    (query): Refusal => [`the list by ${query}`, undefined, '', { request: `GET orgs?${query}` }],
  ),
])

describe('what /orgs refuses', () => {
  test('a slug that is taken, also of a rename and of two at once', async () => {
    const ada = await world.person()
    const [one, two] = [await ada.send('POST', 'orgs', { name: 'one', slug: 'first' }), await createTeam(world)]
    expect(one.status).toBe(201)
    const again = await ada.send('POST', 'orgs', { name: 'other', slug: 'first' })
    expect({ status: again.status, code: again.body.error.code }).toEqual({ status: 409, code: 'conflict' })
    expect(again.body.error.message).toContain('"first"')
    const renamed = await two.owner.send('PATCH', `orgs/${two.id}`, { slug: 'first' })
    expect({ status: renamed.status, code: renamed.body.error.code }).toEqual({ status: 409, code: 'conflict' })
    const racing = await Promise.all(
      Array.from({ length: 8 }, () => ada.send('POST', 'orgs', { name: 'race', slug: 'race' })),
    )
    expect(racing.map(({ status }) => status).toSorted()).toEqual([201, ...Array(7).fill(409)])
  })
})

describe("an organization's key", () => {
  test('sees its own org and no other of its maker', async () => {
    const team = await createTeam(world)
    const { body: other } = await team.owner.send('POST', 'orgs', { name: 'other' })
    const key = await team.orgKey(team.owner)
    expect((await key.send('GET', 'orgs')).body.organizations.map(({ id }: { id: string }) => id)).toEqual([team.id])
    expect((await key.send('GET', `orgs/${team.id}`)).status).toBe(200)
    for (const [method, path, body] of [
      ['GET', `orgs/${other.id}`],
      ['PATCH', `orgs/${other.id}`, { name: 'x' }],
      ['DELETE', `orgs/${other.id}`],
      ['GET', `orgs/${other.id}/members`],
      ['POST', `orgs/${other.id}/activate`],
    ] as const) {
      expect((await key.send(method, path, body)).status).toBe(404)
    }
  })

  test('is nobody: it founds nothing and chooses no place to work', async () => {
    const team = await createTeam(world)
    const key = await team.orgKey(team.owner)
    for (const [method, path, body] of [
      ['POST', 'orgs', { name: 'x' }],
      ['POST', `orgs/${team.id}/activate`],
      ['DELETE', `orgs/${team.id}/activate`],
    ] as const) {
      const refused = await key.send(method, path, body)
      expect({ status: refused.status, code: refused.body.error.code }).toEqual({ status: 403, code: 'forbidden' })
    }
  })
})

type Who = 'owner' | 'admin' | 'member' | 'viewer' | 'outsider'
const EVERYONE: Who[] = ['owner', 'admin', 'member', 'viewer', 'outsider']

test('the members of an org are seen by all of them, with name, address and role, and by nobody else', async () => {
  const team = await createTeam(world)
  for (const who of ['owner', 'admin', 'member', 'viewer'] as const) {
    const { body } = await team[who].send('GET', `orgs/${team.id}/members`)
    expect(body.members.map(({ role }: { role: Role }) => role).toSorted()).toEqual([
      'admin',
      'member',
      'owner',
      'viewer',
    ])
    expect(Object.keys(body.members[0]).toSorted()).toEqual(
      'active_keys email joined_at last_seen_at name role user_id'.split(' '),
    )
  }
  expect((await team.outsider.send('GET', `orgs/${team.id}/members`)).status).toBe(404)
})

test('owners and admins see when members were last seen and how many working keys they have', async () => {
  const [team, other] = [await createTeam(world), await createTeam(world)]
  await other.join('admin', team.admin)
  const ends = (await team.orgKey(team.admin)).id
  for (const of of [team, team, other]) await of.orgKey(team.admin)
  await team.admin.send('DELETE', `keys/${ends}`)
  await world.signedIn(team.admin)
  await world.signedIn(other.owner)

  for (const who of ['owner', 'admin', 'member', 'viewer'] as const) {
    const { body } = await team[who].send('GET', `orgs/${team.id}/members`)
    const found = new Map<string, Member>(body.members.map((member: Member) => [member.role, member]))
    const [busy, idle] = [found.get('admin')!, found.get('viewer')!]
    const sees = who === 'owner' || who === 'admin'
    expect(idle).toMatchObject({ last_seen_at: null, active_keys: sees ? 0 : null })
    expect(busy.active_keys).toBe(sees ? 2 : null)
    if (sees) expect(Math.abs(Date.parse(busy.last_seen_at!) - world.clock.now())).toBeLessThan(60_000)
    else expect(busy.last_seen_at).toBeNull()
  }
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

test.each(cells)(
  'who may do what in an org (docs/api.md 1.2, D17): $who asks to $what: $status',
  async ({ ask, who, status }) => {
    const team = await createTeam(world)
    const before = await rolesOf(team.owner, team.id)
    const [method, path, body] = ask(team, who)
    const reply = await team[who].send(method, path, body)
    expect(reply.status).toBe(status)
    if (status === 403) expect(reply.body.error.code).toBe('forbidden')
    if (status >= 400) expect(await rolesOf(team.owner, team.id)).toEqual(before)
  },
)

describe('the last owner', () => {
  test.each([
    ['leave', 'DELETE', undefined],
    ['become an admin', 'PATCH', { role: 'admin' }],
    ['become a viewer', 'PATCH', { role: 'viewer' }],
  ])('cannot %s, until there is another one', async (_what, method, body) => {
    const team = await createTeam(world)
    const own = `orgs/${team.id}/members/${team.owner.userId}`
    const refused = await team.owner.send(method, own, body)
    expect({ status: refused.status, code: refused.body.error.code }).toEqual({ status: 409, code: 'conflict' })
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
      expect(Object.values(await rolesOf(team.viewer, team.id)).filter((role) => role === 'owner')).toHaveLength(1)
    }
  })
})

describe('an unknown member', () => {
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
})

const ruled = await createTeam(world)
refusals(
  'PATCH /orgs/{id}/members/{user_id} refuses a role that is none',
  { world, as: ruled.owner, request: `PATCH orgs/${ruled.id}/members/${ruled.viewer.userId}` },
  [...at('role', {}, { role: 'boss' }, { role: null }), ['a list', '[]', '']],
)

test('someone who is taken out is out at once: no org, no active org, no key of theirs for it works (D19)', async () => {
  const team = await createTeam(world)
  await team.admin.send('POST', `orgs/${team.id}/activate`)
  const [theirs, others] = [await team.orgKey(team.admin), await team.orgKey(team.owner)]
  expect((await team.admin.send('GET', 'auth/me')).body.active_org_id).toBe(team.id)
  expect((await theirs.send('GET', 'models')).status).toBe(200)
  expect((await team.owner.send('DELETE', `orgs/${team.id}/members/${team.admin.userId}`)).body.deleted).toBe(true)
  expect((await team.admin.send('GET', 'auth/me')).body).toMatchObject({ active_org_id: null, orgs: [] })
  for (const path of [`orgs/${team.id}`, `orgs/${team.id}/members`, `keys/${theirs.id}`])
    expect((await team.admin.send('GET', path)).body.error.code).toBe('not_found')
  expect((await team.owner.send('GET', `keys/${theirs.id}`)).body.status).toBe('revoked')
  expect((await theirs.send('GET', 'models')).status).toBe(401)
  expect((await others.send('GET', 'models')).status).toBe(200)
  await team.join('viewer', team.admin)
  expect((await team.admin.send('GET', 'auth/me')).body.active_org_id).toBeNull()
  expect((await theirs.send('GET', 'models')).status).toBe(401)
})

test('an invitation is accepted once, however often it is sent with one Idempotency-Key', async () => {
  const { owner } = await createTeam(world)
  const { token } = await issueInvitation(world, (await createTeam(world)).id, await emailOf(world, owner))
  const accept = () =>
    owner.send('POST', `invitations/${token}/accept`, undefined, { 'idempotency-key': 'accept-once' })
  const [first, again] = [await accept(), await accept()]
  expect({ status: again.status, text: again.text }).toEqual({ status: 200, text: first.text })
  expect(again.headers.get('x-idempotent-replay')).toBe('true')
})
