import { describe, expect, test } from 'bun:test'
import { startTarget } from './support'
import { keepsItsPromises } from './support/oracle'
import { attack, type Row } from './support/rows'

/** D17, D19 and E5: what a role, a scope or a membership that is over lets nobody do. */

const target = await startTarget()
const { send, people, ops } = target

const org = (await send('POST', 'orgs', { body: { name: 'Team' } })).body.id as string
const u1 = (await send('GET', `orgs/${org}/members`)).body.members[0].user_id as string

const ROLES = ['owner', 'admin', 'member', 'viewer'] as const
type Member = { role: (typeof ROLES)[number]; key: string; userId: string }

/** A newcomer in the org, as an operator lets them in. */
async function join(role: Member['role'], scopes?: string[]): Promise<Member> {
  const { key, email } = await people.newcomer(scopes ? { scopes } : {})
  const { body } = await ops('POST', `/ops/v1/orgs/${org}/members`, { user: email, role })
  return { role, key, userId: body.user_id }
}
const members = await Promise.all(ROLES.map((role) => join(role)))
const as = (role: Member['role']) => members.find((member) => member.role === role)!

const target404 = crypto.randomUUID()

/** What each permission opens of the routes that stand, and who holds it: owner, admin, member, viewer. */
const GUARDED: { permission: string; ask: string; body?: unknown; allowed: number; may: boolean[] }[] = [
  {
    permission: 'manageApiKeys',
    ask: 'POST keys',
    body: { org_id: org },
    allowed: 201,
    may: [true, true, false, false],
  },
  { permission: 'manageMembers', ask: `PATCH orgs/${org}`, body: {}, allowed: 200, may: [true, true, false, false] },
  {
    permission: 'manageMembers',
    ask: `POST orgs/${org}/invitations`,
    body: { email: 'guest@example.com', role: 'viewer' },
    allowed: 201,
    may: [true, true, false, false],
  },
  {
    permission: 'manageMembers',
    ask: `PATCH orgs/${org}/members/${as('viewer').userId}`,
    body: { role: 'viewer' },
    allowed: 200,
    may: [true, true, false, false],
  },
  {
    permission: 'ownership',
    ask: `PATCH orgs/${org}/members/${u1}`,
    body: { role: 'owner' },
    allowed: 200,
    may: [true, false, false, false],
  },
]

const rows: Row[] = [
  ...GUARDED.flatMap(({ permission, ask, body, allowed, may }) =>
    ROLES.map(
      (role, place): Row => ({
        id: 'D17',
        what: `${ask.replace(org, '{id}')} needs ${permission}: ${may[place] ? 'open to' : 'closed to'} a ${role}`,
        ask,
        key: as(role).key,
        body,
        ...(may[place] ? { is: allowed } : { is: 403, code: 'forbidden' }),
      }),
    ),
  ),
  ...(['admin', 'member', 'viewer'] as const).flatMap((role): Row[] => [
    {
      id: 'E5',
      what: `a ${role} does not make themselves an owner`,
      ask: `PATCH orgs/${org}/members/${as(role).userId}`,
      key: as(role).key,
      body: { role: 'owner' },
      is: 403,
      code: 'forbidden',
    },
    {
      id: 'E5',
      what: `a ${role} does not invite an owner`,
      ask: `POST orgs/${org}/invitations`,
      key: as(role).key,
      body: { email: 'mine@example.com', role: 'owner' },
      is: 403,
      code: 'forbidden',
    },
    {
      id: 'D17',
      what: `a ${role} does not delete the org`,
      ask: `DELETE orgs/${org}`,
      key: as(role).key,
      is: 403,
      code: 'forbidden',
    },
  ]),
  {
    id: 'E5',
    what: 'a new org takes no owner, plan or id from its order',
    ask: 'POST orgs',
    as: 'k2',
    body: { name: 'x', owner_id: u1, plan: 'enterprise', id: org, role: 'viewer', suspended_at: '1970' },
    is: 201,
    also: ({ body }) => {
      expect(body).toMatchObject({ role: 'owner', member_count: 1 })
      expect(body.id).not.toBe(org)
    },
  },
  {
    id: 'E4',
    what: 'settings take no money, tier or role',
    ask: 'PATCH settings',
    as: 'k2',
    body: { balance_cents: 999_999, tier: 'pro', role: 'owner', email_verified: true },
    is: 200,
    also: ({ body }) => expect(Object.keys(body).toSorted()).toEqual([...SETTINGS, 'request_id'].toSorted()),
  },
  ...['POST orgs', `PATCH orgs/${org}`, `POST orgs/${org}/invitations`, `PATCH orgs/${org}/members/${u1}`].map(
    (ask): Row => ({
      id: 'D17',
      what: `${ask.replace(org, '{id}').replace(u1, '{userId}')} asks for the scope before it reads the body`,
      ask,
      as: 'k0',
      body: '{not json',
      is: 403,
      code: 'missing_scope',
    }),
  ),
  ...[`DELETE orgs/${org}`, `POST orgs/${org}/activate`, `POST orgs/${target404}/activate`].map(
    (ask): Row => ({
      id: 'D17',
      what: `${ask.replace(org, '{id}').replace(target404, '{unknown}')} asks for the scope before the id`,
      ask,
      as: 'k0',
      is: 403,
      code: 'missing_scope',
    }),
  ),
]
const SETTINGS = ['default_mode', 'personality', 'timezone', 'svc_branding']
attack('D. what a role or a scope does not open', target, rows)

describe('D19 someone who is taken out of an org', () => {
  test('answers for it like a stranger from the next request on, and so does every key they made', async () => {
    const leaving = await join('admin')
    const mine = { key: leaving.key }
    const { body: made } = await send('POST', 'keys', { ...mine, body: { org_id: org } })
    expect((await send('POST', `orgs/${org}/activate`, mine)).status).toBe(200)
    expect((await send('GET', `keys/${made.id}`, mine)).status).toBe(200)
    expect((await send('DELETE', `orgs/${org}/members/${leaving.userId}`)).status).toBe(200)
    for (const path of [`orgs/${org}`, `orgs/${org}/members`, `keys/${made.id}`]) {
      expect((await send('GET', path, mine)).body.error.code).toBe('not_found')
    }
    expect((await send('GET', 'models', { key: made.key })).status).toBe(401)
    expect((await send('GET', 'auth/me', mine)).body).toMatchObject({ active_org_id: null, orgs: [] })
    expect((await send('GET', `keys/${made.id}`)).body).toMatchObject({ status: 'revoked' })
  })

  test('is refused by no later than the acknowledgement, however many ask meanwhile', async () => {
    const leaving = await join('admin')
    const { body: made } = await send('POST', 'keys', { key: leaving.key, body: { org_id: org } })
    let out = false
    let late = 0
    const readers = Array.from({ length: 8 }, async () => {
      for (let turn = 0; turn < 10; turn++) {
        const after = out
        const replies = [
          await send('GET', 'models', { key: made.key }),
          await send('GET', `orgs/${org}`, { key: leaving.key }),
        ]
        if (after) late += replies.filter(({ status }) => status === 200).length
      }
    })
    await send('DELETE', `orgs/${org}/members/${leaving.userId}`)
    out = true
    await Promise.all(readers)
    expect(late).toBe(0)
  })
})

keepsItsPromises(target)
