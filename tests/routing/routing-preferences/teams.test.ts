import { describe, expect, test } from 'bun:test'
import { routingPreference } from '../../../src/routing/resource'
import { createWorld, operatorCall } from '../../support/world'

const { rows } = routingPreference
const world = await createWorld()
const [ada, ben] = [await world.person({ ofOrg: true }), await world.person()]
const own = (await ada.send('POST', 'routing-preferences', { name: 'Ours' })).body.id
const hers = (await ben.send('POST', 'routing-preferences', { name: 'Hers' })).body.id

describe('preferences of a team and of a person', () => {
  test('lists keep to their owners', async () => {
    expect((await ben.send('GET', 'routing-preferences')).text).not.toContain(own)
    expect((await ada.send('GET', 'routing-preferences')).text).not.toContain(hers)
  })

  test('cannot be put on keys they are not for', async () => {
    const put = (who: typeof ada, keyId: string, id: string) =>
      who.send('PUT', `keys/${keyId}/routing-preference`, { routing_preference_id: id })
    expect((await put(ben, ben.keyId, own)).status).toBe(404)
    expect((await put(ada, ada.keyId, hers)).status).toBe(404)
    expect((await put(ben, ada.keyId, hers)).status).toBe(404)
    expect((await put(ben, ben.keyId, hers)).status).toBe(200)
  })

  test('a body says nothing about id, owner or age (E1)', async () => {
    const forged = { id: own, user_id: ada.userId, org_id: ada.orgId, created_at: '1970', bound_key_count: 9 }
    const { body } = await ben.send('POST', 'routing-preferences', { name: 'Forged', ...forged })
    expect(body).toMatchObject({ name: 'Forged', org_id: null, scope: 'personal', bound_key_count: 0 })
    expect(body.id).not.toBe(own)
    expect((await ada.send('GET', `routing-preferences/${own}`)).body.name).toBe('Ours')
  })

  test('a member without manageWebhooks sees those of the team and changes none', async () => {
    const { store, orgs } = world.app.container
    const org = (await ben.send('POST', 'orgs', { name: 'Small' })).body.id
    await ben.send('POST', `orgs/${org}/activate`)
    const team = (await ben.send('POST', 'routing-preferences', { name: 'Team', scope: 'team' })).body
    expect(team).toMatchObject({ scope: 'team', org_id: org })
    const cyd = await world.person()
    await store.write(async (tx) => {
      await orgs.members.join(tx, operatorCall(), { orgId: org, userId: cyd.userId, role: 'member', invitedBy: null })
      await orgs.makeActive(tx, cyd.userId, org)
    })
    expect((await cyd.send('GET', `routing-preferences/${team.id}`)).body.name).toBe('Team')
    const change = await cyd.send('PATCH', `routing-preferences/${team.id}`, { name: 'Mine now' })
    expect({ status: change.status, code: change.body.error.code }).toEqual({ status: 403, code: 'missing_scope' })
    const broken = { rules: [{ pattern: '(', target_mode: 'nonsense' }] }
    const unread = await cyd.send('PATCH', `routing-preferences/${team.id}`, broken)
    expect({ status: unread.status, code: unread.body.error.code }).toEqual({ status: 403, code: 'missing_scope' })
    const refused = await cyd.send('POST', 'routing-preferences', { name: 'No', scope: 'team' })
    expect({ status: refused.status, code: refused.body.error.code }).toEqual({ status: 403, code: 'missing_scope' })
  })

  test('a personal key takes no preference of a team, though its owner manages it', async () => {
    const team = (await ben.send('GET', 'routing-preferences?scope=team')).body.routing_preferences[0].id
    const { status, body } = await ben.send('PUT', `keys/${ben.keyId}/routing-preference`, {
      routing_preference_id: team,
    })
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'validation_error' })
  })

  test('and go with the team', async () => {
    const { store } = world.app.container
    const owner = await world.person()
    const org = (await owner.send('POST', 'orgs', { name: 'Short-lived' })).body.id
    await owner.send('POST', `orgs/${org}/activate`)
    const { id } = (await owner.send('POST', 'routing-preferences', { name: 'Team', scope: 'team' })).body
    expect((await rows.list(store.read, [`org:${org}`], { limit: 9 })).items).toHaveLength(1)
    expect((await owner.send('DELETE', `orgs/${org}`)).status).toBe(200)
    expect((await rows.list(store.read, [`org:${org}`], { limit: 9 })).items).toEqual([])
    const notice = await world.app.container.audit.list(store.read, `org:${org}`, { entity_id: id, limit: 9 })
    expect(notice.items[0]).toMatchObject({ action: 'routing_preference.deleted', entityType: 'routing_preference' })
  })
})
