import { describe, expect, test } from 'bun:test'
import { createWorld, type Person } from '../../support/world'
import { createTeam } from './team'

const world = await createWorld({ config: { signup: 'open' } })

const activeOf = async (person: Pick<Person, 'send'>) => (await person.send('GET', 'auth/me')).body.active_org_id

/** Someone who signed up, with the session that came of it. */
async function signUp() {
  const email = `${crypto.randomUUID()}@example.com`
  const { body } = await world.send('POST', 'auth/signup', { email, password: 'correct horse battery' })
  return world.byKey(body.session_token)
}

describe('the active organization (docs/api.md 1.2)', () => {
  test('is chosen by a session, and holds for every session and personal key of the user', async () => {
    const ada = await signUp()
    const { body: org } = await ada.send('POST', 'orgs', { name: 'Acme' })
    const { body: key } = await ada.send('POST', 'keys', { name: 'own' })
    const byKey = world.byKey(key.key)
    expect({ ada: await activeOf(ada), byKey: await activeOf(byKey) }).toEqual({ ada: null, byKey: null })
    const chosen = await ada.send('POST', `orgs/${org.id}/activate`)
    expect(chosen.status).toBe(200)
    expect(chosen.body.active_org_id).toEqual(org.id)
    expect({ ada: await activeOf(ada), byKey: await activeOf(byKey) }).toEqual({ ada: org.id, byKey: org.id })
    const left = await ada.send('DELETE', `orgs/${org.id}/activate`)
    expect({ status: left.status, activeOrgId: left.body.active_org_id }).toEqual({ status: 200, activeOrgId: null })
    expect({ ada: await activeOf(ada), byKey: await activeOf(byKey) }).toEqual({ ada: null, byKey: null })
  })

  test('of an org key is its org, whatever its maker chose', async () => {
    const [team, other] = [await createTeam(world), await createTeam(world)]
    await other.join('member', team.owner)
    await team.owner.send('POST', `orgs/${other.id}/activate`)
    expect(await activeOf(await team.orgKey(team.owner))).toBe(team.id)
    expect(await activeOf(team.owner)).toBe(other.id)
  })

  test('is where a key of scope "org" goes that names none, and 400 org_required when there is none', async () => {
    const team = await createTeam(world)
    const lost = await team.owner.send('POST', 'keys', { scope: 'org' })
    expect({ status: lost.status, code: lost.body.error.code }).toEqual({ status: 400, code: 'org_required' })
    await team.owner.send('POST', `orgs/${team.id}/activate`)
    const { body } = await team.owner.send('POST', 'keys', { scope: 'org' })
    expect(body).toMatchObject({ scope: 'org', org_id: team.id })
    expect((await team.owner.send('POST', 'keys', {})).body).toMatchObject({ scope: 'personal', org_id: null })
  })

  test('is left alone by leaving one that was not active', async () => {
    const [one, two] = [await createTeam(world), await createTeam(world)]
    await two.join('viewer', one.owner)
    await one.owner.send('POST', `orgs/${one.id}/activate`)
    expect((await one.owner.send('DELETE', `orgs/${two.id}/activate`)).body.active_org_id).toBe(one.id)
    await one.owner.send('DELETE', `orgs/${two.id}/members/${one.owner.userId}`)
    expect(await activeOf(one.owner)).toBe(one.id)
  })

  test('is gone with the membership and with the org', async () => {
    const team = await createTeam(world)
    for (const person of [team.member, team.admin]) await person.send('POST', `orgs/${team.id}/activate`)
    await team.member.send('DELETE', `orgs/${team.id}/members/${team.member.userId}`)
    expect(await activeOf(team.member)).toBeNull()
    await team.owner.send('DELETE', `orgs/${team.id}`)
    expect(await activeOf(team.admin)).toBeNull()
  })
})
