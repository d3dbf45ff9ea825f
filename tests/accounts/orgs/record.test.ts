import { describe, expect, test } from 'bun:test'
import type { DomainEvent } from '../../../src/events'
import { createWorld } from '../../support/world'
import { createTeam, emailOf, issueInvitation, type Team } from './team'

const world = await createWorld()
const { audit } = world.app.container
const heard: DomainEvent[] = []
for (const { container } of world.nodes) container.events.afterCommit('*', (event) => heard.push(event))

const newest = async (scope: `org:${string}` | `user:${string}`) =>
  (await audit.list(world.app.store.read, scope, { limit: 1 })).items[0]

type Ask = (team: Team) => [string, string, unknown?]

const CHANGES: [string, Ask, object?][] = [
  ['org.updated', ({ id }) => ['PATCH', `orgs/${id}`, { name: 'canary' }], { fields: ['name'] }],
  [
    'org.member_invited',
    ({ id }) => ['POST', `orgs/${id}/invitations`, { email: 'canary@example.com', role: 'admin' }],
    { metadata: { role: 'admin' } },
  ],
  [
    'org.member_updated',
    (team) => ['PATCH', `orgs/${team.id}/members/${team.viewer.userId}`, { role: 'admin' }],
    { metadata: { from: 'viewer', to: 'admin' } },
  ],
  ['org.member_removed', (team) => ['DELETE', `orgs/${team.id}/members/${team.viewer.userId}`], { metadata: {} }],
  ['org.deleted', ({ id }) => ['DELETE', `orgs/${id}`], { metadata: { members: 4 } }],
]

describe('the record of an org', () => {
  test.each(CHANGES)('%s is one row of it, by the one who did it', async (action, ask, input = {}) => {
    const team = await createTeam(world)
    const [method, path, body] = ask(team)
    const reply = await team.owner.send(method, path, body)
    expect(reply.status).toBeLessThan(300)
    const row = await newest(`org:${team.id}`)
    expect(row).toMatchObject({
      action,
      entityType: 'organization',
      entityId: team.id,
      orgId: team.id,
      userId: team.owner.userId,
      apiKeyId: team.owner.keyId,
      requestId: reply.headers.get('x-request-id'),
      inputSummary: { method, ...input },
    })
    expect(JSON.stringify(row)).not.toContain('canary')
  })

  test('begins with who founded it', async () => {
    const ada = await world.person()
    const { body } = await ada.send('POST', 'orgs', { name: 'x' })
    expect(await newest(`org:${body.id}`)).toMatchObject({ action: 'org.created', userId: ada.userId })
  })

  test('says who joined, and the bus says it too, once', async () => {
    const team = await createTeam(world)
    const eve = await world.person()
    const { token } = await issueInvitation(world, team.id, await emailOf(world, eve), 'member')
    heard.length = 0
    await eve.send('POST', `invitations/${token}/accept`)
    await eve.send('POST', `invitations/${token}/accept`)
    expect(await newest(`org:${team.id}`)).toMatchObject({
      action: 'org.member_joined',
      userId: eve.userId,
      inputSummary: { endpoint: '/invitations/:token/accept', metadata: { role: 'member', user_id: eve.userId } },
    })
    const joined = { org_id: team.id, user_id: eve.userId, role: 'member', invited_by: null }
    expect(heard).toMatchObject([{ type: 'team.member_joined', scope: `org:${team.id}`, data: joined }])
  })

  test('keeps out what each person chose for themselves', async () => {
    const team = await createTeam(world)
    const before = await newest(`org:${team.id}`)
    await team.viewer.send('POST', `orgs/${team.id}/activate`)
    expect(await newest(`user:${team.viewer.userId}`)).toMatchObject({ action: 'org.activated', entityId: team.id })
    await team.viewer.send('DELETE', `orgs/${team.id}/activate`)
    expect(await newest(`user:${team.viewer.userId}`)).toMatchObject({ action: 'org.deactivated', entityId: team.id })
    expect(await newest(`org:${team.id}`)).toEqual(before)
  })

  test('gains nothing from what was refused or already so', async () => {
    const team = await createTeam(world)
    const before = await newest(`org:${team.id}`)
    await team.viewer.send('PATCH', `orgs/${team.id}`, { name: 'x' })
    await team.owner.send('DELETE', `orgs/${team.id}/members/${team.owner.userId}`)
    await team.owner.send('PATCH', `orgs/${team.id}`, {})
    await team.owner.send('PATCH', `orgs/${team.id}/members/${team.viewer.userId}`, { role: 'viewer' })
    expect(await newest(`org:${team.id}`)).toEqual(before)
  })

  test('is read with an org key by those who may view it, and by nobody else', async () => {
    const team = await createTeam(world)
    const [admins, viewers] = [await team.orgKey(team.admin), await team.orgKey(team.viewer)]
    const seen = await admins.send('GET', 'audit?action=org.*')
    expect(seen.body.map(({ action }: { action: string }) => action)).toContain('org.created')
    const refused = await viewers.send('GET', 'audit')
    expect({ status: refused.status, code: refused.body.error?.code }).toEqual({ status: 403, code: 'forbidden' })
  })

  test('holds together', async () => {
    expect(await audit.verify(world.app.store.read)).toEqual([])
  })
})
