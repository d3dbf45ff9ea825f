import { describe, expect, test } from 'bun:test'
import { callOf, operatorCaller } from '../../support/callers'
import { mailServer } from '../../support/mail-server'
import { at, refusals } from '../../support/refusals'
import { openTestStore } from '../../support/store'
import { createWorld, type Person } from '../../support/world'
import { createWorld as createKeysWorld } from '../keys/world'
import { createTeam, emailOf, issueInvitation, rolesOf } from './team'

const world = await createWorld()

const accept = (person: Person, token: string) => person.send('POST', `invitations/${token}/accept`)

describe('an invitation', () => {
  test('is answered without its token, and opens for the address it names', async () => {
    const team = await createTeam(world)
    const eve = await world.person()
    const email = await emailOf(world, eve)
    const made = await team.admin.send('POST', `orgs/${team.id}/invitations`, {
      email: email.toUpperCase(),
      role: 'member',
    })
    expect(made.status).toBe(201)
    expect(made.body.invitation).toEqual({
      id: made.body.invitation.id,
      email,
      role: 'member',
      status: 'pending',
      expires_at: made.body.invitation.expires_at,
    })
    expect(made.body.token).toMatch(/^svc_iv_/)
    const joined = await accept(eve, made.body.token)
    expect({ status: joined.status, organization: joined.body.organization }).toEqual({
      status: 200,
      organization: expect.objectContaining({ id: team.id, role: 'member', member_count: 5 }),
    })
    expect((await eve.send('GET', 'auth/me')).body).toMatchObject({ active_org_id: null, orgs: [{ id: team.id }] })
  })

  test('goes to a host of any script, whose forms are one address', async () => {
    const team = await createTeam(world)
    for (const [email, known] of [
      ['Ada@MÜNCHEN.example', 'ada@xn--mnchen-3ya.example'],
      ['ada@xn--mnchen-3ya.example', 'ada@xn--mnchen-3ya.example'],
      ['ada@пример.рф', 'ada@xn--e1afmkfd.xn--p1ai'],
    ]) {
      const made = await team.admin.send('POST', `orgs/${team.id}/invitations`, { email, role: 'member' })
      expect({ status: made.status, email: made.body.invitation.email }).toEqual({ status: 201, email: known })
    }
    for (const email of ['ada@mün chen.example', 'ada@mün/chen.example', 'münchen.example', 'ä@'])
      expect((await team.admin.send('POST', `orgs/${team.id}/invitations`, { email, role: 'member' })).status).toBe(400)
  })

  test('lets one in when 20 accepts come at once, and only once', async () => {
    const team = await createTeam(world)
    const eve = await world.person()
    const { token } = await issueInvitation(world, team.id, await emailOf(world, eve))
    const replies = await Promise.all(Array.from({ length: 20 }, () => accept(eve, token)))
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, ...Array(19).fill(404)])
    expect(Object.keys(await rolesOf(team.owner, team.id))).toHaveLength(5)
  })

  test('of the same address replaces the one before', async () => {
    const team = await createTeam(world)
    const eve = await world.person()
    const email = await emailOf(world, eve)
    const [first, second] = [
      await issueInvitation(world, team.id, email, 'admin'),
      await issueInvitation(world, team.id, email, 'viewer'),
    ]
    expect((await accept(eve, first.token)).status).toBe(404)
    expect((await accept(eve, second.token)).body.organization.role).toBe('viewer')
  })

  test('does not change the role of someone who came in another way meanwhile', async () => {
    const team = await createTeam(world)
    const eve = await world.person()
    const { token } = await issueInvitation(world, team.id, await emailOf(world, eve), 'admin')
    await team.join('viewer', eve)
    expect((await accept(eve, token)).body.organization.role).toBe('viewer')
  })

  test('is not for a member', async () => {
    const team = await createTeam(world)
    const body = { email: await emailOf(world, team.viewer), role: 'admin' }
    const refused = await team.owner.send('POST', `orgs/${team.id}/invitations`, body)
    expect({ status: refused.status, code: refused.body.error.code }).toEqual({ status: 409, code: 'conflict' })
  })

  test('is listed until it is accepted, sent again with another token, and withdrawn', async () => {
    const team = await createTeam(world)
    const eve = await world.person()
    const { invitation, token } = await issueInvitation(world, team.id, await emailOf(world, eve))
    const path = `orgs/${team.id}/invitations`
    expect((await team.admin.send('GET', path)).body.invitations).toEqual([invitation])
    for (const who of [team.member, team.viewer]) expect((await who.send('GET', path)).status).toBe(403)
    expect((await team.outsider.send('GET', path)).status).toBe(404)
    const again = await team.admin.send('POST', `${path}/${invitation.id}/resend`, {})
    expect(again.body.url).toContain('/console/invitation#svc_iv_')
    expect((await accept(eve, token)).status).toBe(404)
    expect((await team.admin.send('DELETE', `${path}/${invitation.id}`)).body.deleted).toBe(true)
    expect((await accept(eve, again.body.url.split('#')[1])).status).toBe(404)
    expect((await team.admin.send('DELETE', `${path}/${invitation.id}`)).status).toBe(404)
    const owner = await issueInvitation(world, team.id, 'boss@example.com', 'owner')
    expect((await team.admin.send('DELETE', `${path}/${owner.invitation.id}`)).status).toBe(403)
    expect((await team.owner.send('GET', path)).body.invitations).toHaveLength(1)
  })

  test('is mailed when it is sent again, where this server sends mail', async () => {
    const { received, config } = await mailServer()
    const mailing = await createWorld({ config })
    const team = await createTeam(mailing)
    const eve = await mailing.person()
    const { invitation } = await issueInvitation(mailing, team.id, await emailOf(mailing, eve))
    const { body } = await team.owner.send('POST', `orgs/${team.id}/invitations/${invitation.id}/resend`, {})
    expect(body).not.toHaveProperty('url')
    await mailing.app.container.jobs.runDue('orgs.invitation')
    const token = /svc_iv_\w+/.exec(received[0]!.replaceAll('=\r\n', ''))![0]
    expect((await accept(eve, token)).status).toBe(200)
  })

  test('is kept as a hash, and its token is never logged', async () => {
    const team = await createTeam(world)
    const eve = await world.person()
    const { token } = await issueInvitation(world, team.id, await emailOf(world, eve))
    await accept(eve, token)
    await accept(eve, token)
    expect(world.logged.join('')).not.toContain(token)
    expect(world.logged.join('')).toContain('/api/v1/invitations/svc_iv_…')
    expect((await eve.send('GET', 'audit')).text).not.toContain(token)
  })
})

describe('an invitation that cannot be accepted', () => {
  const bad: [string, (token: string) => string][] = [
    ['cut short', (token) => token.slice(0, -1)],
    ['of another letter', (token) => token.slice(0, -1) + (token.endsWith('a') ? 'b' : 'a')],
    ['in another case', (token) => token.toLowerCase()],
    ['made up', () => `svc_iv_${'A'.repeat(43)}`],
    ['no token', () => 'x'],
    ['an escape', () => '..%2f..'],
  ]
  test.each(bad)('%s, is refused like one for someone else', async (_why, spoil) => {
    const team = await createTeam(world)
    const [eve, mallory] = [await world.person(), await world.person()]
    const { token } = await issueInvitation(world, team.id, await emailOf(world, eve))
    const replies = [await accept(eve, spoil(token)), await accept(mallory, token)]
    const words = replies.map(({ status, body: { error } }) => ({ status, ...error, request_id: '' }))
    expect(words[0]).toEqual(words[1]!)
    expect(words[0]).toMatchObject({ status: 404, code: 'not_found' })
    expect(Object.keys(await rolesOf(team.owner, team.id))).toHaveLength(4)
  })

  test('is one to an org that was deleted', async () => {
    const team = await createTeam(world)
    const eve = await world.person()
    const { token } = await issueInvitation(world, team.id, await emailOf(world, eve))
    await team.owner.send('DELETE', `orgs/${team.id}`)
    expect((await accept(eve, token)).status).toBe(404)
  })

  test("cannot be used by an organization's key", async () => {
    const [team, other] = [await createTeam(world), await createTeam(world)]
    const { token } = await issueInvitation(world, team.id, await emailOf(world, other.owner))
    const refused = await (await other.orgKey(other.owner)).send('POST', `invitations/${token}/accept`)
    expect({ status: refused.status, code: refused.body.error.code }).toEqual({ status: 403, code: 'forbidden' })
    expect((await accept(other.owner, token)).status).toBe(200)
  })
})

const inviting = await createTeam(world)
refusals(
  'POST /orgs/{id}/invitations refuses',
  { world, as: inviting.owner, request: `POST orgs/${inviting.id}/invitations` },
  [
    ...at('email', { role: 'member' }, { email: 'eve', role: 'member' }),
    ...at('email', { email: 'eve@example.com\r\nBcc: x@example.com', role: 'member' }),
    ...at('role', { email: 'eve@example.com' }, { email: 'eve@example.com', role: 'root' }),
  ],
)

describe('an invitation of a week ago', async () => {
  const store = await openTestStore()
  const { orgs, addUser, addOrg, session, clock } = createKeysWorld(store)
  const [ada, eve] = [await addUser('ada'), await addUser('eve')]
  const acme = await addOrg(ada.id)
  const invite = () =>
    store.write((tx) =>
      orgs.invitations.issue(tx, callOf(operatorCaller()), {
        orgId: acme.id,
        email: eve.email,
        role: 'viewer',
        invitedBy: null,
      }),
    )
  const WEEK_MS = 7 * 24 * 60 * 60_000

  test('is over, to the millisecond', async () => {
    const { token, invitation } = await invite()
    expect(Date.parse(invitation.expires_at)).toBe(clock.now() + WEEK_MS)
    clock.advance(WEEK_MS)
    expect(orgs.invitations.accept(await session(eve.id), token)).rejects.toMatchObject({ code: 'not_found' })
  })

  test('was open until then', async () => {
    const { token } = await invite()
    clock.advance(WEEK_MS - 1)
    expect(await orgs.invitations.accept(await session(eve.id), token)).toMatchObject({
      organization: { id: acme.id, role: 'viewer' },
    })
  })
})
