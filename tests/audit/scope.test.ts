// Both databases: which entries are found, and in which order, is up to its statements.
import { describe, expect, test } from 'bun:test'
import { createTeam } from '../accounts/orgs/team'
import { createWorld } from '../support/world'

const world = await createWorld()
const PATHS = ['audit', 'audit/export', 'audit/integrity', 'audit/checkpoint']
const request = (path: string, scope: string) => `${path}?scope=${scope}`

describe('the record of the active organization', () => {
  test.each(PATHS)('GET /%s?scope=org is for those who may view it', async (path) => {
    const team = await createTeam(world)
    for (const [who, status] of [
      [team.owner, 200],
      [team.admin, 200],
      [team.member, 403],
      [team.viewer, 403],
    ] as const) {
      await who.send('POST', `orgs/${team.id}/activate`)
      const reply = await who.send('GET', request(path, 'org'))
      expect(reply.status).toBe(status)
      if (status === 403) expect(reply.body.error.code).toBe('forbidden')
      expect((await who.send('GET', path)).status).toBe(200)
    }
  })

  test('is asked for by name; without it everyone sees their own', async () => {
    const team = await createTeam(world)
    await team.owner.send('POST', `orgs/${team.id}/activate`)
    const actions = async (query: string) =>
      (await team.owner.send('GET', `audit${query}`)).body.map(({ action }: { action: string }) => action)
    expect(await actions('?scope=org')).toContain('org.created')
    expect(await actions('')).not.toContain('org.created')
    expect(await actions('?scope=user')).toEqual(await actions(''))
    expect(await actions('')).toContain('org.activated')
  })

  test('is the same that a key of the org sees', async () => {
    const team = await createTeam(world)
    await team.owner.send('POST', `orgs/${team.id}/activate`)
    const key = await team.orgKey(team.owner)
    const [bySession, byKey] = [await team.owner.send('GET', 'audit?scope=org'), await key.send('GET', 'audit')]
    expect(byKey.body).toEqual(bySession.body)
    expect((await key.send('GET', 'audit?scope=org')).body).toEqual(bySession.body)
  })

  test.each(PATHS)('GET /%s?scope=org without an active one is 400 org_required', async (path) => {
    const refused = await (await world.person()).send('GET', request(path, 'org'))
    expect({ status: refused.status, code: refused.body.error.code }).toEqual({ status: 400, code: 'org_required' })
  })

  test.each(PATHS)("GET /%s?scope=user is not for an organization's key", async (path) => {
    const team = await createTeam(world)
    const refused = await (await team.orgKey(team.owner)).send('GET', request(path, 'user'))
    expect({ status: refused.status, code: refused.body.error.code }).toEqual({ status: 403, code: 'forbidden' })
  })
})
